#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "client/context.h"
#include "jobfile/default_files.h"

// The files of defaults that a user has, and whether they can be trusted (docs/defaults.md).
namespace gangrun::client {

// When not empty: as --no-defaults, for all commands.
inline constexpr const char* kNoDefaultsVariable = "GANGRUN_NO_DEFAULTS";

// The files that there are, the later of which win: the machine's and the user's own. One that
// others than root and the user may write, or whose folders they may, is an error: it says which
// programs run.
base::Result<std::vector<jobfile::DefaultFile>> read_default_files(const Context& context);

// Why a file or folder of this owner and mode is not followed; empty: it is. `user` is who calls
// gangrun.
std::string why_not_followed(uid_t owner, mode_t mode, uid_t user);

}  // namespace gangrun::client
