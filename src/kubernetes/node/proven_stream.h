#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "kubernetes/link_frames.h"
#include "kubernetes/proof.h"
#include "net/event_loop.h"

namespace gangrun::kubernetes::node {

// The most that waits to be sent where the other side does not read; more breaks the stream.
inline constexpr std::size_t kMaxWaitingBytes = std::size_t{16} << 20U;

// The pod's end of a stream to a port of its 127.0.0.1: a proof (kubernetes/proof.h), then frames.
class ProvenStream {
 public:
  // None of these may destroy the stream but on_over, which comes once, later, and is the last.
  struct Callbacks {
    std::function<void()> on_proven;
    std::function<void(const LinkFrame&)> on_frame;
    std::function<void()> on_drained;  // nothing waits to be sent any more; may be empty
    std::function<void(const base::Error&)> on_over;
  };

  // `socket` does not block.
  ProvenStream(net::EventLoop& loop, base::UniqueFd socket, Proof proof, Callbacks callbacks);
  ProvenStream(const ProvenStream&) = delete;
  ProvenStream& operator=(const ProvenStream&) = delete;

  // The new owner's, from on_proven on.
  void set_callbacks(Callbacks callbacks);

  // Nothing happens where it is over.
  void send(const LinkFrame& frame) { send_bytes(to_bytes(frame)); }
  [[nodiscard]] std::size_t waiting_bytes() const { return out_.size(); }
  // Ends it, as if it had broken: on_over comes with this.
  void end(base::Error why);

 private:
  void send_bytes(std::string_view bytes);
  void read();
  void take(std::string_view bytes);
  void take_frames(std::string_view bytes);
  void write();

  net::EventLoop& loop_;
  const base::UniqueFd socket_;
  Proof proof_;
  std::shared_ptr<const Callbacks> callbacks_;
  LinkReader frames_;
  std::string out_;
  bool is_over_ = false;
  net::Timer over_;
  net::Watch readable_;
  net::Watch writable_;
};

}  // namespace gangrun::kubernetes::node
