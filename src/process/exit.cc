#include "process/exit.h"

#include <sys/wait.h>

#include <array>
#include <chrono>
#include <csignal>
#include <string_view>
#include <utility>

#include "base/format.h"

namespace gangrun::process {

namespace {

base::Duration duration_of(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

constexpr std::array<std::pair<int, std::string_view>, 20> kWords{{
    {SIGHUP, "hangup"},
    {SIGINT, "interrupt"},
    {SIGQUIT, "quit"},
    {SIGILL, "illegal instruction"},
    {SIGTRAP, "trap"},
    {SIGABRT, "abort"},
    {SIGBUS, "bus error"},
    {SIGFPE, "arithmetic error"},
    {SIGKILL, "kill"},
    {SIGUSR1, "user-defined signal 1"},
    {SIGSEGV, "segmentation fault"},
    {SIGUSR2, "user-defined signal 2"},
    {SIGPIPE, "broken pipe"},
    {SIGALRM, "alarm"},
    {SIGTERM, "termination request"},
    {SIGXCPU, "CPU time limit exceeded"},
    {SIGXFSZ, "file size limit exceeded"},
    {SIGSYS, "forbidden system call"},
    {SIGVTALRM, "virtual alarm"},
    {SIGPROF, "profiling alarm"},
}};

}  // namespace

std::string signal_words(int signal) {
  for (const auto& [number, words] : kWords) {
    if (number == signal) return std::string(words);
  }
  if (signal >= SIGRTMIN && signal <= SIGRTMAX) {
    return fmt::format("real-time signal {}", signal - SIGRTMIN);
  }
  return "unnamed";
}

std::string Exit::to_words() const {
  if (kind == Kind::kExited) return fmt::format("exited with status {}", code);
  return fmt::format("was killed by signal {} ({}{})", signal,
                     out_of_memory ? "out of memory" : signal_words(signal),
                     core_dumped ? ", core dumped" : "");
}

Exit exit_from_wait(int status, const rusage& usage) {
  Exit exit;
  if (WIFSIGNALED(status)) {
    exit.kind = Exit::Kind::kSignaled;
    exit.signal = WTERMSIG(status);
    exit.core_dumped = WCOREDUMP(status);
  } else {
    exit.code = WEXITSTATUS(status);
  }
  exit.user_cpu = duration_of(usage.ru_utime);
  exit.system_cpu = duration_of(usage.ru_stime);
  exit.max_rss_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024U;
  return exit;
}

}  // namespace gangrun::process
