#include "cli/ending_signals.h"

#include <csignal>

namespace gangrun::cli {

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

}  // namespace gangrun::cli
