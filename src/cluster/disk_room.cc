#include "cluster/disk_room.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>

#include "base/format.h"

namespace gangrun::cluster {

namespace {

constexpr std::uint64_t kKeptFree = std::uint64_t{64} << 20U;

}  // namespace

base::Result<DiskRoom> disk_room(const std::string& folder) {
  struct statvfs disk {};
  if (::statvfs(folder.c_str(), &disk) != 0) {
    return base::from_errno(errno, base::format("statvfs {}", folder));
  }
  return DiskRoom{.bytes = std::uint64_t{disk.f_blocks} * disk.f_frsize,
                  .free = std::uint64_t{disk.f_bavail} * disk.f_frsize};
}

std::uint64_t kept_free(const DiskRoom& room) { return std::min(kKeptFree, room.bytes / 8); }

}  // namespace gangrun::cluster
