#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "job/exit_report.h"
#include "net/event_loop.h"
#include "process/child.h"
#include "process/containment.h"
#include "process/out_of_memory.h"
#include "process/output.h"
#include "process/proc_fs.h"
#include "process/process_handle.h"
#include "process/spawn.h"
#include "process/stopping.h"

namespace gangrun::agent {

// A process that a run is to start: argv, environment, folder and inherited sockets.
struct UserProcess {
  process::SpawnOptions options;
  // The number in front of its lines if the run has several processes: "3".
  std::string label{};
  // Not empty: it is the client of an engine whose container tells there how it does
  // (process/container_report.h).
  std::string container_report{};
};

// The standard error or output of this program, again.
base::Result<base::UniqueFd> own_output(bool is_error);

// One run of the user's command: one or several processes (ranks), their output, and their end.
// When one of them fails the others are stopped. When all have ended by themselves, whatever they
// left behind is killed before the end is reported, so that nothing of a run outlives it. When they
// were told to stop, what is left keeps its time: the trainer below a shell, which dies at once.
class UserRun {
 public:
  struct Callbacks {
    std::function<void(bool is_error, std::string_view line)> on_line;
    // Lines are not in the log, and why: once when that begins, whichever output it is, with 0, and
    // at the end with the number of lines of all outputs.
    std::function<void(const std::string& why, std::uint64_t lost)> on_incomplete_log;
    // Processes of the run could not be killed: which, or why. Called once.
    std::function<void(const std::string& what)> on_survivors;
    // Called once, from the loop; the run may be destroyed in it.
    std::function<void(const job::ExitReport& report)> on_ended;
  };

  // `stop_grace`: for the others when a process fails.
  UserRun(net::EventLoop& loop, const process::Containment& containment,
          process::Stopping::How stop, std::chrono::milliseconds stop_grace, Callbacks callbacks);
  ~UserRun();
  UserRun(const UserRun&) = delete;
  UserRun& operator=(const UserRun&) = delete;

  // The place of what they write: log_prefix + ".out" and ".err", which are appended to, or our own
  // output.
  struct Logs {
    std::string prefix;  // empty: our own output
    // The most bytes of both files, those of earlier runs counted; 0: no limit.
    std::uint64_t limit = 0;
  };

  // On an error nothing runs.
  base::Result<> start(std::vector<UserProcess> processes, const Logs& logs);

  // The signal to stop, once; SIGKILL to everything that is left after `grace` (0: at once). Of
  // several graces the one that is over first counts.
  void stop(std::chrono::milliseconds grace);

  [[nodiscard]] std::int64_t first_pid() const;
  // The processes that we started and that have not ended.
  [[nodiscard]] std::vector<pid_t> own_children() const;
  // A kill for want of memory that happened before is not a later end's reason.
  void refresh(base::Instant now) { out_of_memory_.refresh(now); }
  // The use of resources in containers, whose processes are not seen from here.
  [[nodiscard]] process::Usage usage_of_containers() const;
  // Hands on the lines that carriage returns are drawing again, as they are now.
  void tell_redrawn();
  // Bytes of output so far.
  [[nodiscard]] std::uint64_t output_bytes() const;

 private:
  struct Process;

  base::Result<> start_process(UserProcess user, const Logs& logs, bool shares_log);
  void tell_end_in_container(Process& process, const process::Exit& client);
  void on_process_ended(Process& process);
  void await_rest();
  void finish();
  void tell_lost_lines();
  void kill_rest();
  [[nodiscard]] job::Why why_of(const Process& process) const;
  [[nodiscard]] job::ExitReport report() const;

  net::EventLoop& loop_;
  const process::Containment& containment_;
  const std::chrono::milliseconds stop_grace_;
  Callbacks callbacks_;
  std::shared_ptr<process::LogRoom> log_room_;  // null: the log has no limit
  std::vector<std::unique_ptr<Process>> processes_;
  process::OutOfMemoryWatch out_of_memory_ = process::OutOfMemoryWatch::start();
  process::Stopping stopping_;
  // The processes that live on when our own have ended; watches go before their descriptors.
  std::vector<process::ProcessHandle> rest_;
  std::vector<net::Watch> rest_watches_;
  net::Timer kill_timer_;
  base::Instant kill_at_;
  std::size_t running_ = 0;
  bool has_told_survivors_ = false;
  bool has_told_log_ = false;  // that it is incomplete
  const Process* first_failed_ = nullptr;
};

}  // namespace gangrun::agent
