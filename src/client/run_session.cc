#include "client/run_session.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/format.h"
#include "base/strings.h"
#include "client/ending_guard.h"
#include "client/fail.h"
#include "client/job_display.h"
#include "client/report.h"
#include "client/run_record.h"
#include "client/text.h"
#include "client/zookeeper_input.h"
#include "host/ending_signals.h"
#include "host/local_master.h"
#include "job/limits.h"
#include "net/event_loop.h"
#include "process/signals.h"

namespace gangrun::client {

namespace {

using base::Result;

// The limit for destructors, once all has been said.
constexpr std::chrono::milliseconds kGoingLimit(100);

class Session final : public master::Listener {
 public:
  Session(RunPlan plan, const RunOptions& options, Context& context)
      : plan_(std::move(plan)),
        options_(options),
        context_(context),
        backend_(std::move(plan_.backend)) {}

  // Tells what is wrong with the input, or the place, before anything is made.
  Result<> prepare();
  // An error says why the job could not start; nothing of it is left then.
  Result<> start();
  ExitStatus wait();

  // The next look at the status comes by itself.
  void on_changed() override {}
  // The shown lines are read from the log files, which are complete whatever the pace, but for
  // this.
  void on_incomplete_log(const job::TaskId& task, std::string_view what) override {
    display_->incomplete_log(
        base::format("the log of {} is incomplete: {}", job::to_string(task), what));
  }
  void on_warning(std::string_view sentence) override { display_->warning(std::string(sentence)); }
  void on_remark(std::string_view sentence) override {
    display_->notice(harmless_sentence(sentence));
  }
  void on_finished() override { finished_ = true; }

 private:
  Result<> start_master();
  void on_signal(int number);
  void hurry();
  void leave_if_silent();
  ExitStatus leave();

  RunPlan plan_;
  const RunOptions& options_;
  Context& context_;
  // In the order in which they are made; the later ones use the earlier ones.
  net::EventLoop loop_;
  // Before all that may wait for somebody when it goes.
  std::unique_ptr<EndingGuard> guard_;
  std::optional<host::JobFolder> folder_;
  std::unique_ptr<JobDisplay> display_;
  std::unique_ptr<host::Backend> backend_;
  std::unique_ptr<host::LocalMaster> master_;
  int signals_seen_ = 0;
  std::string early_signal_;  // that came before there was a master to stop
  bool finished_ = false;
  net::Timer silence_timer_;
  std::optional<base::Instant> hurried_at_;
  bool left_ = false;  // by whoever was asked to end the job, before it ended
};

Result<> Session::prepare() {
  // Before anything starts a thread or a process.
  GANGRUN_ASSIGN(guard_,
                 EndingGuard::start_in(loop_, {.signals = host::job_signals(),
                                               .on_signal = [this](int n) { on_signal(n); }}));
  const auto is_cancelled = [this] { return signals_seen_ > 0; };
  Result<> reached = check_required_zookeeper(loop_, plan_.spec, plan_.zookeeper_files, {},
                                              context_, is_cancelled);
  if (reached.ok()) reached = backend_->reach(loop_, context_.clock, plan_.spec, is_cancelled);
  const bool has_failed = !reached.ok() && reached.error().code != base::Code::kCancelled;
  if (signals_seen_ == 0 || has_failed) return reached;
  return base::Error{base::Code::kCancelled,
                     base::format("{}: nothing of the job has been started", early_signal_)};
}

Result<> Session::start() {
  GANGRUN_ASSIGN(folder_,
                 host::JobFolder::create(plan_.home, plan_.spec, context_.clock.wall_now()));
  Result<> started = start_master();
  if (started.ok()) {
    keep_run(folder_->id(), plan_.spec, options_, context_);
    return started;
  }
  master_.reset();
  folder_->remove();
  return started;
}

Result<> Session::start_master() {
  display_ = std::make_unique<JobDisplay>(loop_, context_,
                                          view_options(options_.display, plan_.spec.task_ids()),
                                          [this] { return master_->job().status(); });
  const host::LocalMasterOptions options{.launch = plan_.launch,
                                         .ports = plan_.ports,
                                         .zookeeper_files = plan_.zookeeper_files,
                                         .commanded_at = context_.commanded_at};
  GANGRUN_ASSIGN(master_, host::LocalMaster::create(loop_, context_.clock, *folder_, plan_.spec,
                                                    options, *backend_, *this));
  GANGRUN_TRY(display_->open_logs(folder_->paths().logs(), master_->job().status().tasks));
  GANGRUN_TRY(master_->start());
  display_->start(master_->job().status());
  guard_->set_words(base::format(
      "{0} has not ended in order: `gangrun status {0}` tells what became of it", folder_->id()));
  if (signals_seen_ > 0) master_->job().request_stop(early_signal_, signals_seen_ > 1);
  if (master_->job().tasks_come_by_themselves()) {
    display_->joinable({.host = plan_.launch.host,
                        .port = master_->job().tls_port(),
                        .fingerprint = folder_->certificate().fingerprint,
                        .secret_file = folder_->paths().secret(),
                        .limit = plan_.spec.timeouts.allocation});
  } else if (plan_.launch.serve_tls) {
    display_->notice(base::format("the registry is served by TLS at {}:{}, certificate {}",
                                  plan_.launch.host, master_->job().tls_port(),
                                  folder_->paths().certificate()));
  }
  return {};
}

void Session::on_signal(int number) {
  const std::string name = host::name_of_signal(number);
  if (process::is_notice(number)) {
    if (master_ == nullptr || finished_) return;
    return master_->job().ask(
        cluster::notice_question({.by = name}), [this, name](const cluster::Answer& answer) {
          const auto told = std::ranges::count(answer.tasks, "", &cluster::TaskAnswer::refused);
          display_->notice(base::format("{}: passed on to {} as a notice", name,
                                        base::count_text(told, "task")));
        });
  }
  ++signals_seen_;
  if (master_ == nullptr) {
    early_signal_ = name;
    return;
  }
  if (signals_seen_ > 1) hurry();
  // Only the place, and a reader that takes nothing, keep us here then.
  if (finished_) return display_->give_up();
  display_->notice(
      master_->job().is_settling()
          ? base::format("{}: the tasks have ended; files of theirs are not waited for", name)
      : signals_seen_ == 1
          ? base::format("{}: the tasks have {} to stop; send it again to kill them at once", name,
                         base::to_words(plan_.spec.timeouts.stop))
          : base::format("{} again: the tasks are killed at once", name));
  master_->job().request_stop(name, signals_seen_ > 1);
}

// A place that does not answer within a moment is not waited for. A place that answers has the time
// that it takes, as long as nobody asks once more.
void Session::hurry() {
  guard_->stand_down();
  if (hurried_at_) {
    left_ = loop_.now() - *hurried_at_ >= kGuardPatience;
    return;
  }
  hurried_at_ = loop_.now();
  backend_->hurry(loop_);
  silence_timer_ = loop_.after(kSilencePatience, [this] { leave_if_silent(); });
}

void Session::leave_if_silent() {
  if (!backend_->silent().empty()) left_ = true;
}

ExitStatus Session::leave() {
  const std::string silent = backend_->silent();
  const ExitStatus status = display_->leave_untold(
      silent.empty()
          ? base::format("{} was told to end, and has not said that it has", folder_->id())
          : silent);
  guard_->end_within(kGoingLimit, status);
  return status;
}

ExitStatus Session::wait() {
  (void)loop_.run_until([this] { return finished_ || left_; },
                        context_.clock.now() + job::kLongestJob);
  if (!finished_ && left_) return leave();
  host::clear_ended_job(folder_->paths());
  const Result<> cleared = backend_->clear(
      loop_, [this](const std::string& sentence) { display_->notice(sentence); },
      [this] { return left_; });
  if (!cleared.ok()) {
    const std::string silent = left_ ? backend_->silent() : "";
    display_->warning(silent.empty() ? cleared.error().message : silent);
  }
  const job::JobStatus status = master_->job().status();
  const ExitStatus exit_status = exit_status_of(status, signals_seen_ > 0);
  for (const std::string& sentence : lost_outputs(status)) display_->warning(sentence);
  display_->finish(status, exit_status);
  if (signals_seen_ > 1) guard_->end_within(kGoingLimit, exit_status);
  return exit_status;
}

}  // namespace

ExitStatus run_job(RunPlan plan, const RunOptions& options, Context& context) {
  Session session(std::move(plan), options, context);
  const auto failed = [&context](const base::Error& error, ExitStatus status) {
    context.console.stop_deferring();
    return fail(context, error, status);
  };
  const Result<> prepared = session.prepare();
  if (!prepared.ok()) {
    switch (prepared.error().code) {
      case base::Code::kInvalidArgument: return failed(prepared.error(), ExitStatus::kBadInput);
      case base::Code::kCancelled: return failed(prepared.error(), ExitStatus::kInterrupted);
      default: return failed(prepared.error(), ExitStatus::kCouldNotStart);
    }
  }
  const Result<> started = session.start();
  if (!started.ok()) return failed(started.error(), ExitStatus::kCouldNotStart);
  return session.wait();
}

}  // namespace gangrun::client
