#include "cli/run_session.h"

#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/format.h"
#include "base/log.h"
#include "cli/commands.h"
#include "cli/job_view.h"
#include "cluster/local/job_folder.h"
#include "cluster/local/local_cluster.h"
#include "cluster/local/local_logs.h"
#include "journal/writer.h"
#include "master/master.h"
#include "net/event_loop.h"

namespace gangrun::cli {

namespace {

using base::Result;

// The display is brought up to date no more often than that.
constexpr base::milliseconds kDisplayInterval(200);
// While more than that waits for a slow reader, no more lines are read.
constexpr std::size_t kMaxQueuedBytes = std::size_t{1} << 20U;
constexpr base::milliseconds kReaderTimeout(kReaderTimeoutMs);
// A job may take as long as it takes; its own limits end it.
constexpr std::chrono::hours kLongestJob(24 * 366 * 10);

// Signals that end a job; one that our caller has us ignore (nohup, a job in the background of a
// script) stays ignored.
std::vector<int> ending_signals() {
  std::vector<int> signals;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction current {};
    const bool known = ::sigaction(number, nullptr, &current) == 0;
    if (!known || current.sa_handler != SIG_IGN) signals.push_back(number);
  }
  return signals;
}

std::string name_of_signal(int number) {
  switch (number) {
    case SIGINT: return "Ctrl-C";
    case SIGHUP: return "the loss of its terminal";
    default: return "SIGTERM";
  }
}

// GPUs are given out once on a machine, whoever runs jobs on it: all must be able to lock them.
Result<std::string> gpu_lock_folder(bool needed) {
  std::error_code failed;
  std::string folder = (std::filesystem::temp_directory_path(failed) / "gangrun-gpus").string();
  if (!needed) return folder;
  if (::mkdir(folder.c_str(), 0777) == 0) (void)::chmod(folder.c_str(), 0777);
  if (!std::filesystem::is_directory(folder, failed)) {
    return base::Error{base::Code::kFailedPrecondition,
                       base::format("the folder of the GPUs' locks, {}, cannot be made", folder)};
  }
  return folder;
}

class Session final : public master::Listener {
 public:
  Session(RunPlan plan, const RunOptions& options, Context& context)
      : plan_(std::move(plan)), options_(options), context_(context) {}

  // An error says why the job could not start; nothing of it is left then.
  Result<> start();
  ExitStatus wait();

  void on_changed() override;
  // The lines are read from the log files, which are complete whatever the pace.
  void on_line(const job::TaskId&, bool, std::string_view) override {}
  void on_warning(std::string_view sentence) override;
  void on_finished() override;

 private:
  Result<> start_in(const cluster::JobPaths& paths);
  Result<master::Settings> settings(const cluster::JobPaths& paths);
  ViewOptions view_options() const;
  Result<> watch_logs(const job::JobStatus& status);
  void on_signal(int number);
  void read_lines();
  bool show_lines();
  void arm_logs();
  void show();
  void on_blocked();
  void on_writable();
  void print_to_the_end(ExitStatus exit_status);

  RunPlan plan_;
  const RunOptions& options_;
  Context& context_;
  // In the order in which they are made; the later ones use the earlier ones.
  net::EventLoop loop_;
  net::Watch signals_;
  std::optional<cluster::JobFolder> folder_;
  std::unique_ptr<base::Logger> logger_;
  std::unique_ptr<journal::Writer> journal_;
  std::unique_ptr<cluster::LocalCluster> cluster_;
  std::unique_ptr<master::Master> master_;
  std::unique_ptr<JobView> view_;
  std::unique_ptr<cluster::LocalLogs> logs_;
  net::Watch logs_watch_;
  net::Watch out_watch_;
  net::Watch err_watch_;
  net::Timer display_timer_;
  int signals_seen_ = 0;
  bool finished_ = false;
  bool given_up_ = false;
};

Result<> Session::start() {
  // Before anything starts a thread or a process.
  GANGRUN_ASSIGN(signals_, loop_.watch_signals(ending_signals(), [this](int n) { on_signal(n); }));
  context_.console.defer([this] { on_blocked(); });
  GANGRUN_ASSIGN(folder_,
                 cluster::JobFolder::create(plan_.home, plan_.spec, context_.clock.wall_now()));
  Result<> started = start_in(folder_->paths());
  if (started.ok()) return started;
  master_.reset();
  cluster_.reset();
  folder_->remove();
  return started;
}

Result<master::Settings> Session::settings(const cluster::JobPaths& paths) {
  master::Settings settings;
  settings.spec = plan_.spec;
  settings.job_id = folder_->id();
  settings.folder = paths.folder;
  settings.socket_path = paths.socket();
  settings.log_folder = paths.logs();
  settings.working_folder = context_.folder;
  settings.host = plan_.host;
  settings.secret = folder_->secret();
  settings.containment = plan_.containment;
  settings.commanded_at = context_.commanded_at;
  settings.master_lost = plan_.spec.timeouts.master_lost.value_or(std::chrono::milliseconds(0));
  if (options_.serve_tls) {
    GANGRUN_ASSIGN(auto certificate, folder_->make_certificate());
    settings.certificate = std::make_unique<net::JobCertificate>(std::move(certificate));
  }
  return settings;
}

Result<> Session::start_in(const cluster::JobPaths& paths) {
  const auto level = options_.verbose ? base::LogLevel::kDebug : base::LogLevel::kInfo;
  GANGRUN_ASSIGN(logger_, base::file_logger(paths.master_log(), level));
  const journal::Opening opening{.job_id = folder_->id(),
                                 .started = context_.clock.wall_now(),
                                 .origin = context_.clock.now()};
  GANGRUN_ASSIGN(journal_, journal::Writer::create(paths.journal(), opening));
  cluster::LocalCluster::Options options;
  options.agent_program = plan_.agent_program;
  options.host = plan_.host;
  options.gpus = plan_.gpus;
  GANGRUN_ASSIGN(options.gpu_lock_folder, gpu_lock_folder(!plan_.gpus.empty()));
  options.agent_log = paths.master_log();
  options.job_id = folder_->id();
  options.containment = plan_.containment;
  cluster_ = std::make_unique<cluster::LocalCluster>(loop_, std::move(options));
  GANGRUN_ASSIGN(master::Settings master_settings, settings(paths));
  master_ = std::make_unique<master::Master>(loop_, context_.clock, *logger_, *cluster_, *journal_,
                                             *this, std::move(master_settings));
  view_ = make_view(context_.console, view_options());
  GANGRUN_TRY(watch_logs(master_->status()));
  GANGRUN_TRY(master_->start());
  view_->started(master_->status());
  if (options_.serve_tls) {
    view_->notice(base::format("the registry is served by TLS at {}:{}, certificate {}", plan_.host,
                               master_->tls_port(), paths.certificate()));
  }
  return {};
}

ViewOptions Session::view_options() const {
  ViewOptions view;
  view.json = options_.json;
  view.quiet = options_.quiet;
  view.verbose = options_.verbose;
  if (options_.logs) view.logs = true;
  if (options_.no_logs) view.logs = false;
  for (const job::TaskId& task : plan_.spec.task_ids()) {
    view.prefix_width = std::max(view.prefix_width, job::to_string(task).size());
  }
  return view;
}

Result<> Session::watch_logs(const job::JobStatus& status) {
  if (!view_->wants_lines()) return {};
  GANGRUN_ASSIGN(logs_, cluster::LocalLogs::open(folder_->paths().logs(), status.tasks, {}));
  arm_logs();
  return {};
}

void Session::arm_logs() {
  if (!logs_ || logs_watch_.active() || logs_->changed_fd() < 0) return;
  logs_watch_ = loop_.watch_readable(logs_->changed_fd(), [this] { read_lines(); });
}

// Whether there were lines, so that there may be more.
bool Session::show_lines() {
  if (!logs_) return false;
  // Bounded, so that a task that writes without end does not keep us from the rest.
  const auto lines = logs_->next(context_.clock.now());
  if (!lines.ok()) {
    on_warning(lines.error().message);
    logs_watch_.reset();
    logs_.reset();
    return false;
  }
  if (!lines->empty()) view_->lines(*lines);
  return !lines->empty();
}

// A slow reader of ours slows the reading down, never the job: the rest waits in the log files.
void Session::read_lines() {
  if (finished_) return;
  if (context_.console.queued() > kMaxQueuedBytes) return logs_watch_.reset();
  arm_logs();
  if (show_lines()) loop_.post([this] { read_lines(); });
}

void Session::on_blocked() {
  const auto watch = [this](const Output& output, net::Watch& writable) {
    if (output.queued() == 0 || writable.active()) return;
    writable = loop_.watch_writable(output.fd(), [this] { on_writable(); });
  };
  watch(context_.console.out_output(), out_watch_);
  watch(context_.console.err_output(), err_watch_);
}

void Session::on_writable() {
  context_.console.flush();
  if (context_.console.out_output().queued() == 0) out_watch_.reset();
  if (context_.console.err_output().queued() == 0) err_watch_.reset();
  if (context_.console.queued() == 0) read_lines();
}

void Session::show() {
  if (finished_) return;
  read_lines();
  // A display that is behind would only fall further behind.
  if (context_.console.queued() == 0) view_->changed(master_->status());
  display_timer_ = loop_.after(kDisplayInterval, [this] { show(); });
}

// The next look at the status comes by itself, kDisplayInterval after the last.
void Session::on_changed() {}

void Session::on_warning(std::string_view sentence) { view_->warning(std::string(sentence)); }

void Session::on_finished() { finished_ = true; }

void Session::on_signal(int number) {
  ++signals_seen_;
  const std::string name = name_of_signal(number);
  if (master_ == nullptr) return;
  if (finished_) {
    // Only a reader that takes nothing keeps us here.
    given_up_ = true;
    return;
  }
  view_->notice(signals_seen_ == 1
                    ? base::format("{}: the tasks are told to stop and have {}; once more ends "
                                   "them at once",
                                   name, base::to_words(plan_.spec.timeouts.stop))
                    : base::format("{} again: the tasks are ended at once", name));
  master_->request_stop(name, signals_seen_ > 1);
}

// All that is left to be said, at the pace of whoever reads it.
void Session::print_to_the_end(ExitStatus exit_status) {
  Console& console = context_.console;
  const auto wait_for_reader = [&] {
    (void)loop_.run_until([&] { return console.queued() == 0 || given_up_; },
                          context_.clock.now() + kReaderTimeout);
    if (console.queued() > 0) console.give_up();
  };
  wait_for_reader();
  while (show_lines()) wait_for_reader();
  const auto rest = logs_ ? logs_->rest() : std::vector<cluster::LogLine>{};
  if (!rest.empty()) view_->lines(rest);
  view_->finished(master_->status(), to_int(exit_status));
  wait_for_reader();
}

ExitStatus Session::wait() {
  display_timer_ = loop_.after(kDisplayInterval, [this] { show(); });
  (void)loop_.run_until([this] { return finished_; }, context_.clock.now() + kLongestJob);
  display_timer_.reset();
  logs_watch_.reset();
  const ExitStatus exit_status = exit_status_of(master_->status(), signals_seen_ > 0);
  print_to_the_end(exit_status);
  context_.console.stop_deferring();
  return exit_status;
}

}  // namespace

ExitStatus run_job(RunPlan plan, const RunOptions& options, Context& context) {
  Session session(std::move(plan), options, context);
  const Result<> started = session.start();
  if (started.ok()) return session.wait();
  context.console.stop_deferring();
  return fail(context, started.error(), ExitStatus::kCouldNotStart);
}

}  // namespace gangrun::cli
