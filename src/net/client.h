#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "net/channel.h"
#include "net/event_loop.h"
#include "net/handle.h"
#include "net/http.h"

namespace gangrun::net {

inline constexpr std::size_t kMaxResponseBytes = std::size_t{64} * 1024 * 1024;

// The address of a server of ours: a Unix socket, or TLS at host and port, known by its
// certificate.
struct Endpoint {
  std::string unix_path;
  std::string host;
  std::uint16_t port = 0;
  std::string fingerprint;  // of the only certificate that is accepted; see JobCertificate

  static Endpoint on_unix(std::string path) { return {std::move(path), {}, 0, {}}; }
  static Endpoint on_tls(std::string host, std::uint16_t port, std::string fingerprint) {
    return {{}, std::move(host), port, std::move(fingerprint)};
  }
  bool operator==(const Endpoint&) const = default;
};

// For people: the path, or "host:port".
std::string to_string(const Endpoint& endpoint);

class CallState {
 public:
  virtual ~CallState() = default;
  // Ends it; nothing is called back any more.
  virtual void cancel() = 0;
};
inline void end(CallState& state) { state.cancel(); }
// A request, or an attempt to connect, that is under way. Destroying it ends it at once; nothing is
// called back then.
using Call = Handle<CallState>;

// Connects and opens a channel at `path`. `on_done` is called once, later, in the loop. Errors:
// kUnavailable and kNotFound: nobody is there (a server may come up yet); kUnauthenticated: another
// certificate than the pinned one; kDeadlineExceeded, with what was waited for; an HTTP refusal by
// code_of_status(). A name is resolved on a thread, which the destructor waits for: at most about
// until `deadline`.
[[nodiscard]] Call connect_channel(
    EventLoop& loop, Endpoint endpoint, std::string path, Headers headers, base::Instant deadline,
    std::function<void(base::Result<std::unique_ptr<Channel>>)> on_done,
    ChannelOptions options = {});

// One request on a connection of its own. Blocks, never beyond `deadline` (see resolve() for
// names). Any complete answer is a value, whatever its status; error_of() turns it into an Error.
base::Result<HttpResponse> request(const Endpoint& endpoint, const HttpRequest& request,
                                   base::Instant deadline);

}  // namespace gangrun::net
