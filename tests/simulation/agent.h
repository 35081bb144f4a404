#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "job/cluster_spec.h"
#include "job/exit_report.h"
#include "wire/agent_side.h"

namespace gangrun::simulation {

class World;

// An agent with the user's process beside it, around the shipping side of its session. It does what
// agent/agent.cc does.
class Agent final : public wire::AgentSideOutput {
 public:
  enum class Life { kPlacing, kAlive, kDead };

  Agent(World& world, std::size_t number, const job::TaskId& task, int asked);

  void wake(const job::Address& at);
  void on_time();
  // SIGTERM to the agent.
  void end(std::int64_t grace_ms);
  void die(job::Why why);
  // Its run does, as another task is gone.
  void fail_for_want();
  // Its session may have moved its deadline.
  void arm();

  // The connection is in order, or not.
  void connect() override;
  void disconnect() override;
  void send(std::string frame) override;
  [[nodiscard]] std::size_t unsent_bytes() const override { return 0; }

  job::TaskId task;
  std::size_t number = 0;
  std::size_t index = 0;  // of its task
  int asked = 0;          // the attempt with which it was requested
  Life life = Life::kPlacing;
  job::Address address;
  bool hung = false;
  bool unkillable = false;
  bool known = true;  // to the cluster
  job::Why ended;     // once dead
  base::Instant ended_at;
  std::optional<base::Instant> link_down_until;
  std::optional<std::size_t> connection;
  int connecting = 0;  // counts the attempts; the others' answers are late
  bool running = false;
  bool attached_at_limit = false;  // its session was in order when the verdict was decided
  std::unique_ptr<wire::AgentSide> side;

 private:
  void on_start(const wire::StartMessage& message);
  void stop(std::int64_t grace_ms);
  void over();
  void leave();
  void run_begins();
  void run_ended(int run, job::ExitReport report, bool port_lost);

  World& world_;
  int run_ = 0;
  int progress_left_ = 0;
  bool disobedient_ = false;
  bool ending_ = false;
  bool has_session_ = true;
  std::optional<base::Instant> timer_at_;
};

}  // namespace gangrun::simulation
