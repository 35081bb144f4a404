#include "process/pseudo_terminal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include <array>
#include <cerrno>

namespace gangrun::process {

base::Result<PseudoTerminal> open_pseudo_terminal(int rows, int columns) {
  PseudoTerminal terminal;
  terminal.ours.reset(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
  if (!terminal.ours.valid()) return base::from_errno(errno, "cannot make a terminal");
  const int ours = terminal.ours.get();
  std::array<char, 64> name{};
  if (::grantpt(ours) != 0 || ::unlockpt(ours) != 0 ||
      ::ptsname_r(ours, name.data(), name.size()) != 0) {
    return base::from_errno(errno, "cannot make a terminal");
  }
  terminal.theirs.reset(::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!terminal.theirs.valid()) return base::from_errno(errno, name.data());
  set_window(ours, rows, columns);
  return terminal;
}

void set_window(int terminal, int rows, int columns) {
  winsize size{};
  size.ws_row = static_cast<unsigned short>(rows);
  size.ws_col = static_cast<unsigned short>(columns);
  (void)::ioctl(terminal, TIOCSWINSZ, &size);
}

}  // namespace gangrun::process
