#include "hadoop/digest_cache.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "base/described_json.h"
#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "hadoop/content_store.h"

namespace gangrun::hadoop {

namespace {

constexpr std::size_t kMaxCacheBytes = std::size_t{1} << 20U;
constexpr std::size_t kMaxEntries = 256;
constexpr std::size_t kDigestDigits = 64;
// A file system's clock may be as coarse as this.
constexpr std::chrono::seconds kSettled{2};

std::int64_t nanoseconds_of(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// Everything that tells one state of a file from another.
struct FileState {
  std::string path;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t size = 0;
  std::int64_t modified = 0;  // nanoseconds since 1970, as the next
  std::int64_t changed = 0;

  GANGRUN_ROWS(FileState, path, device, inode, size, modified, changed);

  friend bool operator==(const FileState&, const FileState&) = default;
};

struct Entry {
  FileState state;
  std::string digest;

  static constexpr auto rows() {
    return std::tuple(base::flat_row(&Entry::state), base::row("digest", &Entry::digest));
  }
};

base::Result<FileState> state_of(const std::string& file, int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return base::from_errno(errno, base::format("look at {}", file));
  if (!S_ISREG(info.st_mode)) {
    return base::invalid_argument(base::format("{} is not a regular file", file));
  }
  return FileState{.path = file,
                   .device = info.st_dev,
                   .inode = info.st_ino,
                   .size = info.st_size,
                   .modified = nanoseconds_of(info.st_mtim),
                   .changed = nanoseconds_of(info.st_ctim)};
}

bool is_settled(const FileState& state, base::WallTime now) {
  const auto limit =
      std::chrono::duration_cast<std::chrono::nanoseconds>((now - kSettled).time_since_epoch());
  return state.modified < limit.count() && state.changed < limit.count();
}

// Oldest first, but for those that cannot be read.
std::vector<Entry> entries_of(const std::string& path) {
  std::vector<Entry> entries;
  const auto text = base::read_file(path, kMaxCacheBytes);
  if (!text.ok()) return entries;
  const auto json = base::parse_json(*text, kMaxCacheBytes);
  if (!json.ok() || !json->is_array()) return entries;
  for (const base::Json& each : *json) {
    auto entry = base::from_json<Entry>(each);
    if (entry.ok() && entry->digest.size() == kDigestDigits) entries.push_back(*std::move(entry));
  }
  return entries;
}

std::optional<std::string> find(const std::vector<Entry>& entries, const FileState& state) {
  const auto found = std::ranges::find(entries, state, &Entry::state);
  return found == entries.end() ? std::nullopt : std::optional(found->digest);
}

void remember(const std::string& path, const FileState& state, const std::string& digest) {
  // Read again: another process may have added to it.
  std::vector<Entry> entries = entries_of(path);
  std::erase_if(entries, [&](const Entry& entry) { return entry.state.path == state.path; });
  while (entries.size() >= kMaxEntries) entries.erase(entries.begin());
  entries.push_back({state, digest});
  // A digest that cannot be kept is computed again.
  if (!base::make_folders(std::filesystem::path(path).parent_path().string(), 0700).ok()) return;
  const auto json = base::JsonOf<std::vector<Entry>>::write(entries);
  (void)base::write_file_atomically(path, base::dump_json(json), 0600);
}

}  // namespace

base::Result<std::string> DigestCache::digest_of(const std::string& file, int fd,
                                                 base::WallTime now) {
  GANGRUN_ASSIGN(const FileState state, state_of(file, fd));
  const bool keeps = !path_.empty() && is_settled(state, now);
  if (keeps) {
    if (auto known = find(entries_of(path_), state)) return *std::move(known);
  }
  GANGRUN_ASSIGN(std::string digest,
                 hadoop::digest_of({fd, 0, static_cast<std::uint64_t>(state.size)}));
  GANGRUN_ASSIGN(const FileState after, state_of(file, fd));
  if (after != state) {
    return base::Error{base::Code::kFailedPrecondition,
                       base::format("{} was changed while its digest was taken", file)};
  }
  if (keeps) remember(path_, state, digest);
  return digest;
}

}  // namespace gangrun::hadoop
