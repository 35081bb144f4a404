#include "base/random.h"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "base/check.h"
#include "base/format.h"
#include "base/unique_fd.h"

namespace gangrun::base {

void fill_random(std::span<std::byte> bytes) {
  UniqueFd device;  // opened where the kernel has no getrandom(), before Linux 3.17
  while (!bytes.empty()) {
    const ssize_t got = device.valid() ? ::read(device.get(), bytes.data(), bytes.size())
                                       : ::getrandom(bytes.data(), bytes.size(), 0);
    if (got > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(got));
    } else if (got < 0 && errno == EINTR) {
      continue;
    } else {
      const int error = errno;
      GANGRUN_CHECK(!device.valid(), error);
      device = UniqueFd(::open("/dev/urandom", O_RDONLY | O_CLOEXEC));
      GANGRUN_CHECK(device.valid(), error);
    }
  }
}

std::string name_until_whole() {
  return format(".gangrun-{:016x}", random_number<std::uint64_t>());
}

}  // namespace gangrun::base
