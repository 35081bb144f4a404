#include "base/exit_words.h"

#include <array>
#include <csignal>
#include <string_view>
#include <utility>

#include "base/format.h"

namespace gangrun::base {

namespace {

constexpr std::array<std::pair<int, std::string_view>, 20> kSignalWords{{
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

std::string to_words(const ProcessEnd& end) {
  if (end.signal == 0) {
    return format("exited with status {}{}", end.code, end.out_of_memory ? " (out of memory)" : "");
  }
  return format("was killed by signal {} ({}{})", end.signal,
                end.out_of_memory ? "out of memory" : signal_words(end.signal),
                end.core_dumped ? ", core dumped" : "");
}

std::string signal_words(int signal) {
  for (const auto& [number, words] : kSignalWords) {
    if (number == signal) return std::string(words);
  }
  if (signal >= SIGRTMIN && signal <= SIGRTMAX) {
    return format("real-time signal {}", signal - SIGRTMIN);
  }
  return "unnamed";
}

}  // namespace gangrun::base
