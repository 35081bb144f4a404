#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "journal/replay.h"

namespace gangrun::master {

// The state that the earlier masters of a job left in its journal.
struct Past {
  int segments = 0;  // the newest one's number
  // None if no master came so far as to record what was requested.
  std::optional<journal::Replayed> replayed;
};

// `lease` is Settings::master_lost. Without a journal there is no past.
base::Result<Past> past_of(const std::string& journal_folder, std::chrono::milliseconds lease,
                           const base::Clock& clock);

}  // namespace gangrun::master
