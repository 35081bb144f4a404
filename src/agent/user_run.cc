#include "agent/user_run.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "agent/image_run.h"
#include "process/container_report.h"
#include "process/pipe.h"

namespace gangrun::agent {

namespace {

// How long the kill of what a run left behind may take; what survives that is in the kernel's
// hands.
constexpr std::chrono::seconds kKillDeadline(5);

// Descriptors held for those that are awaited; parents come before their children.
constexpr std::size_t kMaxWatched = 64;

constexpr std::array<const char*, 2> kLogEndings{".out", ".err"};

// Nothing where it is not there yet.
std::uint64_t size_of(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
}

// Reading does not block.
base::Result<process::Pipe> make_watched_pipe() {
  GANGRUN_ASSIGN(process::Pipe pipe, process::make_pipe());
  if (::fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK) != 0) return base::from_errno(errno, "fcntl");
  return pipe;
}

}  // namespace

base::Result<base::UniqueFd> own_output(bool is_error) {
  base::UniqueFd fd(::fcntl(is_error ? STDERR_FILENO : STDOUT_FILENO, F_DUPFD_CLOEXEC, 0));
  if (!fd.valid()) return base::from_errno(errno, "dup of the agent's output");
  return fd;
}

struct UserRun::Process {
  // Its watch goes before the descriptor that it watches.
  struct Output {
    std::unique_ptr<process::OutputPump> pump;
    net::Watch watch;
  };

  explicit Process(process::Child started) : child(std::move(started)) {}
  [[nodiscard]] process::OutputPump& errors() const { return *outputs[1].pump; }

  process::Child child;
  std::optional<process::Exit> exit;
  // The file in which its container tells how it does, and the pipe that ends it when we do; empty
  // without one.
  std::string container_report;
  base::UniqueFd lifeline;
  std::string could_not_start;
  std::array<Output, 2> outputs;
  net::Watch exit_watch;
};

UserRun::UserRun(net::EventLoop& loop, const process::Containment& containment,
                 process::Stopping::How stop, std::chrono::milliseconds stop_grace,
                 Callbacks callbacks)
    : loop_(loop),
      containment_(containment),
      stop_grace_(stop_grace),
      callbacks_(std::move(callbacks)),
      stopping_(stop) {}

UserRun::~UserRun() = default;

base::Result<> UserRun::start(std::vector<UserProcess> processes, const Logs& logs) {
  if (logs.limit > 0 && !logs.prefix.empty()) {
    log_room_ = std::make_shared<process::LogRoom>(process::LogRoom{logs.limit, logs.limit});
    for (const char* ending : kLogEndings) {
      log_room_->left -= std::min(log_room_->left, size_of(logs.prefix + ending));
    }
    if (!processes.empty()) log_room_->set_ends_aside(processes.size() * kLogEndings.size());
  }
  for (UserProcess& process : processes) {
    base::Result<> started = start_process(std::move(process), logs, processes.size() > 1);
    if (started.ok()) continue;
    // A gang of ranks that is not complete is of no use.
    kill_rest();
    processes_.clear();
    running_ = 0;
    return started;
  }
  return {};
}

base::Result<> UserRun::start_process(UserProcess user, const Logs& logs, bool shares_log) {
  process::SpawnOptions& options = user.options;
  process::Pipe lifeline;
  if (!user.container_report.empty()) {
    GANGRUN_ASSIGN(lifeline, make_watched_pipe());
    options.standard_input = lifeline.read.get();
  }
  GANGRUN_ASSIGN(process::Pipe out, make_watched_pipe());
  GANGRUN_ASSIGN(process::Pipe err, make_watched_pipe());
  options.standard_output = out.write.get();
  options.standard_error = err.write.get();
  containment_.confine(options);
  GANGRUN_ASSIGN(process::Child child, process::spawn(options));
  auto process = std::make_unique<Process>(std::move(child));
  process->container_report = std::move(user.container_report);
  process->lifeline = std::move(lifeline.write);
  Process* raw = process.get();
  for (const bool is_error : {false, true}) {
    process::OutputPump::Callbacks callbacks;
    callbacks.on_line = [this, is_error](std::string_view line) {
      callbacks_.on_line(is_error, line);
    };
    callbacks.on_log_failed = [this](const base::Error& error) {
      // The task goes on: its training is worth more than its log.
      if (!std::exchange(has_told_log_, true)) callbacks_.on_incomplete_log(error.message, 0);
    };
    auto& [pump, watch] = process->outputs[is_error];
    pump = std::make_unique<process::OutputPump>(std::move(is_error ? err.read : out.read),
                                                 logs.prefix + kLogEndings[is_error],
                                                 std::move(callbacks));
    if (logs.prefix.empty()) {
      GANGRUN_ASSIGN(auto own, own_output(is_error));
      pump->log_to(std::move(own), is_error ? "standard error" : "standard output");
    }
    if (shares_log) pump->share_log(user.label);
    if (log_room_) pump->limit_log(log_room_);
    watch = loop_.watch_readable(pump->fd(), [&output = process->outputs[is_error]] {
      if (!output.pump->on_readable()) output.watch.reset();
    });
  }
  process->exit_watch =
      loop_.watch_readable(raw->child.end_fd(), [this, raw] { on_process_ended(*raw); });
  processes_.push_back(std::move(process));
  ++running_;
  return {};
}

// A survivor is stuck in the kernel, or another user's: a setuid program that has become root. The
// containment tries again when the agent ends.
void UserRun::kill_rest() {
  if (const auto killed = containment_.kill_all(loop_.now() + kKillDeadline, own_children());
      !killed.ok() && !std::exchange(has_told_survivors_, true)) {
    callbacks_.on_survivors(killed.error().message);
  }
}

std::vector<pid_t> UserRun::own_children() const {
  std::vector<pid_t> pids;
  for (const auto& process : processes_) {
    if (!process->exit) pids.push_back(process->child.pid());
  }
  return pids;
}

void UserRun::on_process_ended(Process& process) {
  const auto exit = process.child.reap();
  if (exit.ok() && !*exit) return;
  process.exit_watch.reset();
  process::Exit how;
  if (exit.ok()) {
    how = **exit;
  } else {
    how.code = 1;  // it is gone and its status is unknown: never a success
  }
  how.out_of_memory = out_of_memory_.killed(process.child.pid(), how);
  process.exit = how;
  if (!process.container_report.empty()) tell_end_in_container(process, how);
  --running_;
  if (!process.exit->succeeded() && first_failed_ == nullptr) {
    first_failed_ = &process;
    if (running_ > 0) stop(stop_grace_);
  }
  if (running_ > 0) return;
  // Pending, they were told to stop and their time is not over.
  if (kill_timer_.pending()) {
    await_rest();
  } else {
    finish();
  }
}

// Looks again when one of them has ended: what that leaves may have to be told too, and when the
// last is gone none is found any more.
void UserRun::await_rest() {
  rest_watches_.clear();
  rest_.clear();
  containment_.reap_orphans({});
  const std::vector<pid_t> left = containment_.processes();
  stopping_.tell_rest(left);
  for (const pid_t pid : left) {
    auto handle = process::ProcessHandle::open(pid);
    if (!handle.valid()) continue;
    rest_watches_.push_back(loop_.watch_readable(handle.end_fd(), [this] { await_rest(); }));
    rest_.push_back(std::move(handle));
    if (rest_.size() == kMaxWatched) return;
  }
  if (rest_.empty()) finish();
}

// The client's own messages are in its pipe by now.
void UserRun::tell_end_in_container(Process& process, const process::Exit& client) {
  process.outputs[1].watch.reset();
  process.errors().finish();
  const ImageExit end = image_exit(client, process::read_container_report(process.container_report),
                                   process.errors().last_lines());
  process.exit = end.exit;
  process.could_not_start = end.could_not_start;
}

void UserRun::stop(std::chrono::milliseconds grace) {
  if (grace.count() == 0) {
    if (running_ > 0) return kill_rest();
    // Not from inside this call, as it ends the run.
    rest_watches_.clear();
    kill_at_ = loop_.now();
    kill_timer_ = loop_.after(base::Duration::zero(), [this] { finish(); });
    return;
  }
  stopping_.tell(own_children());
  const base::Instant kill_at = loop_.now() + grace;
  if (kill_timer_.pending() && kill_at_ <= kill_at) return;
  kill_at_ = kill_at;
  kill_timer_ = loop_.at(kill_at, [this] { stop(std::chrono::milliseconds(0)); });
}

// After the kill nobody holds the pipes any more, so reading what is left comes to an end.
void UserRun::finish() {
  kill_timer_.reset();
  rest_watches_.clear();
  kill_rest();
  for (const auto& process : processes_) {
    for (auto& [pump, watch] : process->outputs) {
      watch.reset();
      pump->finish();
    }
  }
  tell_lost_lines();
  // The callback may destroy this run, and with it the callback.
  const auto on_ended = std::move(callbacks_.on_ended);
  on_ended(report());
}

// Those of all outputs together: they are one log.
void UserRun::tell_lost_lines() {
  std::uint64_t lost = 0;
  std::string why;
  for (const auto& process : processes_) {
    for (const auto& [pump, watch] : process->outputs) {
      if (lost == 0 && pump->lost_lines() > 0) why = pump->log_error()->message;
      lost += pump->lost_lines();
    }
  }
  if (lost > 0) callbacks_.on_incomplete_log(why, lost);
}

job::Why UserRun::why_of(const Process& process) const {
  job::Why why = job::why_of(process.exit->end());
  if (!process.could_not_start.empty()) {
    why.reason = job::Reason::kCouldNotStart;
    why.detail = process.could_not_start;
  } else if (processes_.size() > 1 && first_failed_ != nullptr) {
    while (processes_[static_cast<std::size_t>(why.process)].get() != &process) ++why.process;
    why.processes = static_cast<int>(processes_.size());
  }
  return why;
}

job::ExitReport UserRun::report() const {
  job::ExitReport report;
  report.success = first_failed_ == nullptr;
  const Process& shown = first_failed_ != nullptr ? *first_failed_ : *processes_.front();
  report.why = why_of(shown);
  if (!report.success) {
    report.last_lines = shown.errors().last_lines();
    report.traceback = shown.errors().traceback().value_or("");
  }
  return report;
}

std::int64_t UserRun::first_pid() const {
  return processes_.empty() ? 0 : processes_.front()->child.pid();
}

process::Usage UserRun::usage_of_containers() const {
  process::Usage usage;
  for (const auto& process : processes_) {
    if (process->container_report.empty()) continue;
    const auto report = process::read_container_report(process->container_report);
    if (!report) continue;
    usage.memory_bytes += report->usage.memory_bytes;
    usage.cpu_seconds += report->usage.cpu_seconds;
  }
  return usage;
}

void UserRun::tell_redrawn() {
  for (const auto& process : processes_) {
    for (const auto& [pump, watch] : process->outputs) pump->tell_redrawn();
  }
}

std::uint64_t UserRun::output_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& process : processes_) {
    for (const auto& [pump, watch] : process->outputs) bytes += pump->bytes();
  }
  return bytes;
}

}  // namespace gangrun::agent
