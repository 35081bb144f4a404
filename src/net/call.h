#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/secret.h"
#include "net/channel.h"
#include "net/client.h"
#include "net/event_loop.h"
#include "net/http.h"

namespace gangrun::net {

// A server that is not ours, and who we are to it.
struct RemoteOptions {
  std::string url{};  // "https://10.0.0.1:6443"; see parse_url(); a path of it is not used
  std::string authorities_pem{};  // who must vouch for the server; empty: those of the system
  // Ours, and the key to it; empty: none is shown.
  std::string certificate_pem{};
  base::Secret key_pem{};
  std::string server_name{};  // which the server's certificate must be for; empty: the URL's host
  bool verifies_server = true;
  // "http://[user:password@]host:port" of a proxy that is asked to CONNECT; empty: none.
  base::Secret proxy{};
};

// A server with everything that its connections share. Immutable: any number of calls use one.
class Remote {
 public:
  struct State;

  // kInvalidArgument, with the field's name: a URL, certificate or key that cannot be used.
  static base::Result<std::shared_ptr<const Remote>> make(const RemoteOptions& options);

  explicit Remote(std::unique_ptr<const State> state);
  ~Remote();
  Remote(const Remote&) = delete;
  Remote& operator=(const Remote&) = delete;

  [[nodiscard]] const State& state() const { return *state_; }

 private:
  std::unique_ptr<const State> state_;
};

struct CallRequest {
  std::string method = "GET";
  std::string target = "/";  // as in the request line, encoded; see make_target()
  Headers headers;           // besides Host, Content-Length and Connection
  std::string body;
};

struct CallOptions {
  // For the connection and the answer's head; of a call() for its body too.
  base::Instant deadline;
  // The longest time of a stream() without a byte after the head; zero: any.
  base::Duration idle_limit{0};
  std::size_t max_response_bytes = std::size_t{64} * 1024 * 1024;  // of a body that is not streamed
};

// One request in the loop, on a connection of its own. `on_done` is called once, later. Any
// complete answer is a value, whatever its status. Errors name method and address without the
// query. kUnavailable: no such host, nobody listens, or the connection ended early;
// kUnauthenticated: the server is not vouched for; kDeadlineExceeded with what was waited for. A
// name is resolved on a thread, see connect_channel().
[[nodiscard]] Call call(EventLoop& loop, std::shared_ptr<const Remote> remote, CallRequest request,
                        const CallOptions& options,
                        std::function<void(base::Result<HttpResponse>)> on_done);

// A call whose body comes piece by piece for as long as the server likes. Callbacks may destroy the
// Call.
struct StreamCallbacks {
  // Optional: all of the request has been sent, and the connection is there to get an answer by.
  std::function<void()> on_sent;
  // An answer of success (2xx) begins.
  std::function<void()> on_begin;
  std::function<void(std::string_view piece)> on_piece;
  // Once, last. A value: the server ended the answer as it should, or refused it: then the whole
  // refusal; on success its body is empty. An error: as of call(); kDeadlineExceeded too where
  // nothing came for the idle limit.
  std::function<void(base::Result<HttpResponse>)> on_end;
};
[[nodiscard]] Call stream(EventLoop& loop, std::shared_ptr<const Remote> remote,
                          CallRequest request, const CallOptions& options,
                          StreamCallbacks callbacks);

// Opens a WebSocket (binary messages) with the first of the subprotocols that the server takes. A
// refusal is an error by code_of_status(), with the answer's whole body as its message.
[[nodiscard]] Call open_channel(EventLoop& loop, const std::shared_ptr<const Remote>& remote,
                                CallRequest request, std::vector<std::string> subprotocols,
                                base::Instant deadline,
                                std::function<void(base::Result<std::unique_ptr<Channel>>)> on_done,
                                ChannelOptions options = {});

}  // namespace gangrun::net
