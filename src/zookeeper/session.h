#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/secret.h"
#include "net/event_loop.h"
#include "zookeeper/login.h"
#include "zookeeper/node.h"

namespace gangrun::zookeeper {

struct ServerAddress {
  std::string host;  // a name, or an address without brackets
  std::string port;

  friend bool operator==(const ServerAddress&, const ServerAddress&) = default;
};

// "host", "host:2181", "[fd00::5]:2181", "[fd00::5]"; without a port ZooKeeper's own.
ServerAddress parse_server(const std::string& text);

// "host:port", an IPv6 address in brackets.
std::string to_string(const ServerAddress& server);

enum class SessionState {
  kConnecting,  // also again, after a connection that was lost, and after each try that failed
  kConnected,
  kExpired,  // for good: the servers have removed its ephemeral nodes
  kRefused,  // for good: they do not take the credentials or the login, or want another one
};

// TLS to the servers: who vouches for them, and what they are shown (all PEM; empty: those of the
// system, and nothing).
struct Tls {
  std::string authorities_pem{};
  std::string certificate_pem{};
  base::Secret key_pem{};
};

// One session with a group of ZooKeeper servers, which looks for another of them by itself when it
// loses one. All of it is in the loop.
class Session {
  struct Private {};
  class Impl;

 public:
  struct Options {
    std::vector<std::string> servers;  // "host" or "host:port"
    // Asked for; the servers have limits of their own.
    std::chrono::milliseconds timeout = std::chrono::seconds(30);
    base::Secret credentials{};  // "user:password"
    std::vector<Administrator> administrators{};
    std::optional<Tls> tls{};  // none: in the clear
    LoginStart login{};        // done again on each connection; none: no login by SASL
  };
  // With a sentence for people that says why it is not connected, where that is known.
  using OnState = std::function<void(SessionState, const std::string&)>;

  // Begins to connect and does not wait for it; `on_state` is called later. The loop outlives the
  // session. kInvalidArgument: no server, an invalid one, or TLS
  // that cannot be used.
  static base::Result<std::unique_ptr<Session>> open(net::EventLoop& loop, const Options& options,
                                                     OnState on_state);
  Session(Private, std::unique_ptr<Impl> impl);  // for open()
  // Ends the session where it is connected, after what was sent; waits for no answer.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // While connected. `done` comes exactly once, later, unless the session goes before.
  void send(const Operation& operation, std::function<void(ServerAnswer)> done);

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace gangrun::zookeeper
