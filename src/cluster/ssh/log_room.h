#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"

// How much of what hosts send of their tasks' logs finds room here. A host may send without end,
// and a disk that is full takes the journal's place and that of other hosts' lines.
namespace gangrun::cluster {

struct DiskRoom {
  std::uint64_t bytes = 0;  // of all of it
  std::uint64_t free = 0;   // for us
};

base::Result<DiskRoom> disk_room(const std::string& folder);

// Below the first one nobody sends more; below the second, nobody who has sent more than his share.
// Of a small disk it is an eighth and a quarter.
inline constexpr std::uint64_t kKeptFree = std::uint64_t{64} << 20U;
inline constexpr std::uint64_t kScarce = std::uint64_t{256} << 20U;

// Whether a host that has sent `own` of the `all` bytes of `hosts` may send more. What it is not
// allowed to send it keeps, if it is one of ours.
bool may_send_more(const DiskRoom& room, std::uint64_t own, std::uint64_t all, std::size_t hosts);

}  // namespace gangrun::cluster
