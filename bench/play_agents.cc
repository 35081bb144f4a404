// Plays all agents of one task type of a job whose master is elsewhere: their sessions are as they
// are shipped, and they start nothing.
//
//   play_agents HOST:PORT TYPE COUNT
//
// Standard input: the configuration of the job's agents, a line of JSON, which has the job's
// secret; and later a line `end`: the command of each task has succeeded. Standard output, each
// when it is true of all agents, with the milliseconds since the first one came, or since `end`:
//
//   attached MS   the master has answered their reports
//   started MS    they have the cluster spec and were told to start
//   ended MS      they were told to end, and have left
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/format.h"
#include "base/json.h"
#include "base/strings.h"
#include "job/cluster_spec.h"
#include "job/limits.h"
#include "net/client.h"
#include "net/event_loop.h"
#include "played.h"
#include "process/open_files.h"
#include "wire/agent_config.h"
#include "wire/agent_session.h"
#include "wire/messages.h"

namespace {

using namespace gangrun;  // NOLINT(google-build-using-namespace): a program of one file

constexpr std::chrono::minutes kLimit{10};
// On a cluster every agent has a processor of its own for its handshake; here they share one, so
// only so many are at it at once.
constexpr int kAtOnce = 64;
constexpr std::chrono::milliseconds kLook{5};
constexpr std::int64_t kAgentPid = 4100;
constexpr std::int64_t kUserPid = 4101;

// One agent. It holds no port, and its command runs until it is told that it has succeeded.
class PlayedAgent {
 public:
  PlayedAgent(net::EventLoop& loop, net::Endpoint master, const wire::AgentConfig& config,
              job::TaskId task)
      : loop_(loop),
        session_(loop, std::move(master), config.secret,
                 {.task = task, .address = played::address_of(task.index), .pid = kAgentPid},
                 callbacks()) {
    session_.open();
  }

  [[nodiscard]] bool is_attached() const { return session_.is_attached(); }
  [[nodiscard]] bool has_started() const { return has_started_; }
  [[nodiscard]] bool has_left() const { return has_left_; }

  void succeed() { session_.exited({.success = true}, loop_.now()); }

 private:
  wire::AgentSessionCallbacks callbacks() {
    wire::AgentSessionCallbacks callbacks;
    callbacks.on_start = [this](const wire::StartMessage&) {
      session_.started(kUserPid);
      has_started_ = true;
    };
    callbacks.on_stop = [](std::chrono::milliseconds) { played::give_up("a task is stopped"); };
    callbacks.on_end = [this](std::chrono::milliseconds) {
      if (session_.state() == wire::AgentState::kRunning) {
        played::give_up("a task is ended while it runs");
      }
      session_.finish([this] { has_left_ = true; });
    };
    callbacks.on_heartbeat = [] { return wire::HeartbeatMessage{}; };
    callbacks.on_outdated_spec = [] { played::give_up("a start has another address"); };
    callbacks.on_lost = [](const std::string& why) { played::give_up("lost: " + why); };
    callbacks.on_refused = [](const std::string& why) { played::give_up("refused: " + why); };
    return callbacks;
  }

  net::EventLoop& loop_;
  bool has_started_ = false;
  bool has_left_ = false;
  wire::AgentSession session_;
};

class Agents {
 public:
  Agents(job::Address master, std::string type, int count)
      : master_(std::move(master)),
        type_(std::move(type)),
        count_(count),
        line_(
            loop_, {STDIN_FILENO, STDOUT_FILENO},
            [this](const std::string& line) { on_line(line); },
            [this] {
              if (!all(&PlayedAgent::has_left)) played::give_up("nobody wants the agents any more");
            }) {}

  void run() {
    wait_for(&PlayedAgent::is_attached, "attached");
    wait_for(&PlayedAgent::has_started, "started");
    wait_for(&PlayedAgent::has_left, "ended");
  }

 private:
  using Fact = bool (PlayedAgent::*)() const;

  void on_line(const std::string& line) {
    if (config_ != nullptr) return end();
    const auto json = base::parse_json(line, wire::kMaxAgentConfigBytes);
    if (!json.ok()) played::give_up(json.error().message);
    auto config = base::from_json<wire::AgentConfig>(*json);
    if (!config.ok()) played::give_up(config.error().message);
    config_ = std::make_unique<wire::AgentConfig>(*std::move(config));
    began_ = loop_.now();
    open_more();
  }

  void end() {
    if (!all(&PlayedAgent::has_started)) played::give_up("not all agents have started");
    began_ = loop_.now();
    for (const auto& agent : agents_) agent->succeed();
  }

  void open_more() {
    while (attached_ < agents_.size() && agents_[attached_]->is_attached()) ++attached_;
    const auto until = std::min(static_cast<std::size_t>(count_), attached_ + kAtOnce);
    while (agents_.size() < until) {
      const job::TaskId task{type_, static_cast<int>(agents_.size())};
      agents_.push_back(std::make_unique<PlayedAgent>(
          loop_, net::Endpoint::on_tls(master_.host, master_.port, config_->fingerprint), *config_,
          task));
    }
    if (std::cmp_less(until, count_)) timer_ = loop_.after(kLook, [this] { open_more(); });
  }

  [[nodiscard]] bool all(Fact fact) const {
    if (!std::cmp_equal(agents_.size(), count_)) return false;
    for (const auto& agent : agents_) {
      if (!(agent.get()->*fact)()) return false;
    }
    return true;
  }

  void wait_for(Fact fact, const char* word) {
    if (!loop_.run_until([this, fact] { return all(fact); }, loop_.now() + kLimit)) {
      played::give_up(base::format("not all of {} agents have {} in time", count_, word));
    }
    const auto taken = std::chrono::duration<double, std::milli>(loop_.now() - began_);
    line_.send(base::format("{} {:.1f}", word, taken.count()));
  }

  const job::Address master_;
  const std::string type_;
  const int count_;
  std::size_t attached_ = 0;  // of the first ones
  base::Instant began_;
  net::EventLoop loop_;
  played::Line line_;
  std::unique_ptr<wire::AgentConfig> config_;
  std::vector<std::unique_ptr<PlayedAgent>> agents_;
  net::EventLoop::Timer timer_;
};

}  // namespace

int main(int argc, char** argv) {
  process::raise_open_file_limit();
  const auto count = argc == 4 ? base::parse_integer(argv[3]) : std::nullopt;
  const bool is_used_well = count && *count >= 1 && *count <= job::kMaxTasks;
  const auto master = is_used_well ? job::parse_address(argv[1]) : job::parse_address("");
  if (!is_used_well || !master.ok()) {
    std::fputs("usage: play_agents HOST:PORT TYPE COUNT\n", stderr);
    return 2;
  }
  Agents(*master, argv[2], static_cast<int>(*count)).run();
  return EXIT_SUCCESS;
}
