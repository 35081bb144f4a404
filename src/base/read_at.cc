#include "base/read_at.h"

#include <unistd.h>

#include <cerrno>

namespace gangrun::base {

Result<std::string> read_at(int fd, std::int64_t offset, std::size_t length,
                            std::string_view what) {
  std::string bytes(length, '\0');
  std::size_t got = 0;
  while (got < length) {
    const ssize_t count = ::pread(fd, bytes.data() + got, length - got,
                                  static_cast<off_t>(offset + static_cast<std::int64_t>(got)));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return from_errno(errno, std::string(what));
    if (count == 0) break;
    got += static_cast<std::size_t>(count);
  }
  bytes.resize(got);
  return bytes;
}

}  // namespace gangrun::base
