#include "process/exit.h"

#include <sys/wait.h>

namespace gangrun::process {

base::ProcessEnd Exit::end() const {
  return {
      .code = code, .signal = signal, .out_of_memory = out_of_memory, .core_dumped = core_dumped};
}

Exit exit_from_wait(int status) {
  Exit exit;
  if (WIFSIGNALED(status)) {
    exit.signal = WTERMSIG(status);
    exit.core_dumped = WCOREDUMP(status);
  } else {
    exit.code = WEXITSTATUS(status);
  }
  return exit;
}

}  // namespace gangrun::process
