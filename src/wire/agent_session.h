#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/secret.h"
#include "job/cluster_spec.h"
#include "job/exit_report.h"
#include "net/channel.h"
#include "net/client.h"
#include "net/deadline_timer.h"
#include "net/event_loop.h"
#include "wire/agent_side.h"

namespace gangrun::wire {

// The agent's side of its session on a connection of net/. Calls back from the loop.
class AgentSession final : private AgentSideOutput {
 public:
  AgentSession(net::EventLoop& loop, net::Endpoint endpoint, base::Secret secret,
               AgentIdentity identity, AgentSessionCallbacks callbacks);
  AgentSession(const AgentSession&) = delete;
  AgentSession& operator=(const AgentSession&) = delete;
  ~AgentSession() override;

  void open();
  // The master is there now, by its own word: connects at once, unless there is a connection to
  // that place already or one is being made. Only after open().
  void set_endpoint(net::Endpoint endpoint);

  // The run that on_start() asked for.
  void started(std::int64_t user_pid);
  // `ended_at`: when its processes had ended.
  void exited(job::ExitReport report, base::Instant ended_at);
  // The held port is somebody else's. A start that has not led to started() is off by that.
  void port_lost();
  // Other ports are held; only while nothing runs.
  void set_address(const job::Address& address, std::vector<std::uint16_t> more_ports = {});
  // One line of the task's output, without its end.
  void log(Stream stream, std::string_view line);
  // Lines are not in the log file, and why; told in its place among the lines, and once more in
  // each new session. `lost`: so many of all runs; 0: not counted yet.
  void incomplete_log(std::string_view why, std::uint64_t lost);
  // Asks the master for the present run; not sent, and never answered, where no session is open.
  void rendezvous(RendezvousMessage message);
  // The figures of the present run; not sent where no session is open.
  void figures(job::Figures figures) { side_.figures(std::move(figures)); }
  // A question to the master, and the answer to one of its own; not sent where no session is open.
  void ask(const AskMessage& message) { side_.ask(message); }
  void answer(const AnswerMessage& message) { side_.answer(message); }
  // The last call: sends what is queued, says farewell (and why, if that is not empty), then calls
  // `done` (within net::kCloseTimeout, from the loop).
  void finish(std::function<void()> done, std::string_view why = {});

  // Whether the master has answered this session's report.
  [[nodiscard]] bool is_attached() const { return side_.is_attached(); }
  [[nodiscard]] AgentState state() const { return side_.state(); }

 private:
  void connect() override;
  void disconnect() override;
  void send(std::string frame) override;
  [[nodiscard]] std::size_t unsent_bytes() const override;
  void on_connected(base::Result<std::unique_ptr<net::Channel>> channel);
  void wait_for_time();

  net::EventLoop& loop_;
  net::Endpoint endpoint_;
  const base::Secret secret_;
  AgentSide side_;
  // At most one of the two.
  net::Call connecting_;
  std::unique_ptr<net::Channel> channel_;
  net::DeadlineTimer timer_;
  net::Timer done_timer_;
};

}  // namespace gangrun::wire
