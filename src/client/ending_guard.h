#pragma once

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "client/exit_status.h"
#include "net/event_loop.h"

namespace gangrun::client {

// From the signal that ends a command until it has ended, whoever is silent.
inline constexpr std::chrono::milliseconds kGuardPatience{900};
// How much of this a command that asks others has to say itself that they are silent.
inline constexpr std::chrono::milliseconds kSilencePatience{700};

// Reads the signals of a command by a thread of its own, so that the command ends at the second
// one that asks for its end even where its other threads wait for somebody who does not answer.
class EndingGuard {
  struct Private {};

 public:
  struct Options {
    std::vector<int> signals;
    // The number of the ending signal at which the command ends: 1 where it has nothing to end in
    // order. Every later one counts likewise.
    int last = 2;
    std::chrono::milliseconds patience = kGuardPatience;
    // Whether the signals mean again what they did before once the guard goes: the command has
    // other work then. Else one that comes later only waits.
    bool gives_back = false;
    // Called for each signal: by the guard's thread, or in the loop of start_in().
    std::function<void(int)> on_signal{};
    int err = STDERR_FILENO;
    // Ends the process, without a return to whoever waits in it.
    std::function<void(int)> exit = [](int status) { ::_exit(status); };
  };

  // Before the process has other threads, which would be ended by the signals.
  static base::Result<std::unique_ptr<EndingGuard>> start(Options options);
  static base::Result<std::unique_ptr<EndingGuard>> start_in(net::EventLoop& loop, Options options);
  ~EndingGuard();
  EndingGuard(const EndingGuard&) = delete;
  EndingGuard& operator=(const EndingGuard&) = delete;

  // One sentence for where it has to end the command: whom nothing could be told, what may be
  // left and how to end it. Any thread.
  void set_words(std::string words);
  // The command is awake and ends by itself: nothing is forced until the next signal. Any thread.
  void stand_down();
  // The command has said all that it has to say: it ends with this status at the latest then,
  // whoever is still waited for.
  void end_within(std::chrono::milliseconds limit, ExitStatus status);

  EndingGuard(Private, Options options, const sigset_t& before, base::UniqueFd signals,
              base::UniqueFd wake);

 private:
  void serve();
  void on_signal(int number);
  [[nodiscard]] std::optional<base::Instant> deadline();
  void end_command();
  void wake();

  const Options options_;
  const sigset_t before_;  // which signals were blocked
  const base::UniqueFd signals_;
  const base::UniqueFd wake_;
  std::mutex mutex_;
  int seen_ = 0;
  std::optional<base::Instant> deadline_;
  std::string words_;
  int status_ = to_int(ExitStatus::kInterrupted);
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace gangrun::client
