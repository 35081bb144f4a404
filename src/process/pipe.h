#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/result.h"
#include "base/unique_fd.h"

namespace gangrun::process {

struct Pipe {
  base::UniqueFd read;
  base::UniqueFd write;
};

// No child gets its ends but by SpawnOptions.
inline base::Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return base::from_errno(errno, "pipe2");
  return Pipe{base::UniqueFd(ends[0]), base::UniqueFd(ends[1])};
}

inline void set_non_blocking(int fd) {
  (void)::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
}

}  // namespace gangrun::process
