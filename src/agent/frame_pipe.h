#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "net/event_loop.h"
#include "net/frames.h"

namespace gangrun::agent {

// Messages to and from another process of ours, by two pipes, each behind its length
// (net/frames.h). Never blocks.
class FramePipe {
 public:
  struct Callbacks {
    // May not destroy the pipe.
    std::function<void(std::string_view frame)> on_frame;
    // Called once: nothing comes any more, or why not. Nothing is sent from then on.
    std::function<void(base::Result<>)> on_end;
  };

  FramePipe(net::EventLoop& loop, base::UniqueFd in, base::UniqueFd out, Callbacks callbacks);
  FramePipe(const FramePipe&) = delete;
  FramePipe& operator=(const FramePipe&) = delete;

  void send(std::string_view frame);
  // Bytes that the other side has not taken.
  [[nodiscard]] std::size_t queued() const { return out_bytes_.size(); }
  // The other side reads the end, and everything before it is dropped that it has not taken.
  void close_out();
  // Called once all that was sent until now has been taken, or cannot be.
  void when_sent(std::function<void()> callback);

 private:
  void on_readable();
  void write();
  void end(base::Result<> how);

  net::EventLoop& loop_;
  base::UniqueFd in_;
  base::UniqueFd out_;
  Callbacks callbacks_;
  net::FrameReader reader_;
  std::string out_bytes_;
  std::function<void()> when_sent_;
  bool has_ended_ = false;
  net::Watch readable_;
  net::Watch writable_;
};

}  // namespace gangrun::agent
