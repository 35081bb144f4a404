// The limit for starting a gang on one machine: posix_spawn() N times, then wait for all. Prints
// {"started_ms": …, "done_ms": …} for one run.
#include <spawn.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: bare_loop COUNT PROGRAM [ARGUMENT…]\n", stderr);
    return 2;
  }
  const int count = std::atoi(argv[1]);
  const auto begin = std::chrono::steady_clock::now();
  const auto passed_ms = [&] {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
        .count();
  };
  std::vector<pid_t> pids(static_cast<std::size_t>(count));
  for (pid_t& pid : pids) {
    if (posix_spawnp(&pid, argv[2], nullptr, nullptr, argv + 2, environ) != 0) {
      std::perror(argv[2]);
      return 1;
    }
  }
  const double started_ms = passed_ms();
  int failures = 0;
  for (const pid_t pid : pids) {
    int status = 0;
    if (waitpid(pid, &status, 0) != pid || status != 0) ++failures;
  }
  std::printf("{\"started_ms\": %.3f, \"done_ms\": %.3f, \"failures\": %d}\n", started_ms,
              passed_ms(), failures);
  return failures == 0 ? 0 : 1;
}
