#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/secret.h"
#include "net/event_loop.h"
#include "zookeeper/node.h"

namespace gangrun::zookeeper {

enum class SessionState {
  kConnecting,  // also again, after a connection that was lost
  kConnected,
  kExpired,  // for good: the servers have removed its ephemeral nodes
  kRefused,  // for good: they do not take the credentials
};

// One session with a group of ZooKeeper servers, which looks for another of them by itself when it
// loses one. The threads of ZooKeeper's client only post to the loop: callbacks and all else are
// the loop's. The client's own log goes nowhere.
class Session {
  struct Private {};
  struct Impl;

 public:
  struct Options {
    // "address:port", numeric: nothing is looked up here.
    std::vector<std::string> servers;
    // Asked for; the servers have limits of their own.
    std::chrono::milliseconds timeout = std::chrono::seconds(30);
    base::Secret credentials{};  // "user:password"
    std::vector<Administrator> administrators{};
  };

  // Begins to connect and does not wait for it. The loop outlives the session.
  static base::Result<std::unique_ptr<Session>> open(net::EventLoop& loop, const Options& options,
                                                     std::function<void(SessionState)> on_state);
  Session(Private, std::unique_ptr<Impl> impl);  // for open()
  // Ends the session where it is connected, after what was sent; waits for no answer.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // While connected. `done` comes exactly once unless the session goes before.
  void send(const Operation& operation, std::function<void(Answer)> done);

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace gangrun::zookeeper
