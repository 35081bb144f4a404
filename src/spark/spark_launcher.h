#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/json.h"
#include "cluster/launcher.h"
#include "net/event_loop.h"
#include "net/posts.h"
#include "wire/join.h"

namespace gangrun::spark {

// How long the agent of a task that has joined may take to report.
inline constexpr std::chrono::seconds kFirstReport{30};
// A connection that breaks and is not made again within this is the task's end: somebody waits to
// hear of it, and an agent that lives comes back within a fraction.
inline constexpr std::chrono::milliseconds kBrokenConnection{1500};
// Tasks that a sentence names one by one.
inline constexpr std::size_t kMaxNamed = 10;

// Tasks that connect by themselves: something else starts them (Spark, in its executors), each asks
// to join, and nobody but its session tells how its agent does. Each task comes once: who comes
// second is told so.
class SparkLauncher final : public cluster::Launcher {
 public:
  // `master_host`: by which an agent reaches the master, where it does not know better.
  SparkLauncher(net::EventLoop& loop, std::string master_host);

  void on_event(std::function<void(cluster::LaunchEvent)> listener) override;
  void start(const job::TaskId& task, int attempt, cluster::Launch launch) override;
  void adopt(const job::TaskId& task, int attempt, const base::Json& handle) override;
  void release_others() override {}
  // A task that has not come is not awaited any more. One that has is reached by its session only,
  // which is told so when it opens, where this is to be at once.
  void stop(const job::TaskId& task, int attempt, std::chrono::milliseconds grace) override;
  [[nodiscard]] std::int64_t pid_here(const job::TaskId&, std::int64_t) const override { return 0; }

  wire::JoinAnswer join(const wire::JoinRequest& request);
  bool on_session_open(const job::TaskId& task) override;
  void on_session_lost(const job::TaskId& task,
                       const std::optional<std::string>& farewell) override;

 private:
  enum class State {
    kAwaited,
    kJoined,  // has its configuration; its agent has not reported
    kHere,
    kBroken,  // its connection
    kEnded,
  };
  struct Member {
    int attempt = 0;
    State state = State::kAwaited;
    bool is_stopped = false;
    base::Json agent_config;  // until it has joined
    wire::JoinRequest who;
    base::Instant broken_at;
    net::Timer limit;
  };

  void emit(cluster::LaunchEvent event) { outbox_.tell(std::move(event)); }
  void tell_waiting();
  void remark_on_loopback();
  [[nodiscard]] std::string waiting_words() const;
  void end(const job::TaskId& task, std::string detail, base::Instant at);

  net::EventLoop& loop_;
  net::Outbox<cluster::LaunchEvent> outbox_;
  const std::string master_host_;
  std::map<job::TaskId, Member> members_;
  net::Timer waiting_timer_;
  bool has_remarked_ = false;
};

// "worker:0 from executor 1 on 10.0.0.7 (attempt 0)"
std::string to_words(const wire::JoinRequest& who);

}  // namespace gangrun::spark
