#include "client/raw_terminal.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <utility>

#include "process/pipe.h"
#include "process/proc_fs.h"

namespace gangrun::client {

base::Result<std::unique_ptr<RawTerminal>> RawTerminal::enter(int terminal) {
  termios before{};
  if (::tcgetattr(terminal, &before) != 0) return base::from_errno(errno, "the terminal");
  auto entered = std::make_unique<RawTerminal>(Private{}, terminal, before);
  GANGRUN_TRY(entered->start_keeper());
  termios raw = before;
  ::cfmakeraw(&raw);
  if (::tcsetattr(terminal, TCSADRAIN, &raw) != 0) return base::from_errno(errno, "the terminal");
  return entered;
}

base::Result<> RawTerminal::start_keeper() {
  GANGRUN_ASSIGN(process::Pipe pipe, process::make_pipe());
  const pid_t child = ::fork();
  if (child < 0) return base::from_errno(errno, "fork");
  if (child == 0) keep(pipe.read.get());
  keeper_ = child;
  alive_ = std::move(pipe.write);
  return {};
}

// Forked where there may be threads: nothing here allocates or locks. A process in the background
// may change the terminal where it ignores the signal for that.
void RawTerminal::keep(int alive) const {
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_IGN);
  const int first = std::min(alive, terminal_);
  const int second = std::max(alive, terminal_);
  process::close_descriptors(0, first - 1);
  process::close_descriptors(first + 1, second - 1);
  process::close_descriptors(second + 1, INT_MAX);
  char byte = 0;
  ssize_t got = -1;
  do {
    got = ::read(alive, &byte, 1);
  } while (got < 0 && errno == EINTR);
  if (got == 0) (void)::tcsetattr(terminal_, TCSANOW, &before_);
  ::_exit(0);
}

RawTerminal::~RawTerminal() {
  if (keeper_ < 0) return;
  // Text that it still has to show is shown as it was meant.
  (void)::tcsetattr(terminal_, TCSADRAIN, &before_);
  (void)!::write(alive_.get(), "x", 1);
  alive_.reset();
  while (::waitpid(keeper_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace gangrun::client
