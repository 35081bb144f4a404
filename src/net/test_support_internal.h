#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <thread>

#include "base/test_folder.h"
#include "base/unique_fd.h"
#include "net/address_internal.h"
#include "net/event_loop.h"

namespace gangrun::net {

// Far beyond what any step of a test takes; reached only when something never happens.
inline constexpr base::Duration kTestLimit = base::seconds(20);

inline base::Instant test_deadline() { return std::chrono::steady_clock::now() + kTestLimit; }

using base::TestFolder;

// Runs `work`, which may block, on a thread while the loop runs; returns when it has returned.
inline void run_beside(EventLoop& loop, const std::function<void()>& work) {
  std::thread thread([&] {
    work();
    loop.stop();
  });
  loop.run();
  thread.join();
}

// A plain blocking socket, to say what no client of ours says.
class RawClient {
 public:
  explicit RawClient(const SocketAddress& address)
      : fd_(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    EXPECT_EQ(::connect(fd_.get(), address.get(), address.size), 0);
  }

  // From an address of this machine.
  RawClient(const SocketAddress& address, const SocketAddress& own)
      : fd_(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    EXPECT_EQ(::bind(fd_.get(), own.get(), own.size), 0);
    EXPECT_EQ(::connect(fd_.get(), address.get(), address.size), 0);
  }

  void write(std::string_view text) const {
    EXPECT_EQ(::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }

  // All until the other side closes, or until `wanted` has been seen.
  std::string read_until(std::string_view wanted = {}) {
    std::string all;
    char buffer[4096];
    pollfd ready{fd_.get(), POLLIN, 0};
    while (wanted.empty() || all.find(wanted) == std::string::npos) {
      const bool readable =
          ::poll(&ready, 1, static_cast<int>(kTestLimit / base::milliseconds(1))) == 1;
      EXPECT_TRUE(readable) << "nothing came after: " << all;
      if (!readable) break;
      const ssize_t size = ::recv(fd_.get(), buffer, sizeof buffer, 0);
      if (size <= 0) break;
      all.append(buffer, static_cast<std::size_t>(size));
    }
    return all;
  }

  [[nodiscard]] int fd() const { return fd_.get(); }
  void close() { fd_.reset(); }

 private:
  base::UniqueFd fd_;
};

}  // namespace gangrun::net
