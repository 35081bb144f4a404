#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/secret.h"
#include "job/cluster_spec.h"
#include "kubernetes/client.h"
#include "kubernetes/pods/proven_tunnel.h"
#include "net/event_loop.h"

namespace gangrun::kubernetes::pods {

// So many agents are told at once.
inline constexpr std::size_t kMaxHintsAtOnce = 16;
// Before an agent that does not listen yet is tried again (try_pause.h).
inline constexpr base::Duration kHintTryPause = base::milliseconds(100);
// Before one that was told is told again: it may have had a reason to look elsewhere since.
inline constexpr base::Duration kHintAgain = base::seconds(1);

// Tells agents in pods where they reach their master: those that were made before the relay had an
// address, and those whose relay is gone. Each listens on one of some ports of its pod's 127.0.0.1
// (kubernetes/node/hint_door.h), and is told until its owner says that it has a session. On a
// node's network another agent of the job may answer at a port of its own: it knows what it is
// told.
class AgentHints {
 public:
  struct Options {
    std::string name_space;
    base::Secret secret;  // the job's
    int attempt = 1;      // the master's
  };

  AgentHints(net::EventLoop& loop, kubernetes::Client& client, base::Logger& logger,
             Options options);
  AgentHints(const AgentHints&) = delete;
  AgentHints& operator=(const AgentHints&) = delete;
  ~AgentHints();

  // The address that is told from now on, also to those that know another one. Before the first
  // one nobody is told anything.
  void set_address(job::Address address);
  // The pod, which has a node, is told at one of these ports after the other until forget(); or
  // `until`, and then a warning says why.
  void tell(const std::string& pod, std::vector<std::uint16_t> ports, base::Instant until);
  // It has a session, or has gone. Others change nothing.
  void forget(const std::string& pod);
  // The number of agents that are still to be told.
  [[nodiscard]] std::size_t waiting() const { return agents_.size(); }

 private:
  struct Agent {
    std::vector<std::uint16_t> ports;
    std::size_t next_port = 0;  // of them
    base::Instant tried_since;
    base::Instant until;
    base::Instant due;                     // while it is not being told
    bool is_told = false;                  // of the address of now
    std::unique_ptr<ProvenTunnel> tunnel;  // while it is being told
    net::Timer limit;                      // of that
  };

  void plan(const std::string& pod, Agent& agent, base::Instant due);
  void end_call(Agent& agent);
  void call_next();
  void call(const std::string& pod);
  void on_proven(const std::string& pod);
  void on_frame(const std::string& pod, const LinkFrame& frame);
  void on_over(const std::string& pod, const base::Error& why);

  net::EventLoop& loop_;
  kubernetes::Client& client_;
  base::Logger& logger_;
  const Options options_;
  std::optional<job::Address> address_;
  std::map<std::string, Agent> agents_;
  std::set<std::pair<base::Instant, std::string>> due_;  // of those that are not being told
  std::size_t calls_ = 0;                                // under way
  net::Timer timer_;
};

}  // namespace gangrun::kubernetes::pods
