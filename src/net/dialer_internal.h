#pragma once

#include "net/asio_internal.h"
//
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "net/answer_internal.h"
#include "net/call.h"
#include "net/connector_internal.h"
#include "net/event_loop.h"
#include "net/stream_internal.h"

namespace gangrun::net {

// One attempt to get a connected stream to a Remote: TCP to it or to its proxy, the proxy's
// consent, TLS.
class Dialer : public std::enable_shared_from_this<Dialer> {
 public:
  using Done = std::function<void(base::Result<Stream>)>;

  Dialer(EventLoop& loop, std::shared_ptr<const Remote> remote, base::Instant deadline);

  // `done` is called once, later. Errors as of call().
  void start(Done done);
  // Ends the attempt; `done` is not called.
  void cancel();

 private:
  void on_connected(base::Result<Stream> stream);
  void ask_proxy();
  void read_proxy();
  void on_proxy(const ErrorCode& error, std::size_t size);
  void greet();
  void on_greeted(const ErrorCode& error);
  void finish(base::Result<Stream> result);

  EventLoop& loop_;
  const std::shared_ptr<const Remote> remote_;
  const base::Instant deadline_;
  Done done_;
  std::shared_ptr<Connector> connector_;
  std::optional<Stream> stream_;
  Timer limit_;
  std::string waits_for_;

  base::Secret wish_;  // what is said to the proxy
  AnswerReader consent_;
  std::array<char, 1024> chunk_{};
};

}  // namespace gangrun::net
