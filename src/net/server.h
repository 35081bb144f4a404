#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "net/certificate.h"
#include "net/channel.h"
#include "net/event_loop.h"
#include "net/http.h"
#include "net/strangers.h"

namespace gangrun::net {

class HttpConnection;

// The one answer that a request waits for, now or later (a long poll). Dropped unanswered it is a
// 500. It may outlive the server and the connection; then answering does nothing.
class Responder {
 public:
  explicit Responder(std::weak_ptr<HttpConnection> connection);
  Responder(Responder&&) noexcept = default;
  Responder& operator=(Responder&& other) noexcept;
  ~Responder();

  void answer(const HttpResponse& response);
  // Whether nobody waits any more: answered, or the client has gone.
  [[nodiscard]] bool closed() const;
  // Called in the loop when the client goes before the answer. Setting it replaces the former one.
  void on_gone(std::function<void()> callback);

 private:
  std::weak_ptr<HttpConnection> connection_;
};

struct ServerOptions {
  std::size_t max_connections = 20'000;  // requests and channels together; more are turned away
  // The most of those by IP that have not been admitted yet: at most so many, half of the
  // connections, and a quarter of this process's descriptors; half of these from one source. Some
  // more of a source that has its half wait for their turn, without a handshake.
  std::size_t max_strangers = 1024;
  base::Duration strangers_patience = Strangers::kPatience;  // then one may give way to another
  std::size_t max_header_bytes = std::size_t{32} * 1024;
  std::size_t max_body_bytes = std::size_t{8} * 1024 * 1024;
  base::Duration header_timeout = base::seconds(20);  // TLS handshake and header
  base::Duration body_timeout = base::seconds(60);
  base::Duration idle_timeout = base::seconds(60);   // between two requests of a connection
  base::Duration write_timeout = base::seconds(60);  // to take the whole answer
  ChannelOptions channel;
};

// HTTP/1.1 and WebSocket on any number of sockets. Destroying it closes the sockets and the
// connections that are still HTTP; channels belong to who took them.
class Server {
 public:
  class Core;
  using Refuse = std::function<std::optional<HttpResponse>(const HttpRequest&)>;
  using RefusePeer = std::function<std::optional<HttpResponse>(const Peer&)>;
  using TellOfCrowd =
      std::function<void(std::size_t all, std::size_t of_source, const std::string& source)>;
  // Those of on_…(), where they are set.
  struct Hooks {
    RefusePeer arrival;
    Refuse admission;
    std::function<bool(const Peer&)> half_closed;
    TellOfCrowd crowd;
    std::function<void(HttpRequest, Responder)> request;
    Refuse channel_request;
    std::function<void(HttpRequest, std::unique_ptr<Channel>)> channel;
  };

  explicit Server(EventLoop& loop, ServerOptions options = {});
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  // A socket that only this user can open (0600), at a path of any length. kAlreadyExists when
  // something is there; nothing is replaced. Removed again by the destructor, if it is still ours.
  base::Result<> listen_unix(const std::string& path);

  // TLS 1.3 on a numeric address ("0.0.0.0", "::", "10.0.0.7"); port 0 takes a free one. The port.
  base::Result<std::uint16_t> listen_tls(const std::string& address, std::uint16_t port,
                                         const JobCertificate& certificate);

  // Without encryption, on 127.0.0.1 only: for programs of this machine that speak nothing else.
  base::Result<std::uint16_t> listen_loopback(std::uint16_t port);

  // Without encryption, on a numeric address: for pages that everybody may see, or whose users
  // others have checked.
  base::Result<std::uint16_t> listen_plain(const std::string& address, std::uint16_t port);

  // Asked as soon as a connection without encryption by IP is there, before it takes any place: an
  // answer refuses it, whatever it wants. Without one, none is refused.
  void on_arrival(RefusePeer callback) { hooks_->arrival = std::move(callback); }
  // Asked as soon as the head of a request is there: an answer refuses it and ends the connection,
  // whose body is not kept; none admits it. Without one, every head admits its connection.
  void on_admission(Refuse callback) { hooks_->admission = std::move(callback); }
  // Asked where a client has ended its side of the connection before it has its answer, and again
  // while it has none: whether it still waits. Without one, such a client has gone.
  void on_half_closed(std::function<bool(const Peer&)> callback) {
    hooks_->half_closed = std::move(callback);
  }
  // Told once, when connections that have not been admitted are turned away or closed because there
  // are too many: how many there are, how many of one source, and that.
  void on_crowd(TellOfCrowd callback) { hooks_->crowd = std::move(callback); }
  // Without one, every request is a 404.
  void on_request(std::function<void(HttpRequest, Responder)> callback) {
    hooks_->request = std::move(callback);
  }
  // Asked when a client wants a channel: an answer refuses it, none accepts. Without one, and with
  // on_channel set, all are accepted.
  void on_channel_request(Refuse callback) { hooks_->channel_request = std::move(callback); }
  // The channel, open. Its request is the one that was accepted.
  void on_channel(std::function<void(HttpRequest, std::unique_ptr<Channel>)> callback) {
    hooks_->channel = std::move(callback);
  }

  // HTTP connections and channels that are open now.
  [[nodiscard]] std::size_t connections() const;

 private:
  std::shared_ptr<Core> core_;
  Hooks* hooks_;  // of the core
};

}  // namespace gangrun::net
