#include "yarn/commands/client_task.h"

#include <termios.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "client/allocation_limit.h"
#include "client/ending_guard.h"
#include "client/exit_status.h"
#include "client/fail.h"
#include "client/job_watch.h"
#include "frameworks/environment.h"
#include "host/ending_signals.h"
#include "job/limits.h"
#include "net/event_loop.h"
#include "net/workers.h"
#include "process/signal_catchers.h"
#include "process/signals.h"
#include "process/spawn.h"

namespace gangrun::yarn::commands {

namespace {

using base::Result;

// Between two looks at the job; one wait for its cluster spec.
constexpr base::milliseconds kTaskInterval(500);
constexpr std::chrono::seconds kSpecWait(5);
// The time for destructors, once all has been said.
constexpr std::chrono::milliseconds kGoingLimit(100);

// The terminal as it was: a program that is killed may leave it in a state of its own.
class TerminalState {
 public:
  TerminalState()
      : known_(::isatty(STDIN_FILENO) == 1 && ::tcgetattr(STDIN_FILENO, &state_) == 0) {}
  void restore() const {
    if (known_) (void)::tcsetattr(STDIN_FILENO, TCSADRAIN, &state_);
  }
  [[nodiscard]] bool is_terminal() const { return known_; }

 private:
  termios state_{};
  bool known_;
};

// A file that lives as long as this does.
class TemporaryFile {
 public:
  TemporaryFile() = default;
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (!path_.empty()) (void)::unlink(path_.c_str());
  }
  [[nodiscard]] const std::string& path() const { return path_; }
  Result<> write(const std::string& path, const std::string& content) {
    path_ = path;
    return base::write_private_file(path, content);
  }

 private:
  std::string path_;
};

// The variables of the client over those of this process, as an agent does it for a task.
Result<std::map<std::string, std::string>> variables_of(const ClientTask& task,
                                                        const job::ClusterSpec& cluster,
                                                        const client::Context& context,
                                                        TemporaryFile& spec_file) {
  job::JobSpec with_client = task.spec;
  job::TaskSpec& client = with_client.tasks.emplace_back();
  client.type = kClientType;
  client.policy = job::Policy::kSidecar;
  const std::string path =
      (std::filesystem::temp_directory_path() / (task.job + "-client-cluster-spec.json")).string();
  const frameworks::Inputs inputs{
      .job = with_client,
      .cluster = cluster,
      .job_id = task.job,
      .cluster_spec_file = path,
      .inherits_python_unbuffered = context.environment.contains("PYTHONUNBUFFERED"),
      .own_address = job::Address{}};
  GANGRUN_ASSIGN(frameworks::Environment own,
                 frameworks::environment_of(inputs, {std::string(kClientType), 0}, 0));
  if (!own.cluster_spec_file_content.empty()) {
    GANGRUN_TRY(spec_file.write(path, own.cluster_spec_file_content));
  }
  // It has no port of its own.
  for (const char* name : {"GANGRUN_HOST", "GANGRUN_PORT", "GANGRUN_PORTS"}) {
    own.variables.erase(name);
  }
  std::map<std::string, std::string> variables = context.environment;
  for (auto& [name, value] : own.variables) variables[name] = std::move(value);
  for (const auto& [name, value] : task.spec.environment) variables[name] = value;
  if (!task.script.empty()) variables["DTF_TASK_SCRIPT"] = task.script;
  return variables;
}

class ClientSession {
 public:
  ClientSession(const ClientTask& task, client::Context& context)
      : task_(task),
        context_(context),
        allocation_limit_(task.spec.timeouts.allocation, context.clock.now()),
        watch_(loop_, kTaskInterval,
               {[this](const job::JobStatus& status) { return on_status(status); },
                [this](const std::string& sentence) { tell(sentence); }}),
        spec_worker_(loop_, 1) {}

  Result<> start(const FindJob& find_job);
  client::ExitStatus wait();

 private:
  // Until the next look.
  base::Duration on_status(const job::JobStatus& status);
  void ask_for_spec();
  void on_spec(Result<job::ClusterSpec> spec);
  Result<> start_child(const job::ClusterSpec& spec);
  void on_child_end();
  void end_child();
  void on_signal(int number);
  void leave_if_untold();
  [[nodiscard]] std::string untold_words() const;
  client::ExitStatus end_status();
  void tell(const std::string& sentence) { context_.console.error(sentence); }
  [[nodiscard]] bool is_over() const;

  const ClientTask& task_;
  client::Context& context_;
  client::AllocationLimit allocation_limit_;
  const TerminalState terminal_;
  TemporaryFile spec_file_;
  net::EventLoop loop_;
  // Before all that may wait for somebody when it goes.
  std::unique_ptr<client::EndingGuard> guard_;
  net::Watch child_watch_;
  net::Timer spec_timer_;
  net::Timer kill_timer_;
  job::JobStatus status_;
  int generation_ = 0;       // that the client knows
  bool has_failed_ = false;  // why is told: the client cannot be started
  int signals_seen_ = 0;
  net::Timer order_timer_;
  bool left_ = false;  // by whoever was asked to end the job, before it ended
  std::optional<process::Child> child_;
  std::optional<process::Exit> exit_;
  client::JobWatch watch_;
  std::unique_ptr<cluster::Job> of_spec_;
  // Last: what runs on it uses the others.
  net::Workers spec_worker_;
};

Result<> ClientSession::start(const FindJob& find_job) {
  GANGRUN_ASSIGN(auto of_status, find_job());
  GANGRUN_ASSIGN(auto of_orders, find_job());
  GANGRUN_ASSIGN(of_spec_, find_job());
  GANGRUN_ASSIGN(
      guard_, client::EndingGuard::start_in(loop_, {.signals = host::job_signals(),
                                                    .on_signal = [this](int n) { on_signal(n); }}));
  guard_->set_words(untold_words());
  tell(base::format("{}: client:0 starts here when all tasks have reported", task_.job));
  watch_.start(std::move(of_status), std::move(of_orders));
  ask_for_spec();
  return {};
}

base::Duration ClientSession::on_status(const job::JobStatus& status) {
  const bool is_news =
      !child_ && !status.waiting_for.empty() && status.waiting_for != status_.waiting_for;
  if (is_news) tell("waits: " + status.waiting_for);
  status_ = status;
  if (const auto too_late = allocation_limit_.exceeded(status_, context_.clock.now())) {
    has_failed_ = true;
    context_.console.error(*too_late);
    watch_.stop(true, *too_late);
  }
  if (child_ && !exit_ && status_.generation > generation_) {
    generation_ = status_.generation;
    tell(base::format(
        "the tasks restarted at other addresses (generation {}); client:0 still has the old ones",
        generation_));
  }
  if (job::is_final(status_.state) && child_ && !exit_ && !kill_timer_.pending()) end_child();
  return kTaskInterval;
}

void ClientSession::ask_for_spec() {
  const auto asked = spec_worker_.run(
      [job = of_spec_.get(), deadline = context_.clock.now() + kSpecWait] {
        return job->cluster_spec(1, deadline);
      },
      [this](Result<job::ClusterSpec> spec) { on_spec(std::move(spec)); });
  if (!asked.ok()) on_spec(asked.error());
}

// Until there is one, on_status() tells what the job waits for.
void ClientSession::on_spec(Result<job::ClusterSpec> spec) {
  if (is_over()) return;
  if (!spec.ok()) {
    spec_timer_ = loop_.after(kTaskInterval, [this] { ask_for_spec(); });
    return;
  }
  const Result<> started = start_child(*spec);
  if (started.ok()) return;
  has_failed_ = true;
  context_.console.error("client:0: " + started.error().message);
  watch_.stop(false, "client:0, which could not start");
}

Result<> ClientSession::start_child(const job::ClusterSpec& spec) {
  generation_ = spec.generation;
  GANGRUN_ASSIGN(const auto variables, variables_of(task_, spec, context_, spec_file_));
  process::SpawnOptions options;
  options.argv = task_.spec.command.argv();
  for (const auto& [name, value] : variables) {
    options.environment.push_back(base::format("{}={}", name, value));
  }
  options.working_folder = context_.folder;
  options.standard_input = STDIN_FILENO;
  options.standard_output = STDOUT_FILENO;
  options.standard_error = STDERR_FILENO;
  // In a group of its own it could not read from the terminal; there Ctrl-C and Ctrl-Z are its.
  options.new_group =
      terminal_.is_terminal() ? process::NewGroup::kNone : process::NewGroup::kGroup;
  options.parent_death_signal = SIGKILL;
  GANGRUN_ASSIGN(process::Child child, process::spawn(options));
  child_.emplace(std::move(child));
  child_watch_ = loop_.watch_readable(child_->end_fd(), [this] { on_child_end(); });
  return {};
}

void ClientSession::on_child_end() {
  child_watch_.reset();
  kill_timer_.reset();
  // Its end is what made the descriptor readable.
  const auto exit = child_->reap();
  exit_ = exit.ok() && *exit ? **exit : process::Exit{};
  terminal_.restore();
  if (job::is_final(status_.state)) return;
  if (task_.ends_job) {
    tell("client:0 has ended, and ends the job");
    watch_.stop(false, "client:0, which has ended");
  } else {
    tell(base::format("client:0 has ended; the job keeps running: gangrun attach {} shows it",
                      task_.job));
  }
}

void ClientSession::end_child() {
  tell(base::format("the job has ended: client:0 is asked to stop, and killed in {}",
                    base::to_words(task_.spec.timeouts.stop)));
  const auto send = [this](int number) {
    (void)(terminal_.is_terminal() ? child_->signal(number) : child_->signal_group(number));
  };
  send(SIGTERM);
  kill_timer_ = loop_.after(task_.spec.timeouts.stop, [send] { send(SIGKILL); });
}

void ClientSession::on_signal(int number) {
  if (process::is_notice(number)) {
    watch_.give_notice(host::name_of_signal(number));
    if (!child_ || exit_) return;
    for (const pid_t pid : process::signal_catchers({child_->pid()}, number)) ::kill(pid, number);
    return;
  }
  if (child_ && !exit_) {
    guard_->stand_down();
    // From a terminal it has it already.
    if (number != SIGINT || !terminal_.is_terminal()) (void)child_->signal(number);
    return;
  }
  ++signals_seen_;
  if (signals_seen_ > 2 && watch_.is_told()) {
    left_ = true;
    return;
  }
  tell(base::format("{}: the tasks are {}", host::name_of_signal(number),
                    signals_seen_ == 1 ? "asked to stop; interrupt again to kill them at once"
                                       : "ended at once"));
  watch_.stop(signals_seen_ > 1, host::name_of_signal(number));
  if (signals_seen_ == 1) return guard_->stand_down();
  order_timer_ = loop_.after(client::kSilencePatience, [this] { leave_if_untold(); });
}

void ClientSession::leave_if_untold() {
  if (watch_.is_told()) return guard_->stand_down();
  left_ = true;
}

std::string ClientSession::untold_words() const {
  return base::format("{0} may still run: {1}; `gangrun kill {0}` ends it", task_.job,
                      watch_.is_told() ? "it was told to end, and has not said that it has"
                                       : "nobody has taken the order to end it");
}

bool ClientSession::is_over() const {
  if (child_ && !exit_) return false;
  if (left_) return true;
  return job::is_final(status_.state) || (exit_ && !task_.ends_job);
}

client::ExitStatus ClientSession::wait() {
  (void)loop_.run_until([this] { return is_over(); }, context_.clock.now() + job::kLongestJob);
  if (left_ && !job::is_final(status_.state)) {
    tell(untold_words());
    guard_->end_within(kGoingLimit, client::ExitStatus::kInterrupted);
    return client::ExitStatus::kInterrupted;
  }
  const client::ExitStatus status = end_status();
  if (signals_seen_ > 1) guard_->end_within(kGoingLimit, status);
  return status;
}

client::ExitStatus ClientSession::end_status() {
  if (!child_) {
    if (status_.cause && !has_failed_) context_.console.error(job::to_words(*status_.cause));
    return has_failed_ ? client::ExitStatus::kCouldNotStart
                       : client::exit_status_of(status_, signals_seen_ > 0);
  }
  const bool is_good = exit_->succeeded();
  if (!is_good) context_.console.error("client:0 " + exit_->to_words());
  // The job's own end is told where the client did not bring it about.
  const bool was_ended = job::is_final(status_.state) && !task_.ends_job;
  if (was_ended) {
    if (status_.cause) context_.console.error(job::to_words(*status_.cause));
    return client::exit_status_of(status_, false);
  }
  return is_good ? client::ExitStatus::kSuccess : client::ExitStatus::kJobFailed;
}

}  // namespace

client::ExitStatus run_client_task(const ClientTask& task, const FindJob& find_job,
                                   client::Context& context) {
  ClientSession session(task, context);
  const Result<> started = session.start(find_job);
  if (!started.ok()) return client::fail(context, started.error());
  return session.wait();
}

}  // namespace gangrun::yarn::commands
