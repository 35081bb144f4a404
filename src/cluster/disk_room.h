#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

// How much of the disk here may be filled with what others send: they may send without end, and a
// disk that is full takes the place of the journal.
namespace gangrun::cluster {

struct DiskRoom {
  std::uint64_t bytes = 0;  // of all of it
  std::uint64_t free = 0;   // for us
};

base::Result<DiskRoom> disk_room(const std::string& folder);

// The bytes that stay free whatever others send: 64 MiB, or an eighth of a small disk.
std::uint64_t kept_free(const DiskRoom& room);

}  // namespace gangrun::cluster
