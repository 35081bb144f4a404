#include "cluster/fetched_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/files.h"
#include "base/format.h"

namespace gangrun::cluster {

namespace {

base::Error changed(const FetchedFile& file) {
  return {base::Code::kFailedPrecondition,
          base::format("{} has changed since the job was started", file.path)};
}

base::Result<> look(int fd, FetchedFile& file) {
  struct stat info {};
  if (::fstat(fd, &info) != 0)
    return base::from_errno(errno, base::format("look at {}", file.path));
  constexpr std::int64_t kSecond = 1'000'000'000;
  file.size = static_cast<std::uint64_t>(info.st_size);
  file.inode = info.st_ino;
  file.modified = std::int64_t{info.st_mtim.tv_sec} * kSecond + info.st_mtim.tv_nsec;
  return {};
}

base::Result<> check_unchanged(int fd, const FetchedFile& file) {
  FetchedFile now = file;
  GANGRUN_TRY(look(fd, now));
  const bool is_same =
      now.size == file.size && now.inode == file.inode && now.modified == file.modified;
  return is_same ? base::Result<>() : changed(file);
}

}  // namespace

std::uint64_t bytes_of(const FetchedFiles& files) {
  std::uint64_t bytes = 0;
  for (const FetchedFile& file : files) bytes += file.size;
  return bytes;
}

base::Result<FetchedFile> look_at(const std::string& name, const std::string& path,
                                  bool is_executable) {
  FetchedFile file{.name = name, .path = path, .is_executable = is_executable};
  GANGRUN_ASSIGN(const base::UniqueFd fd, base::open_file(path, O_RDONLY));
  GANGRUN_TRY(look(fd.get(), file));
  return file;
}

base::Result<std::string> read_part(const FetchedFile& file, std::uint64_t offset,
                                    std::size_t length) {
  GANGRUN_ASSIGN(const base::UniqueFd fd, base::open_file(file.path, O_RDONLY));
  GANGRUN_TRY(check_unchanged(fd.get(), file));
  GANGRUN_ASSIGN(std::string bytes, base::read_at(fd.get(), static_cast<std::int64_t>(offset),
                                                  length, base::format("read {}", file.path)));
  if (bytes.size() != length) return changed(file);
  return bytes;
}

}  // namespace gangrun::cluster
