#pragma once

#include <cstddef>
#include <cstdint>

#include "cluster/disk_room.h"

// How much of what hosts send of their tasks' logs finds room here. A host may send without end,
// and a disk that is full takes the journal's place and that of other hosts' lines.
namespace gangrun::ssh {

// Below kept_free() nobody sends more; below this, nobody who has sent more than his share. Of a
// small disk it is a quarter.
inline constexpr std::uint64_t kScarce = std::uint64_t{256} << 20U;

// Whether a host that has sent `own` of the `all` bytes of `hosts` may send more. What it is not
// allowed to send it keeps, if it is one of ours.
bool may_send_more(const cluster::DiskRoom& room, std::uint64_t own, std::uint64_t all,
                   std::size_t hosts);

}  // namespace gangrun::ssh
