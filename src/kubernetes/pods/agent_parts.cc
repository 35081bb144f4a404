#include "kubernetes/pods/agent_parts.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/files.h"
#include "base/format.h"
#include "base/hex.h"
#include "base/sizes.h"
#include "base/strings.h"
#include "kubernetes/pods/architecture.h"
#include "kubernetes/pods/names.h"
#include "kubernetes/pods/pod_facts.h"
#include "kubernetes/value_at.h"
#include "net/digests.h"

namespace gangrun::kubernetes::pods {
namespace {

using base::Json;
using base::Result;

constexpr std::size_t kPartsDigestDigits = 20;
constexpr const char* kLoaderKey = "loader";
constexpr int kAgentMode = 0555;
constexpr std::size_t kToldKeys = 3;
constexpr std::size_t kSha256Bytes = 32;

// A gzip member with nothing but a name before its data (RFC 1952) begins so. Behind them are a
// checksum, and the size of what was packed.
constexpr std::string_view kNamedGzip("\x1f\x8b\x08\x08", 4);
constexpr std::size_t kGzipHeader = 10;
constexpr std::size_t kGzipTrailer = 8;

std::string part_key(std::size_t part) { return base::format("part-{}", part); }

// The last four bytes of a gzip member, the lowest first.
std::uint32_t size_at_end(std::string_view packed) {
  std::uint32_t size = 0;
  for (std::size_t i = 1; i <= sizeof size; ++i) {
    size = size << 8U | static_cast<unsigned char>(packed[packed.size() - i]);
  }
  return size;
}

// The SHA-256 of the packed program, which the build has made the member's name, SHA256-SIZE:
// to unpack it here would take most of the time until a job begins. Whether it is true the loader
// finds out.
Result<std::string> named_digest(std::string_view packed) {
  const auto unnamed = [] {
    return base::invalid_argument("its name is not SHA256-SIZE of what it was made of");
  };
  const std::size_t end = packed.find('\0', kGzipHeader);
  if (!packed.starts_with(kNamedGzip) || end == std::string_view::npos) return unnamed();
  const std::string_view name = packed.substr(kGzipHeader, end - kGzipHeader);
  const std::string_view digest = name.substr(0, name.find('-'));
  const auto bytes = base::from_hex(digest);
  if (!bytes || bytes->size() != kSha256Bytes || digest.size() == name.size()) return unnamed();
  const auto size = base::parse_integer(name.substr(digest.size() + 1));
  if (!size || *size < 1) return unnamed();
  if (static_cast<std::uint64_t>(*size) > kMaxAgentBytes) {
    return base::invalid_argument(
        base::format("it becomes more than {}", base::size_text(kMaxAgentBytes)));
  }
  const bool is_whole = packed.size() > end + kGzipTrailer &&
                        size_at_end(packed) == static_cast<std::uint64_t>(*size);
  if (!is_whole) return base::invalid_argument("its end is missing, or something follows that");
  return std::string(digest);
}

// The words for what was found instead of `wanted`; empty: it is the same.
std::string difference_of_value(const std::string& key, const Json& found,
                                std::string_view wanted) {
  if (!found.is_string()) return base::format("it has no {}", key);
  const std::string& text = found.get_ref<const std::string&>();
  if (text == net::to_base64(wanted)) return "";
  const std::optional<std::string> bytes = net::from_base64(text);
  if (!bytes) return base::format("its {} cannot be read", key);
  if (bytes->size() == wanted.size()) return base::format("its {} has other bytes", key);
  return base::format("its {} has {} bytes instead of {}", key, bytes->size(), wanted.size());
}

// The keys that a map has besides `key`.
std::vector<std::string> other_keys(const Json& map, const std::string& key) {
  std::vector<std::string> others;
  for (const char* values : {"binaryData", "data"}) {
    for (const auto& [found, value] : value_at(map, {values}).items()) {
      if (found != key || std::string_view(values) == "data") others.push_back(found);
    }
  }
  return others;
}

}  // namespace

Result<AgentParts> AgentParts::make(std::string loader, std::string packed_agent,
                                    std::size_t part_bytes) {
  GANGRUN_CHECK(part_bytes > 0 && part_bytes <= kMaxPartBytes, part_bytes);
  if (loader.empty() || loader.size() > kMaxPartBytes) {
    return base::invalid_argument(base::format("the loader of agents has {}; allowed: 1 B to {}",
                                               base::size_text(loader.size()),
                                               base::size_text(kMaxPartBytes)));
  }
  AgentParts parts(std::move(loader), std::move(packed_agent), part_bytes);
  if (parts.map_count() > kMaxPartMaps) {
    return base::invalid_argument(
        base::format("the packed agent has {}, which would need {} config maps; allowed: {}",
                     base::size_text(parts.packed_agent_.size()), parts.map_count(), kMaxPartMaps));
  }
  GANGRUN_TRY(parts.take_digests());
  return parts;
}

Result<> AgentParts::take_digests() {
  GANGRUN_ASSIGN(agent_digest_,
                 named_digest(packed_agent_).context("the packed agent cannot be used"));
  net::Sha256Stream all;
  for (std::size_t index = 0; index < map_count(); ++index) {
    const Value one = value(index);
    all.put(base::format("{} {} {}\n", one.map, one.key, one.bytes.size()));
    all.put(one.bytes);
  }
  digest_ = base::to_hex(all.finish()).substr(0, kPartsDigestDigits);
  return {};
}

std::size_t AgentParts::map_count() const {
  return 1 + (packed_agent_.size() + part_bytes_ - 1) / part_bytes_;
}

std::string_view AgentParts::architecture() const { return architecture_of(loader_); }

AgentParts::Value AgentParts::value(std::size_t index) const {
  if (index == 0) return {kLoaderKey, kLoaderKey, loader_};
  const std::size_t part = index - 1;
  return {base::format("{}", part), part_key(part),
          std::string_view(packed_agent_).substr(part * part_bytes_, part_bytes_)};
}

std::string AgentParts::map_name(std::size_t index) const {
  return base::format("gangrun-{}-{}", digest_, value(index).map);
}

Json AgentParts::map(std::size_t index, const std::string& name_space, const Owner& owner) const {
  const Value one = value(index);
  Json map = {{"apiVersion", "v1"}, {"kind", "ConfigMap"}};
  map["metadata"] = {{"name", map_name(index)},
                     {"namespace", name_space},
                     {"labels", {{kPartsLabel, digest_}, {kManagedBy, "gangrun"}}},
                     {"ownerReferences", Json::array({owner_reference(owner)})}};
  map["immutable"] = true;
  map["binaryData"][one.key] = net::to_base64(one.bytes);
  return map;
}

std::string AgentParts::difference(std::size_t index, const Json& found) const {
  const Value wanted = value(index);
  if (value_at(found, {"immutable"}) != true) return "it is not immutable";
  const std::vector<std::string> others = other_keys(found, wanted.key);
  if (!others.empty()) {
    return base::format("it also has {}", base::first_and_more(others, kToldKeys));
  }
  return difference_of_value(wanted.key, value_at(found, {"binaryData", wanted.key}), wanted.bytes);
}

Result<> AgentParts::check(std::size_t index, const Json& found) const {
  const std::string differs = difference(index, found);
  if (differs.empty()) return {};
  const std::string name = map_name(index);
  return base::Error{
      base::Code::kFailedPrecondition,
      base::format("ConfigMap {0} is not the one that gangrun makes: {1}; find out who wrote it, "
                   "and delete it (kubectl -n {2} delete configmap {0}): the next job makes it "
                   "again",
                   name, differs, text_at(found, {"metadata", "namespace"}))};
}

Json AgentParts::volume() const {
  Json sources = Json::array();
  for (std::size_t index = 0; index < map_count(); ++index) {
    const std::string key = value(index).key;
    const Json items = Json::array({{{"key", key}, {"path", key}}});
    sources.push_back({{"configMap", {{"name", map_name(index)}, {"items", items}}}});
  }
  return {{"name", kAgentVolume},
          {"projected", {{"defaultMode", kAgentMode}, {"sources", std::move(sources)}}}};
}

Json AgentParts::mount() {
  return {{"name", kAgentVolume}, {"mountPath", kAgentFolder}, {"readOnly", true}};
}

Json AgentParts::command(const std::string& where, const std::string& name) const {
  return Json::array({base::format("{}/{}", kAgentFolder, kLoaderKey), agent_digest_, where, name});
}

Result<AgentParts> mounted_parts(const std::string& folder) {
  GANGRUN_ASSIGN(std::string loader,
                 base::read_file(base::format("{}/{}", folder, kLoaderKey), kMaxPartBytes));
  std::string packed;
  std::size_t first_bytes = 0;
  for (std::size_t part = 0; part < kMaxPartMaps; ++part) {
    auto bytes = base::read_file(base::format("{}/{}", folder, part_key(part)), kMaxPartBytes);
    if (!bytes.ok() && bytes.error().code == base::Code::kNotFound && part > 0) break;
    if (!bytes.ok()) return bytes.error();
    if (part == 0) first_bytes = bytes->size();
    packed += *bytes;
  }
  return AgentParts::make(std::move(loader), std::move(packed),
                          std::max<std::size_t>(first_bytes, 1));
}

Json owner_patch(const Json& object, const Owner& owner) {
  Json patch =
      Json::array({{{"op", "test"}, {"path", "/metadata/uid"}, {"value", uid_of(object)}}});
  Json reference = owner_reference(owner);
  if (!list_at(object, {"metadata", "ownerReferences"}).empty()) {
    // Added to those that are there by then: many jobs may begin at once.
    patch.push_back(
        {{"op", "add"}, {"path", "/metadata/ownerReferences/-"}, {"value", std::move(reference)}});
    return patch;
  }
  patch.push_back({{"op", "test"},
                   {"path", "/metadata/resourceVersion"},
                   {"value", text_at(object, {"metadata", "resourceVersion"})}});
  patch.push_back({{"op", "add"},
                   {"path", "/metadata/ownerReferences"},
                   {"value", Json::array({std::move(reference)})}});
  return patch;
}

}  // namespace gangrun::kubernetes::pods
