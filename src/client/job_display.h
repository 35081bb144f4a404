#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/pause.h"
#include "client/context.h"
#include "client/job_view.h"
#include "client/run_options.h"
#include "host/local_logs.h"
#include "job/status.h"
#include "net/event_loop.h"

namespace gangrun::client {

// The parts of a job that are shown, for these tasks.
ViewOptions view_options(const DisplayOptions& options, const std::vector<job::TaskId>& tasks);

// Shows a running job in the loop: its status now and then, its tasks' lines as they come. A slow
// reader of ours slows the showing down, never the job: the rest waits in the log files.
class JobDisplay {
 public:
  // `status` is asked at most five times a second.
  JobDisplay(net::EventLoop& loop, Context& context, const ViewOptions& options,
             std::function<job::JobStatus()> status);

  // Opens the log files of these tasks, in `log_folder`.
  base::Result<> open_logs(const std::string& log_folder,
                           const std::vector<job::TaskStatus>& tasks);
  // Shows the first status, and goes on until stop().
  void start(const job::JobStatus& status);
  void stop();
  // All that is left to be said, at the pace of whoever reads it.
  void finish(const job::JobStatus& status, ExitStatus exit_status);
  // Says that the job goes on without us, and shows no more of it.
  ExitStatus leave(const std::string& job);
  // The same where it was to be ended, and nobody could be told: `sentence` says whom, and what may
  // be left. Waits for no reader.
  ExitStatus leave_untold(const std::string& sentence);
  // Nobody is to be waited for any more.
  void give_up() { given_up_ = true; }

  // Lines that do not come from log files here.
  void lines(const std::vector<cluster::LogLine>& lines) { view_->lines(lines); }
  [[nodiscard]] bool wants_lines() const { return view_->wants_lines(); }
  // Whether a slow reader has more to read than should wait for it.
  [[nodiscard]] bool is_behind() const;

  void warning(const std::string& sentence) { view_->warning(sentence); }
  // `sentence` says what a log lacks. Lines that are read from log files are not shown then either.
  void incomplete_log(const std::string& sentence);
  void notice(const std::string& sentence) { view_->notice(sentence); }
  void joinable(const JoinPlace& place) { view_->joinable(place); }

 private:
  void show();
  void look_again();
  void read_lines();
  bool show_lines();
  void arm_logs();
  void on_blocked();
  void on_writable();
  void wait_for_reader();

  net::EventLoop& loop_;
  Context& context_;
  std::function<job::JobStatus()> status_;
  const cluster::LogRequest request_;
  std::unique_ptr<JobView> view_;
  std::unique_ptr<host::LocalLogs> logs_;
  net::Watch logs_watch_;
  net::Watch out_watch_;
  net::Watch err_watch_;
  net::Timer timer_;
  base::Pause look_pause_;
  net::Timer look_timer_;
  bool stopped_ = false;
  bool given_up_ = false;
};

}  // namespace gangrun::client
