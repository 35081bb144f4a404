#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/channel.h"
#include "net/event_loop.h"
#include "net/tunnel_flow.h"
#include "wire/exec_frames.h"

namespace gangrun::client {

// The user's side of a command beside a task: carries three descriptors to and from it. Never
// blocks for longer than a terminal takes what it is given.
class ExecSession {
 public:
  struct Files {
    int in = 0;
    int out = 1;
    int err = 2;
  };

  // `on_end` is called once, from the loop: with the command's end, or why none is known.
  ExecSession(net::EventLoop& loop, Files files, std::unique_ptr<net::Channel> channel,
              const wire::ExecBegin& begin,
              std::function<void(base::Result<wire::ExecExit>)> on_end);
  ExecSession(const ExecSession&) = delete;
  ExecSession& operator=(const ExecSession&) = delete;

  void signal(int number);
  void set_window(const wire::ExecWindow& window);

 private:
  struct Output {
    int fd;
    wire::ExecStream which;
    net::TunnelFlow flow{};
    std::string bytes{};  // that it has not taken
    bool is_broken = false;
    net::Watch writable{};
  };

  void on_message(std::string_view message);
  base::Result<> on_frame(std::string_view message);
  base::Result<> on_flow(const wire::ExecFlow& flow);
  void on_exit(const wire::ExecExit& exit);
  void read_on();
  void on_readable();
  void write_on(Output& output);
  void write(Output& output);
  void tell_taken(Output& output, std::size_t bytes);
  void look_for_end();
  void end(base::Result<wire::ExecExit> how);

  net::EventLoop& loop_;
  const Files files_;
  std::unique_ptr<net::Channel> channel_;
  const bool has_terminal_;
  std::function<void(base::Result<wire::ExecExit>)> on_end_;
  Output out_;
  Output err_;
  bool input_is_over_ = false;
  std::string buffer_;
  std::optional<wire::ExecExit> exit_;
  net::Watch readable_;
  net::Timer end_timer_;
};

}  // namespace gangrun::client
