#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gang/gang.h"
#include "simulation/random.h"
#include "simulation/schedule.h"

namespace gangrun::simulation {

// One agent of the model, with the user's process beside it.
struct Agent {
  enum class Life { kPlacing, kAlive, kDead };

  job::TaskId task;
  std::size_t index = 0;  // of its task in the gang
  int asked = 0;          // the attempt with which it was asked for
  Life life = Life::kPlacing;
  job::Address address;
  bool hung = false;
  bool unkillable = false;
  bool reachable = true;  // by the cluster
  // The session. Messages of an older session than the current one do not arrive.
  bool connected = false;
  int session = 0;
  base::Instant last_arrival;  // sessions keep the order of messages
  base::Instant last_departure;
  std::deque<gang::Event> outbox;  // sent, not known to have arrived
  // The user's process.
  int run = 0;  // the attempt of its latest run; 0: none yet
  bool running = false;
  bool disobedient = false;
  bool ending = false;
  int generation = 0;
};

// What was handled, and when: enough to replay the job.
struct Record {
  gang::Event event;
  base::Instant at;
};

// A virtual clock, a cluster and its agents around the shipping state machine. What the gang
// decides is done late, badly or not at all; whatever it must never do is noticed.
class World {
 public:
  World(Schedule schedule, Random random, bool verbose);
  // Runs the job to its end and a little further. Returns what was violated; empty: nothing.
  std::vector<std::string> run();
  [[nodiscard]] const std::vector<Record>& records() const { return records_; }
  [[nodiscard]] job::JobState state() const { return gang_.state(); }

 private:
  struct Pending {
    base::Instant at;
    std::uint64_t number = 0;
    std::function<void()> action;
    bool operator>(const Pending& other) const {
      return std::pair(at, number) > std::pair(other.at, other.number);
    }
  };

  // world.cc: time, the master, the cluster
  void later(std::int64_t delay_ms, std::function<void()> action);
  void later_at(base::Instant at, std::function<void()> action);
  bool advance();
  void handle(const gang::Event& event);
  void maybe_again(const gang::Event& event);
  void replace_master();
  void plan_trouble();
  void obey(const gang::Allocate& decision);
  void obey(const gang::Publish& decision);
  void obey(const gang::Start& decision);
  void obey(const gang::Stop& decision);
  void obey(const gang::End& decision);
  void obey(const gang::Kill& decision);
  void obey(const gang::Warn& decision);
  void obey(const gang::Finish& decision);
  void placed(std::size_t agent, const gang::Allocate& asked);
  Agent* find(const job::TaskId& task, int asked);

  // agents.cc
  void wake(std::size_t agent);
  void report_place(std::size_t agent);
  void send(std::size_t agent, gang::Event event);
  void transmit(std::size_t agent);
  void command(std::size_t agent, std::function<void()> action);
  void begin_run(std::size_t agent, int attempt, int generation);
  void process_started(std::size_t agent, int attempt);
  void observe(std::size_t agent, int attempt, int times);
  void process_ended(std::size_t agent, int attempt, job::ExitReport report);
  void stop_run(std::size_t agent, int attempt, std::int64_t grace_ms);
  void end_agent(std::size_t agent, std::int64_t grace_ms);
  void die(std::size_t agent, const std::string& sentence, bool counts);
  void break_session(std::size_t agent, bool comes_back);
  void reconnect(std::size_t agent, int session);
  void forget_process(Agent& agent);
  [[nodiscard]] int known_attempt(const Agent& agent) const;

  // judge.cc
  void violated(std::string what);
  void say(const std::string& text) const;
  void judge_step(const gang::Event& event, const std::vector<gang::Decision>& decisions);
  void judge_publish(const job::ClusterSpec& spec);
  void judge_sizes(const job::ClusterSpec& spec);
  void judge_start(const gang::Start& start);
  void judge_process(const Agent& agent);
  void judge_finish(const gang::Finish& finish);
  void judge_first_cause(const gang::Finish& finish);
  void judge_end();
  void judge_replay(bool through_json);

  [[nodiscard]] job::Policy policy_of(const Agent& agent) const;
  std::int64_t latency() {
    return random_.chance(900) ? random_.between(0, 20) : random_.between(0, kMaxLatencyMs);
  }

  Schedule schedule_;
  Random random_;
  bool verbose_;
  gang::Gang gang_;
  base::Instant now_;
  base::Instant origin_;
  std::uint64_t number_ = 0;
  std::priority_queue<Pending, std::vector<Pending>, std::greater<>> pending_;
  std::vector<Agent> agents_;
  std::vector<std::optional<std::size_t>> newest_;  // agent by task
  std::map<job::TaskId, std::size_t> task_index_;
  int next_port_ = 1024;
  // What the judge remembers.
  std::vector<Record> records_;
  std::vector<gang::Decision> decisions_;
  std::vector<std::string> violations_;
  std::vector<bool> last_exit_ok_;
  std::vector<int> running_of_task_;
  std::map<int, int> running_of_generation_;
  std::set<std::string> warned_of_;  // tasks that could not be seen to end
  bool restarted_ = false;
  bool stop_requested_ = false;
  std::optional<base::Instant> verdict_at_;
  job::ClusterSpec published_;
  int finishes_ = 0;
};

std::string describe(const gang::Decision& decision);

}  // namespace gangrun::simulation
