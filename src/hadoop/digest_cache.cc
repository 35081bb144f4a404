#include "hadoop/digest_cache.h"

#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "hadoop/content_store.h"

namespace gangrun::hadoop {

namespace {

using base::Json;

constexpr std::size_t kMaxCacheBytes = std::size_t{1} << 20U;
constexpr std::size_t kMaxEntries = 256;
constexpr std::size_t kDigestDigits = 64;
// A file system's clock may be as coarse as this.
constexpr std::chrono::seconds kSettled{2};

std::int64_t nanoseconds_of(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// Everything that tells one state of a file from another.
base::Result<Json> state_of(const std::string& file, int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return base::from_errno(errno, base::format("look at {}", file));
  if (!S_ISREG(info.st_mode)) {
    return base::invalid_argument(base::format("{} is not a regular file", file));
  }
  return Json{{"path", file},
              {"device", info.st_dev},
              {"inode", info.st_ino},
              {"size", info.st_size},
              {"modified", nanoseconds_of(info.st_mtim)},
              {"changed", nanoseconds_of(info.st_ctim)}};
}

bool is_settled(const Json& state, base::WallTime now) {
  const auto limit =
      std::chrono::duration_cast<std::chrono::nanoseconds>((now - kSettled).time_since_epoch());
  return state["modified"] < limit.count() && state["changed"] < limit.count();
}

// Oldest first; empty where there are none, or none that can be read.
Json entries_of(const std::string& path) {
  const auto text = base::read_file(path, kMaxCacheBytes);
  if (!text.ok()) return Json::array();
  auto json = base::parse_json(*text, kMaxCacheBytes);
  return json.ok() && json->is_array() ? *std::move(json) : Json::array();
}

std::optional<std::string> find(const Json& entries, const Json& state) {
  for (const Json& entry : entries) {
    const auto digest = base::json_member<std::string>(entry, "digest");
    if (!digest.ok() || digest->size() != kDigestDigits) continue;
    Json known = entry;
    known.erase("digest");
    if (known == state) return *digest;
  }
  return std::nullopt;
}

void remember(const std::string& path, const Json& state, const std::string& digest) {
  // Read again: another process may have added to it.
  const Json old = entries_of(path);
  Json entries = Json::array();
  for (const Json& entry : old) {
    const auto file = base::json_member<std::string>(entry, "path");
    if (file.ok() && *file != state["path"]) entries.push_back(entry);
  }
  while (entries.size() >= kMaxEntries) entries.erase(entries.begin());
  Json added = state;
  added["digest"] = digest;
  entries.push_back(std::move(added));
  // A digest that cannot be kept is computed again.
  if (!base::make_folders(std::filesystem::path(path).parent_path().string(), 0700).ok()) return;
  (void)base::write_file_atomically(path, base::dump_json(entries), 0600);
}

}  // namespace

base::Result<std::string> DigestCache::digest_of(const std::string& file, int fd,
                                                 base::WallTime now) {
  GANGRUN_ASSIGN(const Json state, state_of(file, fd));
  const bool keeps = !path_.empty() && is_settled(state, now);
  if (keeps) {
    if (auto known = find(entries_of(path_), state)) return *std::move(known);
  }
  GANGRUN_ASSIGN(std::string digest,
                 hadoop::digest_of({fd, 0, state["size"].get<std::uint64_t>()}));
  GANGRUN_ASSIGN(const Json after, state_of(file, fd));
  if (after != state) {
    return base::Error{base::Code::kFailedPrecondition,
                       base::format("{} was changed while its digest was taken", file)};
  }
  if (keeps) remember(path_, state, digest);
  return digest;
}

}  // namespace gangrun::hadoop
