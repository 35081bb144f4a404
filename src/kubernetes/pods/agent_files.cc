#include "kubernetes/pods/agent_files.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <system_error>
#include <utility>

#include "base/format.h"
#include "base/hex.h"
#include "base/sizes.h"
#include "base/strings.h"
#include "job/units.h"
#include "kubernetes/pods/manifests.h"
#include "net/digests.h"

namespace gangrun::kubernetes::pods {
namespace {

using base::Result;

constexpr std::size_t kReadBytes = std::size_t{1} << 20U;
constexpr double kMostStorage = 1e18;
constexpr const char* kEphemeralStorage = "ephemeral-storage";

std::optional<double> unit_of(std::string_view suffix) {
  constexpr std::array<std::pair<std::string_view, double>, 11> kUnits = {{{"", 1},
                                                                           {"k", 1e3},
                                                                           {"M", 1e6},
                                                                           {"G", 1e9},
                                                                           {"T", 1e12},
                                                                           {"P", 1e15},
                                                                           {"Ki", 0x1p10},
                                                                           {"Mi", 0x1p20},
                                                                           {"Gi", 0x1p30},
                                                                           {"Ti", 0x1p40},
                                                                           {"Pi", 0x1p50}}};
  const auto* const found =
      std::ranges::find(kUnits, suffix, [](const auto& u) { return u.first; });
  return found == kUnits.end() ? std::nullopt : std::optional(found->second);
}

void add_storage(std::uint64_t bytes, const char* kind, base::Json& resources) {
  if (!resources.contains(kind) || !resources[kind].contains(kEphemeralStorage)) return;
  base::Json& storage = resources[kind][kEphemeralStorage];
  const std::string said =
      storage.is_string() ? storage.get<std::string>() : base::dump_json(storage);
  if (auto more = with_more(said, bytes)) storage = *std::move(more);
}

}  // namespace

Result<> check_fetched(std::size_t files, std::uint64_t bytes) {
  if (files > kMaxFetchedFiles) {
    return base::invalid_argument(
        base::format("files: {} files are more than the {} that agents fetch; put them into the "
                     "image or a volume",
                     files, kMaxFetchedFiles));
  }
  if (bytes <= kMaxFetchedBytes) return {};
  return base::invalid_argument(
      base::format("files: {} together are more than the {} that agents fetch; put large files "
                   "into the image or a volume",
                   base::size_text(bytes), base::size_text(kMaxFetchedBytes)));
}

Result<> check_fetched(const ManifestInput& input) {
  if (!input.fetched) return {};
  GANGRUN_TRY(check_fetched(input.fetched->size(), cluster::bytes_of(*input.fetched)));
  std::set<std::string> carried;
  for (const CarriedFile& file : input.files) carried.insert(carried_path(file));
  for (const cluster::FetchedFile& file : *input.fetched) {
    if (!carried.contains(base::format("{}/{}", kWorkingFolder, file.name))) continue;
    return base::invalid_argument(
        base::format("files: {} is there twice", job::in_quotes(file.name)));
  }
  return {};
}

Result<cluster::FetchedFiles> with_digests(
    cluster::FetchedFiles files,
    const std::function<void(const cluster::FetchedFile& file, std::uint64_t read)>& progress) {
  for (cluster::FetchedFile& file : files) {
    net::Sha256Stream sum;
    for (std::uint64_t offset = 0; offset < file.size;) {
      const auto length =
          static_cast<std::size_t>(std::min<std::uint64_t>(file.size - offset, kReadBytes));
      GANGRUN_ASSIGN(const std::string bytes, cluster::read_part(file, offset, length));
      sum.put(bytes);
      offset += length;
      progress(file, offset);
    }
    file.digest = base::to_hex(sum.finish());
  }
  return files;
}

std::optional<std::string> with_more(std::string_view quantity, std::uint64_t bytes) {
  double number = 0;
  const char* const end = quantity.data() + quantity.size();
  const auto [rest, error] = std::from_chars(quantity.data(), end, number);
  if (error != std::errc()) return std::nullopt;
  const auto unit = unit_of({rest, static_cast<std::size_t>(end - rest)});
  if (!unit || !(number >= 0) || number * *unit > kMostStorage) return std::nullopt;
  return base::format("{}", static_cast<std::uint64_t>(std::ceil(number * *unit)) + bytes);
}

void ask_for_storage(std::uint64_t bytes, const std::string& container, base::Json& pod) {
  for (base::Json& each : pod["spec"]["containers"]) {
    if (each.value("name", "") != container || !each.contains("resources")) continue;
    for (const char* kind : {"requests", "limits"}) add_storage(bytes, kind, each["resources"]);
  }
}

std::string how_files_come(const ManifestInput& input) {
  if (!input.fetched) return {};
  return base::format(
      "{} ({}) {} too much for config maps: each task's agent fetches them from this client to {} "
      "before the roll call is complete. They take ephemeral storage of the pod, which asks for so "
      "much more where its container asks for any",
      base::count_text(static_cast<std::int64_t>(input.fetched->size()), "file"),
      base::size_text(cluster::bytes_of(*input.fetched)), input.fetched->size() == 1 ? "is" : "are",
      kWorkingFolder);
}

}  // namespace gangrun::kubernetes::pods
