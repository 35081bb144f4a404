#include "cli/yarn_session.h"

#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/format.h"
#include "cli/commands.h"
#include "cli/ending_signals.h"
#include "cli/exit_status.h"
#include "cli/job_display.h"
#include "net/event_loop.h"
#include "net/workers.h"

namespace gangrun::cli {

namespace {

using base::Result;

constexpr std::chrono::hours kLongestJob(24 * 366 * 10);
constexpr base::milliseconds kStatusInterval(250);
// One wait for new lines; and the pause where there is nobody to ask, or our reader is slow.
constexpr std::chrono::seconds kLinesWait(5);
constexpr base::milliseconds kLinesPause(250);

// Questions to the cluster block, so each kind has a thread and a site of its own; what they bring
// comes to the loop.
class YarnSession {
 public:
  YarnSession(const HadoopAccess& access, std::string id, const YarnSessionOptions& options,
              Context& context)
      : id_(std::move(id)),
        ours_(options.ours),
        allocation_limit_(options.allocation_limit),
        context_(context),
        shown_since_(context.clock.now()),
        status_site_(yarn_site(access, context)),
        lines_site_(yarn_site(access, context)),
        stop_site_(yarn_site(access, context)),
        status_worker_(loop_, 1),
        lines_worker_(loop_, 1),
        stop_worker_(loop_, 1) {}

  Result<> start(const DisplayOptions& options);
  ExitStatus wait();

 private:
  void on_signal(int number);
  void look();
  void on_status(Result<job::JobStatus> status);
  void keep_allocation_limit();
  void tell_to_stop(bool at_once, const std::string& by);
  void fetch_lines();
  void on_lines(Result<std::vector<cluster::LogLine>> lines);

  const std::string id_;
  const bool ours_;
  const std::optional<std::chrono::milliseconds> allocation_limit_;
  Context& context_;
  const base::Instant shown_since_;
  net::EventLoop loop_;
  net::Watch signals_;
  job::JobStatus status_;  // the last one that was known
  std::unique_ptr<JobDisplay> display_;
  bool told_silent_ = false;
  bool left_ = false;
  bool had_master_ = false;
  std::optional<job::Cause> given_up_;  // why, where its master never came
  int signals_seen_ = 0;
  net::Timer status_timer_;
  net::Timer lines_timer_;
  std::unique_ptr<cluster::YarnSite> status_site_;
  std::unique_ptr<cluster::YarnSite> lines_site_;
  std::unique_ptr<cluster::YarnSite> stop_site_;
  std::unique_ptr<cluster::LogReader> reader_;
  // Last: what runs on them uses the others.
  net::Workers status_worker_;
  net::Workers lines_worker_;
  net::Workers stop_worker_;
};

Result<> YarnSession::start(const DisplayOptions& options) {
  GANGRUN_ASSIGN(signals_, loop_.watch_signals(ending_signals(), [this](int n) { on_signal(n); }));
  GANGRUN_ASSIGN(status_, status_site_->status(id_));
  std::vector<job::TaskId> tasks;
  for (const job::TaskStatus& task : status_.tasks) tasks.push_back(task.task);
  display_ = std::make_unique<JobDisplay>(loop_, context_, view_options(options, tasks),
                                          [this] { return status_; });
  display_->start(status_);
  status_timer_ = loop_.after(kStatusInterval, [this] { look(); });
  if (display_->wants_lines()) fetch_lines();
  return {};
}

void YarnSession::look() {
  const auto asked =
      status_worker_.run([site = status_site_.get(), id = id_] { return site->status(id); },
                         [this](Result<job::JobStatus> status) { on_status(std::move(status)); });
  if (!asked.ok()) on_status(asked.error());
}

// A cluster that cannot be asked for a moment changes nothing: the job goes on.
void YarnSession::on_status(Result<job::JobStatus> status) {
  if (status.ok()) {
    status_ = std::move(*status);
    told_silent_ = false;
    keep_allocation_limit();
  } else if (!std::exchange(told_silent_, true)) {
    display_->warning(status.error().message);
  }
  status_timer_ = loop_.after(kStatusInterval, [this] { look(); });
}

// The master keeps it for its tasks. As long as there never was one, it is for us to keep: what the
// master says has a folder, what YARN says has none.
void YarnSession::keep_allocation_limit() {
  had_master_ |= !status_.folder.empty() || status_.state != job::JobState::kAllocating;
  if (had_master_ || given_up_ || !allocation_limit_) return;
  if (context_.clock.now() - shown_since_ <= *allocation_limit_) return;
  given_up_ = job::Cause{};
  given_up_->sentence = base::format("no place for the job's master within {}: {}",
                                     base::to_words(*allocation_limit_), status_.waiting_for);
  tell_to_stop(true, given_up_->sentence);
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
          GANGRUN_ASSIGN(reader_, lines_site_->logs(id_, {}));
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
  ++signals_seen_;
  if (!ours_) {
    left_ = true;
    return;
  }
  const std::string name = name_of_signal(number);
  display_->notice(
      signals_seen_ == 1
          ? base::format("{}: the tasks are told to stop; once more ends them at once", name)
          : base::format("{} again: the tasks are ended at once", name));
  tell_to_stop(signals_seen_ > 1, name);
}

void YarnSession::tell_to_stop(bool at_once, const std::string& by) {
  const auto asked = stop_worker_.run(
      [site = stop_site_.get(), id = id_, by, at_once] { return site->stop(id, at_once, by); },
      [this](const Result<>& stopped) {
        const bool is_told =
            stopped.ok() || stopped.error().code == base::Code::kFailedPrecondition;
        if (!is_told) display_->warning(stopped.error().message);
      });
  if (!asked.ok()) display_->warning(asked.error().message);
}

ExitStatus YarnSession::wait() {
  (void)loop_.run_until([this] { return left_ || job::is_final(status_.state); },
                        context_.clock.now() + kLongestJob);
  if (left_ && !job::is_final(status_.state)) return display_->leave(id_);
  // YARN says of it that it was killed.
  if (given_up_ && status_.state == job::JobState::kKilled) {
    status_.state = job::JobState::kFailed;
    status_.cause = given_up_;
  }
  const ExitStatus exit_status = exit_status_of(status_, ours_ && signals_seen_ > 0);
  display_->finish(status_, exit_status);
  return exit_status;
}

}  // namespace

ExitStatus show_yarn_job(const HadoopAccess& access, const std::string& id,
                         const YarnSessionOptions& options, const DisplayOptions& display,
                         Context& context) {
  YarnSession session(access, id, options, context);
  const Result<> started = session.start(display);
  if (started.ok()) return session.wait();
  context.console.stop_deferring();
  return fail(context, started.error());
}

}  // namespace gangrun::cli
