#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/pause.h"
#include "net/event_loop.h"
#include "zookeeper/keeper.h"
#include "zookeeper/session.h"

namespace gangrun::zookeeper {

// Between a failure and the next try; doubled with each further failure to write, and with each
// further refusal, up to the second.
inline constexpr std::chrono::seconds kRetryPause(3);
inline constexpr std::chrono::seconds kMaxRetryPause(60);
// After so long without a connection there is a new session: servers that have forgotten what the
// old one has seen do not take it.
inline constexpr std::chrono::seconds kNewSessionAfter(15);

// Keeps nodes on a group of ZooKeeper servers as they are wanted, whatever happens to the servers:
// it connects again, makes what is missing, writes what is old. Nobody waits for it.
class Mirror {
 public:
  struct Options {
    Session::Options session;
    // How long the servers may be behind before that is told: a restart of theirs is not worth it.
    std::chrono::milliseconds patience = std::chrono::seconds(10);
  };

  // `on_trouble` is called in the loop with a sentence when the servers have been behind for
  // `patience`, once until they are not; with an empty one when they are not any more.
  Mirror(net::EventLoop& loop, base::Logger& logger, Options options,
         std::function<void(const std::string&)> on_trouble);
  // Ends the session, with what is still to be sent, and waits for no answer.
  ~Mirror();
  Mirror(const Mirror&) = delete;
  Mirror& operator=(const Mirror&) = delete;

  // All nodes that are wanted from now on.
  void want(std::vector<Node> nodes);
  // Why the servers are behind; empty while they are not.
  [[nodiscard]] std::string behind() const;

 private:
  void open();
  void on_state(SessionState state, const std::string& reason);
  void pump();
  void again(std::string reason, base::Duration pause = kRetryPause);
  void judge();

  net::EventLoop& loop_;
  base::Logger& logger_;
  Options options_;
  std::function<void(const std::string&)> on_trouble_;
  Keeper keeper_;
  std::string reason_;  // why there is no session
  bool is_connected_ = false;
  bool is_told_ = false;
  bool is_announced_ = false;
  bool was_settled_ = false;
  base::Pause retry_pause_{kRetryPause, kMaxRetryPause};
  base::Pause refused_pause_{kRetryPause, kMaxRetryPause};
  net::Timer reopen_;
  net::Timer retry_;
  net::Timer patience_;
  std::unique_ptr<Session> session_;
};

}  // namespace gangrun::zookeeper
