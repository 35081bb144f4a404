#include "process/exit.h"

#include <sys/wait.h>

#include <chrono>

namespace gangrun::process {

namespace {

base::Duration duration_of(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

}  // namespace

base::ProcessEnd Exit::end() const {
  return {
      .code = code, .signal = signal, .out_of_memory = out_of_memory, .core_dumped = core_dumped};
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
