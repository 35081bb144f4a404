#include "host/ending_signals.h"

#include <csignal>

#include "base/format.h"
#include "process/signals.h"

namespace gangrun::host {

namespace {

std::vector<int> without_ignored(std::vector<int> signals) {
  std::erase_if(signals, [](int number) {
    struct sigaction current {};
    return ::sigaction(number, nullptr, &current) == 0 && current.sa_handler == SIG_IGN;
  });
  return signals;
}

}  // namespace

std::vector<int> ending_signals() { return without_ignored(process::ending_signals()); }

std::vector<int> job_signals() {
  std::vector<int> signals = ending_signals();
  const std::vector<int> notices = without_ignored(process::notice_signals());
  signals.insert(signals.end(), notices.begin(), notices.end());
  return signals;
}

std::string name_of_signal(int number) {
  switch (number) {
    case SIGINT: return "Ctrl-C";
    case SIGHUP: return "the loss of its terminal";
    default: break;
  }
  const char* const name = ::sigabbrev_np(number);
  return name == nullptr ? base::format("signal {}", number) : base::format("SIG{}", name);
}

}  // namespace gangrun::host
