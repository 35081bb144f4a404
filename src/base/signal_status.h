#pragma once

namespace gangrun::base {

// The number that shells, container engines and clusters add to the number of the signal that ended
// a process where they have room for a status only.
inline constexpr int kSignalStatus = 128;

}  // namespace gangrun::base
