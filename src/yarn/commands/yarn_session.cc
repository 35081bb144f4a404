#include "yarn/commands/yarn_session.h"

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

namespace gangrun::yarn::commands {

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

class YarnSession {
 public:
  YarnSession(const HadoopAccess& access, std::string id, const YarnSessionOptions& options,
              client::Context& context)
      : id_(std::move(id)),
        ours_(options.ours),
        allocation_limit_(options.allocation_limit, context.clock.now()),
        soon_started_(context.clock.now() + kSoonStarted),
        context_(context),
        access_(access),
        watch_(loop_, kStatusInterval,
               {[this](const job::JobStatus& status) { return on_status(status); },
                [this](const std::string& sentence) { display_->warning(sentence); }}),
        lines_worker_(loop_, 1) {}

  Result<> start(const client::DisplayOptions& options);
  client::ExitStatus wait();

 private:
  void on_signal(int number);
  void leave_if_untold();
  client::ExitStatus leave();
  [[nodiscard]] std::string untold_words() const;
  // Until the next look.
  base::Duration on_status(const job::JobStatus& status);
  void tell_notes();
  void keep_allocation_limit();
  void fetch_lines();
  void on_lines(Result<std::vector<cluster::LogLine>> lines);

  const std::string id_;
  const bool ours_;
  client::AllocationLimit allocation_limit_;
  const base::Instant soon_started_;
  client::Context& context_;
  net::EventLoop loop_;
  // Before all that may wait for somebody when it goes.
  std::unique_ptr<client::EndingGuard> guard_;
  job::JobStatus status_;  // the last one that was known
  std::set<std::string> told_notes_;
  std::unique_ptr<client::JobDisplay> display_;
  bool left_ = false;
  std::optional<job::Cause> given_up_;  // why, where its master never came
  int signals_seen_ = 0;
  net::Timer order_timer_;
  net::Timer lines_timer_;
  const HadoopAccess& access_;
  client::JobWatch watch_;
  std::unique_ptr<yarn::YarnJob> of_lines_;
  std::unique_ptr<cluster::LogReader> reader_;
  // Last: what runs on it uses the others.
  net::Workers lines_worker_;
};

Result<> YarnSession::start(const client::DisplayOptions& options) {
  GANGRUN_ASSIGN(
      guard_, client::EndingGuard::start_in(loop_, {.signals = host::job_signals(),
                                                    .last = ours_ ? 2 : 1,
                                                    .on_signal = [this](int n) { on_signal(n); }}));
  guard_->set_words(ours_ ? untold_words()
                          : base::format("detached from {}, which does not answer", id_));
  // Each thread has connections of its own.
  const auto find = [this] { return yarn_site(access_, context_)->find_job(id_); };
  GANGRUN_ASSIGN(auto of_status, find());
  GANGRUN_ASSIGN(auto of_orders, find());
  GANGRUN_ASSIGN(of_lines_, find());
  GANGRUN_ASSIGN(status_, of_status->status());
  if (!job::is_final(status_.state)) GANGRUN_TRY(of_status->check_is_own());
  std::vector<job::TaskId> tasks;
  for (const job::TaskStatus& task : status_.tasks) tasks.push_back(task.task);
  client::ViewOptions view = client::view_options(options, tasks);
  view.url = yarn_page_url(access_.configuration, id_);
  display_ =
      std::make_unique<client::JobDisplay>(loop_, context_, view, [this] { return status_; });
  display_->start(status_);
  tell_notes();
  watch_.start(std::move(of_status), std::move(of_orders));
  if (display_->wants_lines()) fetch_lines();
  return {};
}

base::Duration YarnSession::on_status(const job::JobStatus& status) {
  status_ = status;
  tell_notes();
  keep_allocation_limit();
  const bool waits_long = !allocation_limit_.is_settled() && context_.clock.now() > soon_started_;
  return waits_long ? kWaitingInterval : kStatusInterval;
}

// Each once: what its master has remarked.
void YarnSession::tell_notes() {
  for (const std::string& note : status_.notes) {
    if (told_notes_.size() < kMaxToldNotes && told_notes_.insert(note).second) {
      display_->notice(base::harmless_sentence(note));
    }
  }
  for (const std::string& sentence : client::lost_outputs(status_)) {
    if (told_notes_.size() < kMaxToldNotes && told_notes_.insert(sentence).second) {
      display_->warning(sentence);
    }
  }
}

void YarnSession::keep_allocation_limit() {
  const auto too_late = allocation_limit_.exceeded(status_, context_.clock.now());
  if (!too_late) return;
  given_up_ = job::Cause{.why = {.reason = job::Reason::kAllocationTimeout, .detail = *too_late}};
  watch_.stop(true, *too_late);
}

void YarnSession::fetch_lines() {
  if (display_->is_behind()) {
    lines_timer_ = loop_.after(kLinesPause, [this] { fetch_lines(); });
    return;
  }
  using Lines = Result<std::vector<cluster::LogLine>>;
  const auto asked = lines_worker_.run(
      [this]() -> Lines {
        if (!reader_) {
          GANGRUN_ASSIGN(reader_, of_lines_->logs({}));
        }
        return reader_->next(context_.clock.now() + kLinesWait);
      },
      [this](Lines lines) { on_lines(std::move(lines)); });
  if (!asked.ok()) on_lines(asked.error());
}

void YarnSession::on_lines(Result<std::vector<cluster::LogLine>> lines) {
  const bool has_lines = lines.ok() && !lines->empty();
  if (has_lines) display_->lines(*lines);
  lines_timer_ =
      loop_.after(has_lines ? base::milliseconds(0) : kLinesPause, [this] { fetch_lines(); });
}

void YarnSession::on_signal(int number) {
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
    order_timer_ = loop_.after(client::kSilencePatience, [this] { leave_if_untold(); });
  } else if (number != SIGINT) {
    order_timer_ = loop_.after(kOrderLimit, [this] { leave_if_untold(); });
  }
}

void YarnSession::leave_if_untold() {
  if (watch_.is_told()) return guard_->stand_down();
  left_ = true;
}

std::string YarnSession::untold_words() const {
  const std::string& trouble = watch_.trouble();
  return base::format("{} may still run: {}{}. Once YARN answers, `gangrun kill {}` ends it", id_,
                      watch_.is_told() ? "it was told to end, and has not said that it has"
                                       : "nobody has taken the order to end it",
                      trouble.empty() ? "" : base::format(" ({})", trouble), id_);
}

client::ExitStatus YarnSession::leave() {
  const client::ExitStatus status =
      ours_ ? display_->leave_untold(untold_words()) : display_->leave(id_);
  guard_->end_within(kGoingLimit, status);
  return status;
}

client::ExitStatus YarnSession::wait() {
  (void)loop_.run_until([this] { return left_ || job::is_final(status_.state); },
                        context_.clock.now() + job::kLongestJob);
  if (left_ && !job::is_final(status_.state)) return leave();
  // YARN says of it that it was killed.
  if (given_up_ && status_.state == job::JobState::kKilled) {
    status_.state = job::JobState::kFailed;
    status_.cause = given_up_;
  }
  const client::ExitStatus exit_status =
      client::exit_status_of(status_, ours_ && signals_seen_ > 0);
  display_->finish(status_, exit_status);
  if (signals_seen_ > 1) guard_->end_within(kGoingLimit, exit_status);
  return exit_status;
}

}  // namespace

client::ExitStatus show_yarn_job(const HadoopAccess& access, const std::string& id,
                                 const YarnSessionOptions& options,
                                 const client::DisplayOptions& display, client::Context& context) {
  YarnSession session(access, id, options, context);
  const Result<> started = session.start(display);
  if (started.ok()) return session.wait();
  context.console.stop_deferring();
  return client::fail(context, started.error());
}

}  // namespace gangrun::yarn::commands
