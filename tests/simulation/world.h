#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gang/gang.h"
#include "journal/replay.h"
#include "simulation/agent.h"
#include "simulation/disk.h"
#include "simulation/master.h"
#include "simulation/random.h"
#include "simulation/schedule.h"

namespace gangrun::simulation {

// One connection between an agent and a master. What is sent arrives in order, late, or never.
struct Connection {
  std::size_t agent = 0;
  int master = 0;  // which one: the number of its segment
  bool agent_open = true;
  bool master_open = true;
  bool broken = false;  // nothing arrives any more
  base::Instant opened;
  base::Instant to_master;
  base::Instant to_agent;
};

// An event that was handled, and when.
struct Record {
  gang::Event event;
  base::Instant at;
};

// A virtual clock, network, disk and cluster around the shipping state machine, journal, desk and
// agent's side. What is decided is done late, badly or not at all; whatever must never happen is
// noticed.
class World {
 public:
  World(Schedule schedule, Random random, bool verbose);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  // Runs the job to its end and a little further. Returns what was violated; empty: nothing.
  std::vector<std::string> run();
  [[nodiscard]] const std::vector<Record>& records() const { return records_; }
  [[nodiscard]] std::optional<job::JobState> state() const;
  [[nodiscard]] int masters() const { return static_cast<int>(disk_.size()); }

  // For the parts.
  [[nodiscard]] base::Instant now() const { return now_; }
  [[nodiscard]] const Schedule& schedule() const { return schedule_; }
  [[nodiscard]] Random& random() { return random_; }
  [[nodiscard]] std::size_t index_of(const job::TaskId& task) const { return index_.at(task); }
  [[nodiscard]] job::Policy policy_of(std::size_t task) const { return policies_[task]; }
  // Trouble of one task or run. In a large gang it may be that of a few only: with thousands of
  // failures at once every job ends in the same way.
  bool strikes(int per_mille) {
    if (!random_.chance(per_mille)) return false;
    return schedule_.struck == 0 || random_.between(1, schedule_.tasks) <= schedule_.struck;
  }
  void later(std::int64_t delay_ms, std::function<void()> action);
  void later_at(base::Instant at, std::function<void()> action);
  void say(const std::string& text) const;
  [[nodiscard]] bool is_verbose() const { return verbose_; }
  void violated(const std::string& what);
  std::int64_t latency();

  // network.cc
  void connect(std::size_t agent);
  void disconnect(std::size_t agent);
  void send_to_master(std::size_t agent, std::string frame);
  void send_to_agent(std::size_t connection, const wire::Frame& frame);
  void close_by_master(std::size_t connection);
  void break_connection(std::size_t agent);
  void cut_link(std::size_t agent, std::int64_t ms);

  // cluster.cc
  void start_agent(const gang::Allocate& decision);
  void stop_agent(const job::TaskId& task, int attempt, std::int64_t grace_ms);
  void agent_is_dead(std::size_t agent);

  // masters.cc
  void kill_master(const std::string& how);
  [[nodiscard]] bool master_dies_here();

  // judge.cc
  void follow(std::string_view line);
  void judge_wait();
  void judge_step(const gang::Event& event, const std::vector<gang::Decision>& decisions);
  void judge_publish(const job::ClusterSpec& spec);
  void judge_process(const Agent& agent, const job::ClusterSpec& spec);
  void judge_process_gone(const Agent& agent);
  void judge_exit(const Agent& agent, bool success);
  void judge_warning(const gang::Warning& warning);
  void judge_finish(const gang::Finish& finish);

 private:
  struct Pending {
    base::Instant at;
    std::uint64_t number = 0;
    std::function<void()> action;
    bool operator>(const Pending& other) const {
      return std::pair(at, number) > std::pair(other.at, other.number);
    }
  };

  using Message = std::shared_ptr<const wire::MasterMessage>;
  Message decoded(const wire::Frame& frame);
  bool advance();
  void plan_trouble();
  void tell_cluster_event(std::size_t agent, const gang::Event& event);
  void placed(std::size_t agent, const gang::Allocate& asked);
  void plan_trouble_of(std::size_t agent);
  void evict(std::size_t agent);
  std::optional<std::size_t> find(const job::TaskId& task, int asked);
  job::Address new_address(const std::vector<std::string>& avoided);

  void begin();
  void replace_master();
  std::unique_ptr<journal::Writer> new_segment();
  WriteFate fate_of_write(std::size_t bytes);
  void bury_master();
  base::Result<journal::Replayed> replayed() const;
  void adopt();

  [[nodiscard]] bool has_settled(const Agent& agent) const;
  void judge_follower(const std::vector<gang::Decision>& decisions);
  void judge_blame(const gang::Event& event, const std::vector<gang::Decision>& decisions);
  void note_lack(const gang::Warning& warning);
  void judge_sizes(const job::ClusterSpec& spec);
  void judge_start_limit(const gang::Finish& finish);
  void judge_first_cause(const gang::Finish& finish);
  void judge_end();
  std::optional<journal::Replayed> judge_replay();

  Schedule schedule_;
  Random random_;
  bool verbose_;
  base::Instant now_;
  base::Instant origin_;
  std::uint64_t number_ = 0;
  std::priority_queue<Pending, std::vector<Pending>, std::greater<>> pending_;
  std::map<job::TaskId, std::size_t> index_;
  std::vector<job::Policy> policies_;
  int next_port_ = 1024;

  std::deque<Agent> agents_;
  std::map<std::pair<std::size_t, int>, std::size_t> newest_agent_;  // by task and attempt
  std::vector<Connection> connections_;
  // By the frame, which lives as long: the starts of each generation.
  std::map<const std::string*, std::pair<wire::Frame, Message>> large_messages_;
  std::deque<DiskFile> disk_;  // the segments
  std::unique_ptr<Master> master_;
  bool master_is_dying_ = false;
  bool over_ = false;  // the verdict is recorded
  base::Instant disk_full_from_;
  base::Instant disk_full_until_;

  // The memory of the judge.
  std::vector<Record> records_;
  journal::Replayer follower_;                    // replays each line as it is written
  std::vector<gang::Decision> followers_choice_;  // by the last event
  int steps_ = 0;
  std::optional<base::Instant> behind_since_;
  std::vector<std::string> violations_;
  std::vector<bool> last_exit_ok_;
  std::vector<int> running_of_task_;
  // All equal; they live in large_messages_, or are compared again.
  std::set<const job::ClusterSpec*> running_specs_;
  job::ClusterSpec running_spec_;
  int running_ = 0;
  bool restarted_ = false;
  // After the last step. Lacked are tasks of the generation that runs, whose loss was not counted.
  std::set<job::TaskId> lacked_;
  job::JobState last_state_ = job::JobState::kAllocating;
  int last_restarts_ = 0;
  std::set<job::TaskId> unconfirmed_;  // of whose end nobody could be sure, as was told
  bool stop_requested_ = false;
  std::optional<base::Instant> verdict_at_;
  int published_ = 0;
  job::ClusterSpec published_spec_;
  std::optional<gang::Finish> finish_;           // as it was told
  std::optional<gang::Finish> recorded_finish_;  // that every next master must come to
  friend class Master;
};

// The wall clock of a virtual moment.
base::WallTime wall_time(base::Instant now);
std::string describe(const gang::Decision& decision);

}  // namespace gangrun::simulation
