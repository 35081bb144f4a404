#include "ssh/node/log_follower.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/files.h"

namespace gangrun::ssh::node {

void LogFollower::add(std::uint32_t agent, const std::string& prefix, std::uint64_t out_offset,
                      std::uint64_t error_offset) {
  files_[agent] = {{agent, false, prefix + ".out", out_offset},
                   {agent, true, prefix + ".err", error_offset}};
}

void LogFollower::remove(std::uint32_t agent) { files_.erase(agent); }

const std::vector<LogFollower::File>& LogFollower::files_of(std::uint32_t agent) const {
  static const std::vector<File> kNone;
  const auto found = files_.find(agent);
  return found == files_.end() ? kNone : found->second;
}

std::uint64_t LogFollower::size(const File& file) {
  struct stat info {};
  // It appears with its first byte.
  return ::stat(file.path.c_str(), &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
}

std::uint64_t LogFollower::unread(const File& file) {
  const std::uint64_t bytes = size(file);
  return bytes > file.offset ? bytes - file.offset : 0;
}

std::pair<std::uint64_t, std::uint64_t> LogFollower::sizes(std::uint32_t agent) const {
  std::pair<std::uint64_t, std::uint64_t> sizes;
  for (const File& file : files_of(agent)) {
    (file.is_error ? sizes.second : sizes.first) = size(file);
  }
  return sizes;
}

std::size_t LogFollower::tell_some(File& file, std::size_t most) {
  const auto fd = base::open_file(file.path, O_RDONLY);
  if (!fd.ok()) return 0;
  std::string bytes(most, '\0');
  const ssize_t got =
      ::pread(fd->get(), bytes.data(), bytes.size(), static_cast<off_t>(file.offset));
  if (got <= 0) return 0;
  bytes.resize(static_cast<std::size_t>(got));
  sink_({file.agent, file.is_error, file.offset, bytes});
  file.offset += bytes.size();
  return bytes.size();
}

bool LogFollower::tell(std::size_t bytes) {
  std::vector<File*> all;
  for (auto& [agent, files] : files_) {
    for (File& file : files) all.push_back(&file);
  }
  return tell_all(all, bytes);
}

bool LogFollower::tell_of(std::uint32_t agent, std::size_t bytes) {
  const auto found = files_.find(agent);
  if (found == files_.end()) return true;
  std::vector<File*> own;
  for (File& file : found->second) own.push_back(&file);
  return tell_all(own, bytes);
}

bool LogFollower::tell_all(const std::vector<File*>& files, std::size_t bytes) {
  while (true) {
    bool is_more = false;
    bool told_any = false;
    for (File* file : files) {
      const std::uint64_t left = unread(*file);
      if (left == 0) continue;
      if (bytes == 0) return false;
      const std::size_t told =
          tell_some(*file, std::min<std::uint64_t>({left, bytes, ssh::kMaxChunkBytes}));
      bytes -= told;
      told_any = told_any || told > 0;
      is_more = is_more || told < left;
    }
    // A file that cannot be read now is not awaited here.
    if (!is_more || !told_any) return !is_more;
  }
}

bool LogFollower::is_gone(std::uint32_t agent) const {
  return std::ranges::any_of(files_of(agent), [](const File& file) {
    if (file.offset == 0) return false;
    struct stat info {};
    if (::stat(file.path.c_str(), &info) != 0) return errno == ENOENT;
    return static_cast<std::uint64_t>(info.st_size) < file.offset;
  });
}

bool LogFollower::is_told(std::uint32_t agent) const {
  return std::ranges::all_of(files_of(agent), [](const File& file) { return unread(file) == 0; });
}

}  // namespace gangrun::ssh::node
