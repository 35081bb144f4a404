#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace gangrun::journal {

inline constexpr int kMaxSegments = 10'000;

// "<folder>/000001.jsonl"
std::string segment_path(const std::string& folder, int number);

// The numbers of the segments in `folder`, ascending; files of other names are none. A missing
// folder is kNotFound, a gap in the numbers kDataLoss.
base::Result<std::vector<int>> segment_numbers(const std::string& folder);

}  // namespace gangrun::journal
