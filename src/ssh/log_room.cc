#include "ssh/log_room.h"

#include <algorithm>

namespace gangrun::ssh {

bool may_send_more(const cluster::DiskRoom& room, std::uint64_t own, std::uint64_t all,
                   std::size_t hosts) {
  if (room.free < cluster::kept_free(room)) return false;
  const bool is_scarce = room.free < std::min(kScarce, room.bytes / 4);
  return !is_scarce || own <= all / std::max<std::size_t>(hosts, 1);
}

}  // namespace gangrun::ssh
