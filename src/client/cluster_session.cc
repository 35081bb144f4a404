#include "client/cluster_session.h"

#include <csignal>
#include <cstddef>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "base/format.h"
#include "client/allocation_limit.h"
#include "client/ending_guard.h"
#include "client/exit_status.h"
#include "client/fail.h"
#include "client/job_display.h"
#include "client/job_watch.h"
#include "client/report.h"
#include "client/text.h"
#include "host/ending_signals.h"
#include "job/limits.h"
#include "net/event_loop.h"
#include "net/workers.h"
#include "process/signals.h"

namespace gangrun::client {

namespace {

using base::Result;

constexpr base::milliseconds kStatusInterval(250);
// As long as there is no master, each look is several questions to the cluster itself: a job that
// has waited for some seconds may wait for hours.
constexpr base::milliseconds kWaitingInterval(2000);
constexpr std::chrono::seconds kSoonStarted(10);
// One wait for new lines; and the pause where there is nobody to ask, or our reader is slow.
constexpr std::chrono::seconds kLinesWait(5);
constexpr base::milliseconds kLinesPause(250);
constexpr std::size_t kMaxToldNotes = 64;
// A sender of a signal that is no Ctrl-C may send no second one: for so long we look for somebody
// who takes the order.
constexpr std::chrono::seconds kOrderLimit(8);
// The time for destructors, once all has been said.
constexpr std::chrono::milliseconds kGoingLimit(100);

class ClusterSession {
 public:
  ClusterSession(ClusterJob job, const ClusterSessionOptions& options, Context& context)
      : job_(std::move(job)),
        id_(job_.id),
        ours_(options.ours),
        allocation_limit_(options.allocation_limit, context.clock.now()),
        soon_started_(context.clock.now() + kSoonStarted),
        context_(context),
        watch_(loop_, kStatusInterval,
               {[this](const job::JobStatus& status) { return on_status(status); },
                [this](const std::string& sentence) { display_->warning(sentence); }}),
        lines_worker_(loop_, 1) {}

  Result<> start(const DisplayOptions& options);
  ExitStatus wait();

 private:
  void on_signal(int number);
  void leave_if_untold();
  ExitStatus leave();
  [[nodiscard]] std::string untold_words() const;
  // Until the next look.
  base::Duration on_status(const job::JobStatus& status);
  void tell_notes();
  void keep_allocation_limit();
  void fetch_lines();
  void on_lines(Result<std::vector<cluster::LogLine>> lines);
  void take_last_lines();

  const ClusterJob job_;
  const std::string& id_;
  const bool ours_;
  AllocationLimit allocation_limit_;
  const base::Instant soon_started_;
  Context& context_;
  net::EventLoop loop_;
  // Before all that may wait for somebody when it goes.
  std::unique_ptr<EndingGuard> guard_;
  job::JobStatus status_;  // the last one that was known
  std::set<std::string> told_notes_;
  std::unique_ptr<JobDisplay> display_;
  bool left_ = false;
  bool are_lines_through_ = false;      // none came since the end
  std::size_t batches_ = 0;             // of lines that have come
  std::optional<job::Cause> given_up_;  // why, where its master never came
  int signals_seen_ = 0;
  net::Timer order_timer_;
  net::Timer lines_timer_;
  JobWatch watch_;
  std::unique_ptr<cluster::Job> of_lines_;
  std::unique_ptr<cluster::LogReader> reader_;
  // Last: what runs on it uses the others.
  net::Workers lines_worker_;
};

Result<> ClusterSession::start(const DisplayOptions& options) {
  GANGRUN_ASSIGN(guard_,
                 EndingGuard::start_in(loop_, {.signals = host::job_signals(),
                                               .last = ours_ ? 2 : 1,
                                               .on_signal = [this](int n) { on_signal(n); }}));
  guard_->set_words(ours_ ? untold_words()
                          : base::format("detached from {}, which does not answer", id_));
  // Each thread has connections of its own.
  GANGRUN_ASSIGN(auto of_status, job_.find());
  GANGRUN_ASSIGN(auto of_orders, job_.find());
  GANGRUN_ASSIGN(of_lines_, job_.find());
  GANGRUN_ASSIGN(status_, of_status->status());
  if (!job::is_final(status_.state) && job_.check_own) GANGRUN_TRY(job_.check_own());
  std::vector<job::TaskId> tasks;
  for (const job::TaskStatus& task : status_.tasks) tasks.push_back(task.task);
  ViewOptions view = view_options(options, tasks);
  view.url = job_.page_url;
  display_ = std::make_unique<JobDisplay>(loop_, context_, view, [this] { return status_; });
  display_->start(status_);
  tell_notes();
  watch_.start(std::move(of_status), std::move(of_orders));
  if (display_->wants_lines()) fetch_lines();
  return {};
}

base::Duration ClusterSession::on_status(const job::JobStatus& status) {
  status_ = status;
  tell_notes();
  keep_allocation_limit();
  const bool waits_long = !allocation_limit_.is_settled() && context_.clock.now() > soon_started_;
  return waits_long ? kWaitingInterval : kStatusInterval;
}

// Each once: what its master has remarked.
void ClusterSession::tell_notes() {
  for (const std::string& note : status_.notes) {
    if (told_notes_.size() < kMaxToldNotes && told_notes_.insert(note).second) {
      display_->notice(base::harmless_sentence(note));
    }
  }
  for (const std::string& sentence : lost_outputs(status_)) {
    if (told_notes_.size() < kMaxToldNotes && told_notes_.insert(sentence).second) {
      display_->warning(sentence);
    }
  }
}

void ClusterSession::keep_allocation_limit() {
  const auto too_late = allocation_limit_.exceeded(status_, context_.clock.now());
  if (!too_late) return;
  given_up_ = job::Cause{.why = {.reason = job::Reason::kAllocationTimeout, .detail = *too_late}};
  watch_.stop(true, *too_late);
}

void ClusterSession::fetch_lines() {
  if (display_->is_behind()) {
    lines_timer_ = loop_.after(kLinesPause, [this] { fetch_lines(); });
    return;
  }
  using Lines = Result<std::vector<cluster::LogLine>>;
  const auto asked = lines_worker_.run(
      [this, has_ended = job::is_final(status_.state)]() -> Lines {
        if (!reader_) {
          GANGRUN_ASSIGN(reader_, of_lines_->logs({}));
        }
        return reader_->next(context_.clock.now() + (has_ended ? base::Duration(0) : kLinesWait));
      },
      [this](Lines lines) { on_lines(std::move(lines)); });
  if (!asked.ok()) on_lines(asked.error());
}

void ClusterSession::on_lines(Result<std::vector<cluster::LogLine>> lines) {
  const bool has_lines = lines.ok() && !lines->empty();
  are_lines_through_ = !has_lines && job::is_final(status_.state);
  batches_ += has_lines ? 1 : 0;
  if (has_lines) display_->lines(*lines);
  lines_timer_ =
      loop_.after(has_lines ? base::milliseconds(0) : kLinesPause, [this] { fetch_lines(); });
}

void ClusterSession::on_signal(int number) {
  const std::string name = host::name_of_signal(number);
  if (process::is_notice(number)) {
    display_->notice(base::format("{}: passed on to the tasks as a notice", name));
    return watch_.give_notice(name);
  }
  ++signals_seen_;
  if (!ours_) {
    left_ = true;
    return;
  }
  if (signals_seen_ > 2 && watch_.is_told()) {
    left_ = true;
    return;
  }
  display_->notice(
      signals_seen_ == 1
          ? base::format("{}: the tasks are asked to stop; send it again to kill them at once",
                         name)
          : base::format("{} again: the tasks are killed at once", name));
  watch_.stop(signals_seen_ > 1, name);
  if (signals_seen_ > 1) {
    order_timer_ = loop_.after(kSilencePatience, [this] { leave_if_untold(); });
  } else if (number != SIGINT) {
    order_timer_ = loop_.after(kOrderLimit, [this] { leave_if_untold(); });
  }
}

void ClusterSession::leave_if_untold() {
  if (watch_.is_told()) return guard_->stand_down();
  left_ = true;
}

std::string ClusterSession::untold_words() const {
  const std::string& trouble = watch_.trouble();
  return base::format("{} may still run: {}{}. Once {} answers, `gangrun kill {}` ends it", id_,
                      watch_.is_told() ? "it was told to end, and has not said that it has"
                                       : "nobody has taken the order to end it",
                      trouble.empty() ? "" : base::format(" ({})", trouble), job_.cluster, id_);
}

ExitStatus ClusterSession::leave() {
  const ExitStatus status = ours_ ? display_->leave_untold(untold_words()) : display_->leave(id_);
  guard_->end_within(kGoingLimit, status);
  return status;
}

// As long as some come.
void ClusterSession::take_last_lines() {
  std::optional<std::size_t> seen;
  while (!left_ && !are_lines_through_ && seen != batches_) {
    seen = batches_;
    (void)loop_.run_until([this] { return left_ || are_lines_through_; },
                          context_.clock.now() + job_.last_lines);
  }
}

ExitStatus ClusterSession::wait() {
  (void)loop_.run_until([this] { return left_ || job::is_final(status_.state); },
                        context_.clock.now() + job::kLongestJob);
  if (left_ && !job::is_final(status_.state)) return leave();
  if (display_->wants_lines()) take_last_lines();
  // The cluster says of it that it was killed.
  if (given_up_ && status_.state == job::JobState::kKilled) {
    status_.state = job::JobState::kFailed;
    status_.cause = given_up_;
  }
  const ExitStatus exit_status = exit_status_of(status_, ours_ && signals_seen_ > 0);
  display_->finish(status_, exit_status);
  // A master that stays may let a question for lines wait.
  const bool is_asked = job_.last_lines.count() > 0;
  if (signals_seen_ > 1 || is_asked) guard_->end_within(kGoingLimit, exit_status);
  return exit_status;
}

}  // namespace

ExitStatus show_cluster_job(ClusterJob job, const ClusterSessionOptions& options,
                            const DisplayOptions& display, Context& context) {
  ClusterSession session(std::move(job), options, context);
  const Result<> started = session.start(display);
  if (started.ok()) return session.wait();
  context.console.stop_deferring();
  return fail(context, started.error());
}

}  // namespace gangrun::client
