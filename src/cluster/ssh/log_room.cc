#include "cluster/ssh/log_room.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>

#include "base/format.h"

namespace gangrun::cluster {

base::Result<DiskRoom> disk_room(const std::string& folder) {
  struct statvfs disk {};
  if (::statvfs(folder.c_str(), &disk) != 0) {
    return base::from_errno(errno, base::format("statvfs {}", folder));
  }
  return DiskRoom{.bytes = std::uint64_t{disk.f_blocks} * disk.f_frsize,
                  .free = std::uint64_t{disk.f_bavail} * disk.f_frsize};
}

bool may_send_more(const DiskRoom& room, std::uint64_t own, std::uint64_t all, std::size_t hosts) {
  if (room.free < std::min(kKeptFree, room.bytes / 8)) return false;
  const bool is_scarce = room.free < std::min(kScarce, room.bytes / 4);
  return !is_scarce || own <= all / std::max<std::size_t>(hosts, 1);
}

}  // namespace gangrun::cluster
