#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "base/secret.h"
#include "job/cluster_spec.h"
#include "job/task_id.h"
#include "net/client.h"
#include "net/event_loop.h"
#include "net/workers.h"

namespace gangrun::agents {

// One call, and how long after it the same agent is called again.
inline constexpr std::chrono::seconds kCallTimeout{5};
inline constexpr std::chrono::seconds kCallAgain{1};
// So many agents are called at once: of those on a host that is lost with the old master, each
// costs a whole kCallTimeout, and the others' lease runs on.
inline constexpr int kMaxCallsAtOnce = 16;

// Tells agents of earlier masters where their master is now. An agent tries the old address for as
// long as its lease lasts, so it is called until it has a session here, or its lease is over.
class CallBack {
 public:
  struct Caller {
    base::Secret secret;  // the job's
    job::Address address;
    int attempt = 1;
  };

  CallBack(net::EventLoop& loop, base::Logger& logger,
           std::function<bool(const job::TaskId&)> is_connected, base::Duration again = kCallAgain);
  CallBack(const CallBack&) = delete;
  CallBack& operator=(const CallBack&) = delete;
  // Waits for the calls that are under way, for kCallTimeout at most.
  ~CallBack();

  void begin(Caller caller, std::map<job::TaskId, net::Endpoint> agents, base::Instant until);

  // The number of agents that are still to be called.
  [[nodiscard]] std::size_t waiting() const { return agents_.size(); }

 private:
  void call_next();
  void call(const job::TaskId& task, const net::Endpoint& agent);
  void on_answer(const job::TaskId& task, const base::Result<>& answer);
  void give_up(const job::TaskId& task, const base::Result<>& answer);

  net::EventLoop& loop_;
  base::Logger& logger_;
  const std::function<bool(const job::TaskId&)> is_connected_;
  const base::Duration again_;
  Caller caller_;
  base::Instant until_;
  std::map<job::TaskId, net::Endpoint> agents_;
  std::set<std::pair<base::Instant, job::TaskId>> due_;  // of those that are not being called
  int calls_ = 0;                                        // under way
  net::Timer timer_;
  net::Workers workers_;  // last: what it brings back uses the others
};

}  // namespace gangrun::agents
