#pragma once

#include <sys/types.h>

#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "process/exit.h"
#include "process/process_handle.h"

namespace gangrun::process {

// A process that we started and that only we wait for. Going out of scope neither kills nor reaps
// it: what becomes of a task is a decision, and containment sees to the rest.
class Child {
 public:
  Child(pid_t pid, ProcessHandle handle) : pid_(pid), handle_(std::move(handle)) {}

  [[nodiscard]] pid_t pid() const { return pid_; }
  // Becomes readable when the process has ended, whether or not it is reaped. For the caller's
  // loop.
  [[nodiscard]] int end_fd() const { return handle_.end_fd(); }
  // Until reap() or wait() has given the Exit.
  [[nodiscard]] bool reaped() const { return exit_.has_value(); }

  // How it ended, or none while it runs. Does not wait. The answer is kept: a second call gives it
  // again.
  base::Result<std::optional<Exit>> reap();

  // Waits for the end. kDeadlineExceeded says which process was waited for; it runs on.
  base::Result<Exit> wait(base::Instant deadline);

  // Sends `number` to the process. kFailedPrecondition once it is reaped: its number may then be
  // somebody else's.
  base::Result<> signal(int number) { return send(number, pid_, "process"); }
  // The same to its process group, of which it must be the leader (NewGroup::kGroup).
  base::Result<> signal_group(int number) { return send(number, -pid_, "process group"); }
  // Has the process group end: SIGTERM, and SIGKILL 100 ms later. Blocks for these, and then up to
  // `limit` until the process is reaped.
  void end_group(base::Duration limit);

 private:
  base::Result<> send(int number, pid_t target, std::string_view what);

  pid_t pid_;
  ProcessHandle handle_;
  std::optional<Exit> exit_;
};

}  // namespace gangrun::process
