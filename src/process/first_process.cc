#include "process/first_process.h"

#include <fcntl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <map>
#include <optional>

#include "base/files.h"
#include "base/signal_status.h"
#include "base/strings.h"
#include "base/unique_fd.h"
#include "process/container_report.h"
#include "process/kill_processes.h"
#include "process/proc_fs.h"
#include "process/signal_catchers.h"
#include "process/signals.h"
#include "process/spawn.h"
#include "process/wait_for.h"

namespace gangrun::process {

namespace {

constexpr std::size_t kMaxEnvironmentBytes = std::size_t{2} << 20U;
// How often the agent learns what the container uses.
constexpr std::chrono::seconds kUsageInterval(2);
constexpr int kCannotStart = 127;

base::Result<base::UniqueFd> catch_signals() {
  const sigset_t caught = awaited_signals();
  ::pthread_sigmask(SIG_BLOCK, &caught, nullptr);
  base::UniqueFd fd(::signalfd(-1, &caught, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd.valid()) return base::from_errno(errno, "signalfd");
  return fd;
}

// As the agent does it without a container: those to end go to all, the others only to who waits
// for them.
void pass_on(const Child& child, int number, int stop, Stopping& stopping) {
  if (number == stop || !is_notice(number)) {
    if (!child.reaped()) stopping.tell({child.pid()});
    return;
  }
  if (child.reaped()) return;
  for (const pid_t pid : signal_catchers({child.pid()}, number)) (void)::kill(pid, number);
}

bool lifeline_has_ended() {
  std::array<char, 256> ignored{};
  const ssize_t got = ::read(STDIN_FILENO, ignored.data(), ignored.size());
  return got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN);
}

std::vector<pid_t> others() {
  std::vector<pid_t> found = all_processes();
  std::erase(found, ::getpid());
  return found;
}

// Whether the program has ended, and where it was told to stop also what it left, which keeps its
// time until the lifeline ends.
bool is_over(const Child& child, Stopping& stopping) {
  if (!child.reaped()) return false;
  if (!stopping.has_begun()) return true;
  const std::vector<pid_t> left = living(others());
  stopping.tell_rest(left);
  return left.empty();
}

base::Result<std::vector<std::string>> environment_from(const std::string& path) {
  GANGRUN_ASSIGN(const std::string text, base::read_file(path, kMaxEnvironmentBytes));
  (void)::unlink(path.c_str());
  return merge_environment(inherited_environment(), text);
}

base::Result<Child> start(const FirstProcess& options) {
  SpawnOptions program;
  program.argv = options.argv;
  GANGRUN_ASSIGN(program.environment, environment_from(options.environment_file));
  program.standard_output = STDOUT_FILENO;
  program.standard_error = STDERR_FILENO;
  return spawn(program);
}

// Until the program's end, or none where the lifeline ended first.
base::Result<std::optional<Exit>> watch(Child& child, int signals, const FirstProcess& options) {
  Stopping stopping(options.stop);
  base::Instant tell_at = std::chrono::steady_clock::now();
  while (true) {
    if (std::chrono::steady_clock::now() >= tell_at) {
      // Without it the agent sees no use; the program goes on.
      (void)write_container_report(options.report_file, {usage_of(others()), std::nullopt, ""});
      tell_at = std::chrono::steady_clock::now() + kUsageInterval;
    }
    if (!wait_any_readable({STDIN_FILENO, signals}, tell_at)) continue;
    signalfd_siginfo info{};
    while (::read(signals, &info, sizeof info) == ssize_t{sizeof info}) {
      const int number = static_cast<int>(info.ssi_signo);
      if (number != SIGCHLD) pass_on(child, number, options.stop.number, stopping);
    }
    reap_orphans({child.pid()});
    GANGRUN_ASSIGN(const auto ended, child.reap());
    if (is_over(child, stopping)) return ended;
    if (wait_readable(STDIN_FILENO, std::chrono::steady_clock::now()) && lifeline_has_ended()) {
      return ended;
    }
  }
}

}  // namespace

std::vector<std::string> merge_environment(const std::vector<std::string>& ours,
                                           std::string_view text) {
  std::map<std::string, std::string> merged;
  const auto add = [&merged](const std::string& variable) {
    const std::size_t equals = variable.find('=');
    if (equals != std::string::npos && equals > 0) merged[variable.substr(0, equals)] = variable;
  };
  for (const std::string& variable : ours) add(variable);
  for (const std::string& variable : base::split(text, '\0')) add(variable);
  std::vector<std::string> variables;
  variables.reserve(merged.size());
  for (auto& [name, variable] : merged) variables.push_back(std::move(variable));
  return variables;
}

base::Result<int> run_first_process(const FirstProcess& options) {
  if (::getpid() != 1) {
    return base::Error{base::Code::kFailedPrecondition,
                       "this is not the first process of a container"};
  }
  GANGRUN_ASSIGN(const base::UniqueFd signals, catch_signals());
  auto child = start(options);
  if (!child.ok()) {
    GANGRUN_TRY(write_container_report(options.report_file,
                                       {Usage{}, std::nullopt, child.error().message}));
    return kCannotStart;
  }
  GANGRUN_ASSIGN(const auto exit, watch(*child, signals.get(), options));
  if (!exit) return base::kSignalStatus + SIGKILL;
  const auto told = write_container_report(options.report_file, {Usage{}, exit, ""});
  if (!told.ok()) return told.error();
  return exit->shell_status();
}

}  // namespace gangrun::process
