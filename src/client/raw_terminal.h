#pragma once

#include <sys/types.h>
#include <termios.h>

#include <memory>

#include "base/result.h"
#include "base/unique_fd.h"

namespace gangrun::client {

// The user's terminal while a program elsewhere uses it: each key goes on as it is, Ctrl-C too. The
// destructor makes it again as it was; if this process is killed before, another one does.
class RawTerminal {
  struct Private {};

 public:
  static base::Result<std::unique_ptr<RawTerminal>> enter(int terminal);
  RawTerminal(Private, int terminal, const termios& before)
      : terminal_(terminal), before_(before) {}
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;
  ~RawTerminal();

 private:
  base::Result<> start_keeper();
  [[noreturn]] void keep(int alive) const;

  const int terminal_;
  const termios before_;
  pid_t keeper_ = -1;
  base::UniqueFd alive_;  // the keeper sees its end
};

}  // namespace gangrun::client
