#include "process/signals.h"

#include <csignal>

namespace gangrun::process {

std::vector<int> ending_signals() {
  std::vector<int> signals{SIGINT,    SIGTERM, SIGHUP,  SIGQUIT, SIGABRT,   SIGALRM,
                           SIGVTALRM, SIGPROF, SIGXCPU, SIGIO,   SIGSTKFLT, SIGPWR};
  for (int number = SIGRTMIN; number <= SIGRTMAX; ++number) signals.push_back(number);
  return signals;
}

std::vector<int> notice_signals() { return {SIGUSR1, SIGUSR2}; }

bool is_notice(int number) { return number == SIGUSR1 || number == SIGUSR2; }

void survive_lost_output() {
  for (const int number : {SIGPIPE, SIGXFSZ}) ::signal(number, SIG_IGN);
}

}  // namespace gangrun::process
