// The common part of programs that play the agents of a job: none of them has a task to start.
#pragma once

#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "job/cluster_spec.h"
#include "net/event_loop.h"

namespace played {

[[noreturn]] inline void give_up(const std::string& reason) {
  std::fputs((reason + "\n").c_str(), stderr);
  std::_Exit(EXIT_FAILURE);
}

// Addresses of a cluster where each task has one of its own. Nobody connects to them.
inline gangrun::job::Address address_of(int index) {
  return {gangrun::base::format("10.{}.{}.7", 10 + index / 250, index % 250),
          static_cast<std::uint16_t>(30'000 + (index * 7919) % 30'000)};
}

// The descriptors by which one process hears another and is heard by it.
struct Pipes {
  int in = -1;
  int out = -1;
};

// One end of the line between two processes; a message is a line. Sending blocks.
class Line {
 public:
  Line(gangrun::net::EventLoop& loop, Pipes pipes, std::function<void(const std::string&)> on_line,
       std::function<void()> on_end)
      : pipes_(pipes),
        on_line_(std::move(on_line)),
        on_end_(std::move(on_end)),
        watch_(loop.watch_readable(pipes.in, [this] { read(); })) {}

  void send(const std::string& line) const {
    const auto sent =
        gangrun::base::write_all(pipes_.out, line + "\n", "the line between the processes");
    if (!sent.ok()) give_up(sent.error().message);
  }

 private:
  void read() {
    std::array<char, 65536> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    const ssize_t count = ::read(pipes_.in, buffer.data(), buffer.size());
    if (count <= 0) return on_end_();
    rest_.append(buffer.data(), static_cast<std::size_t>(count));
    std::size_t end = 0;
    while ((end = rest_.find('\n')) != std::string::npos) {
      const std::string line = rest_.substr(0, end);
      rest_.erase(0, end + 1);
      on_line_(line);
    }
  }

  Pipes pipes_;
  std::function<void(const std::string&)> on_line_;
  std::function<void()> on_end_;
  std::string rest_;
  gangrun::net::EventLoop::Watch watch_;
};

}  // namespace played
