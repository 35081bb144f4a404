#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/unique_fd.h"

namespace gangrun::process {

// A turn at work that keeps a processor of this host busy: as many have one at a time as there are
// `places`, which are files or folders that may be read. It lasts until the descriptor is closed.
// Blocks until `deadline` at most, as whoever has a turn may hang; none then. Where there is no
// place, nobody has to wait, and the descriptor is invalid.
std::optional<base::UniqueFd> wait_for_turn(const std::vector<std::string>& places,
                                            base::Instant deadline);

// One for each processor, the same ones for all users.
std::vector<std::string> processor_places();

}  // namespace gangrun::process
