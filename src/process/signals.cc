#include "process/signals.h"

namespace gangrun::process {

std::vector<int> ending_signals() {
  std::vector<int> signals{SIGINT,    SIGTERM, SIGHUP,  SIGQUIT, SIGABRT,   SIGALRM,
                           SIGVTALRM, SIGPROF, SIGXCPU, SIGIO,   SIGSTKFLT, SIGPWR};
  for (int number = SIGRTMIN; number <= SIGRTMAX; ++number) signals.push_back(number);
  return signals;
}

std::vector<int> notice_signals() { return {SIGUSR1, SIGUSR2}; }

bool is_notice(int number) { return number == SIGUSR1 || number == SIGUSR2; }

sigset_t awaited_signals() {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGCHLD);
  for (const auto& passed_on : {ending_signals(), notice_signals()}) {
    for (const int number : passed_on) ::sigaddset(&signals, number);
  }
  return signals;
}

void survive_lost_output() {
  for (const int number : {SIGPIPE, SIGXFSZ}) ::signal(number, SIG_IGN);
}

}  // namespace gangrun::process
