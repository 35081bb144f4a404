// The head of a job and the maps of its records, as an API server gives them: whatever they say, a
// head that is understood can be written and read again, and no part comes of what was not sealed
// with the job's key.
//
// The first byte chooses: 0 a config map that is a head, 1 the maps of a chain (a JSON list of
// config maps, whose values are base64), 2 the same, but each value is what is to be sealed under
// its key.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/json.h"
#include "kubernetes/records/head.h"
#include "kubernetes/records/map_chain.h"
#include "kubernetes/value_at.h"
#include "net/cipher.h"
#include "net/compression.h"
#include "net/digests.h"

namespace {

using namespace gangrun;  // NOLINT: a program of its own
using kubernetes::records::RecordsKey;

constexpr std::size_t kMaxMapsBytes = std::size_t{1} << 20U;
constexpr const char* kJob = "j-20260131";
constexpr const char* kChain = "journal-000001";
constexpr std::size_t kMaxPart = std::size_t{64} << 20U;

void read_head(const base::Json& map) {
  const auto read = kubernetes::records::head_in(map);
  if (!read.ok()) {
    GANGRUN_CHECK(!read.error().message.empty(), read.error().message);
    return;
  }
  const base::Json metadata = {{"uid", read->uid}, {"resourceVersion", read->resource_version}};
  const auto again =
      kubernetes::records::head_in(kubernetes::records::head_map(metadata, read->head));
  GANGRUN_CHECK(again.ok() && again->head == read->head, read->head.job);
  const base::Json patch = kubernetes::records::head_patch(*read, read->head);
  GANGRUN_CHECK(patch.size() == 2, patch.size());
  (void)kubernetes::records::end_in(kubernetes::records::records_key(base::Secret("the secret")),
                                    read->head);
}

// As pieces_of() seals it, under whatever key.
std::string sealed(const RecordsKey& key, const std::string& name, const std::string& plain) {
  const std::string about = std::string(kJob) + "/" + kChain + "/" + name;
  return net::to_base64(net::seal(key.bytes, plain, about).value());
}

std::string zipped(std::string_view bytes) {
  std::string out;
  net::Gzip gzip(net::append_to(out));
  GANGRUN_CHECK(gzip.put(bytes).ok() && gzip.finish().ok(), bytes.size());
  return out;
}

// The keys of the maps as they are. Of a value that begins with "z" the rest is compressed first.
std::vector<base::Json> with_sealed(const RecordsKey& key, const std::vector<base::Json>& maps) {
  std::vector<base::Json> all;
  for (const base::Json& map : maps) {
    base::Json values = base::Json::object();
    const base::Json& given = kubernetes::value_at(map, {"binaryData"});
    if (given.is_object()) {
      for (const auto& [name, value] : given.items()) {
        if (!value.is_string()) continue;
        const auto& text = value.get_ref<const std::string&>();
        values[name] = sealed(
            key, name, text.starts_with("z") ? zipped(std::string_view(text).substr(1)) : text);
      }
    }
    all.push_back({{"binaryData", std::move(values)}});
  }
  return all;
}

// The parser reads what is sealed here.
bool is_read(const RecordsKey& key) {
  const base::Json map = {
      {"binaryData", {{"00001.000.end", sealed(key, "00001.000.end", zipped("part"))}}}};
  const auto parts = kubernetes::records::parts_in(key, kJob, kChain, {map});
  return parts.ok() && *parts == std::vector<std::string>{"part"};
}

void read_chain(const base::Json& list, bool is_to_be_sealed) {
  if (!list.is_array()) return;
  const RecordsKey key = kubernetes::records::records_key(base::Secret("the secret"));
  static const bool kIsRead = is_read(key);
  GANGRUN_CHECK(kIsRead, kChain);
  std::vector<base::Json> maps(list.begin(), list.end());
  if (is_to_be_sealed) maps = with_sealed(key, maps);
  const auto parts = kubernetes::records::parts_in(key, kJob, kChain, maps);
  if (!parts.ok()) {
    GANGRUN_CHECK(parts.error().code == base::Code::kDataLoss, parts.error().message);
    return;
  }
  GANGRUN_CHECK(is_to_be_sealed || parts->empty(), parts->size());
  for (const std::string& part : *parts) GANGRUN_CHECK(part.size() <= kMaxPart, part.size());
  // In another chain, or with another key, there is nothing to read.
  if (parts->empty()) return;
  GANGRUN_CHECK(!kubernetes::records::parts_in(key, kJob, "journal-000002", maps).ok(),
                list.size());
  const RecordsKey other = kubernetes::records::records_key(base::Secret("another"));
  GANGRUN_CHECK(!kubernetes::records::parts_in(other, kJob, kChain, maps).ok(), list.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto json = base::parse_json(text, kMaxMapsBytes);
  if (!json.ok()) return 0;
  switch (data[0] % 3) {
    case 0: read_head(*json); break;
    case 1: read_chain(*json, false); break;
    default: read_chain(*json, true); break;
  }
  return 0;
}
