#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "job/spec.h"

namespace gangrun::job {

// The word that commands take for the newest job, so that no job has this name.
inline constexpr std::string_view kNewestJob = "last";

// As <csignal> has it; 0 for none.
constexpr int number_of(StopSignal signal) { return static_cast<int>(signal); }
constexpr int number_of(NoticeSignal signal) { return static_cast<int>(signal); }

// All of them, and "none".
std::vector<std::string> framework_names();
base::Result<Framework> framework_from(std::string_view text);
// All of them; {"none"} is the empty list, and "none" beside another an error, as is a double.
base::Result<std::vector<Framework>> frameworks_from(const std::vector<std::string>& names);

}  // namespace gangrun::job
