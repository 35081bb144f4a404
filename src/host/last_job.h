#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"

// The last job of this user that its place keeps itself, so that "last" means it too.
namespace gangrun::host {

// Makes `home` where there is none.
base::Result<> note_job_elsewhere(const std::string& home, const std::string& id,
                                  base::WallTime submitted);
// It has been removed: nothing happens where another one is noted.
void forget_job_elsewhere(const std::string& home, const std::string& id);
// Its id, where it was submitted after all jobs that are kept in `home`; none: it was not, or there
// is none.
std::optional<std::string> newest_is_elsewhere(const std::string& home);

}  // namespace gangrun::host
