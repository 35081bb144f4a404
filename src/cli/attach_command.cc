#include <memory>
#include <set>
#include <string>
#include <utility>

#include "base/format.h"
#include "cli/commands.h"
#include "client/command.h"
#include "client/ending_guard.h"
#include "client/job_display.h"
#include "client/place.h"
#include "client/report.h"
#include "client/text.h"
#include "host/ending_signals.h"
#include "host/job_folder.h"
#include "job/limits.h"
#include "net/event_loop.h"
#include "process/signals.h"

namespace gangrun::cli {

namespace {

struct AttachOptions {
  std::string job;
  client::DisplayOptions display;
};

// Shows a job that another process leads.
class Attached {
 public:
  Attached(cluster::Job& job, const AttachOptions& options, client::Context& context)
      : job_(job), options_(options), context_(context) {}

  base::Result<> start();
  client::ExitStatus wait();

 private:
  job::JobStatus look();
  void tell_news();
  void on_signal(int number);

  cluster::Job& job_;
  const AttachOptions& options_;
  client::Context& context_;
  net::EventLoop loop_;
  // Before all that may wait for somebody when it goes.
  std::unique_ptr<client::EndingGuard> guard_;
  job::JobStatus status_;  // the last one that was known
  bool told_silent_ = false;
  std::set<std::string> told_;  // what was said of missing lines, and the master's remarks
  bool left_ = false;
  std::unique_ptr<client::JobDisplay> display_;
};

base::Result<> Attached::start() {
  GANGRUN_ASSIGN(
      guard_, client::EndingGuard::start_in(loop_, {.signals = host::job_signals(),
                                                    .last = 1,
                                                    .on_signal = [this](int n) { on_signal(n); }}));
  guard_->set_words(base::format("detached from {}, which does not answer", options_.job));
  GANGRUN_ASSIGN(status_, job_.status());
  std::vector<job::TaskId> tasks;
  for (const job::TaskStatus& task : status_.tasks) tasks.push_back(task.task);
  display_ = std::make_unique<client::JobDisplay>(
      loop_, context_, client::view_options(options_.display, tasks), [this] { return look(); });
  GANGRUN_TRY(display_->open_logs(host::JobPaths{status_.folder}.logs(), status_.tasks));
  display_->start(status_);
  tell_news();
  return {};
}

// The news that `run` gets from its master.
void Attached::tell_news() {
  for (const std::string& note : status_.notes) {
    if (told_.insert(note).second) display_->notice(client::harmless_sentence(note));
  }
  for (const std::string& sentence : client::missing_lines(status_, {})) {
    if (told_.insert(sentence).second) display_->incomplete_log(sentence);
  }
}

// A master that does not answer for a moment changes nothing: it may be coming back.
job::JobStatus Attached::look() {
  auto status = job_.status();
  if (status.ok()) {
    status_ = std::move(*status);
    told_silent_ = false;
    tell_news();
  } else if (!std::exchange(told_silent_, true)) {
    display_->warning(status.error().message);
  }
  return status_;
}

void Attached::on_signal(int number) {
  if (!process::is_notice(number)) {
    guard_->stand_down();
    left_ = true;
    return;
  }
  if (display_ == nullptr || job::is_final(status_.state)) return;
  const std::string name = host::name_of_signal(number);
  const auto given = job_.ask(cluster::notice_question({.by = name}));
  if (!given.ok()) return display_->warning(given.error().message);
  display_->notice(base::format("{}: passed on to the tasks as a notice", name));
}

client::ExitStatus Attached::wait() {
  (void)loop_.run_until([this] { return left_ || job::is_final(status_.state); },
                        context_.clock.now() + job::kLongestJob);
  if (left_ && !job::is_final(status_.state)) return display_->leave(status_.id);
  const client::ExitStatus exit_status = client::exit_status_of(status_, false);
  display_->finish(status_, exit_status);
  return exit_status;
}

base::Result<client::ExitStatus> attach(const AttachOptions& options, client::Context& context) {
  GANGRUN_TRY(client::check_display(options.display));
  if (const client::Place* place = context.places.with_job(options.job, context)) {
    return place->jobs->attach(options.job, options.display, context);
  }
  GANGRUN_ASSIGN(const auto job, client::find_job(context, options.job));
  Attached attached(*job, options, context);
  const auto started = attached.start();
  if (started.ok()) return attached.wait();
  context.console.stop_deferring();
  return started.error();
}

}  // namespace

client::Command attach_command() {
  const auto options = std::make_shared<AttachOptions>();
  return {.name = "attach",
          .summary = "Show a running job as `run` does, with all its lines since its start.",
          .words = {job_word(options->job)},
          .flags = client::display_flags(options->display),
          .footer =
              "Ctrl-C detaches; the job keeps running. When the job ends, exits as `run` "
              "would.\nJOB is an id, the unambiguous beginning of one, or last; without "
              "it, the last one.\n\nExample:\n  gangrun run --detach job.yaml && gangrun attach\n",
          .action = acts(options, attach)};
}

}  // namespace gangrun::cli
