#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "client/context.h"
#include "net/event_loop.h"

namespace gangrun::ssh::commands {

// The turn of one command to fetch or remove what hosts have of an ended job, as long as it is
// open: waits until no other command has it, and says so. kCancelled where that is cancelled.
base::Result<base::UniqueFd> take_turn(net::EventLoop& loop, const std::string& hosts_file,
                                       const std::function<bool()>& is_cancelled,
                                       const client::Context& context);

}  // namespace gangrun::ssh::commands
