#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agents/agent_launch.h"
#include "agents/agent_places.h"
#include "agents/call_back.h"
#include "agents/coming_ends.h"
#include "agents/file_source.h"
#include "agents/held_failures.h"
#include "agents/key_desk.h"
#include "agents/log_lacks.h"
#include "agents/output_store.h"
#include "agents/questions.h"
#include "agents/result_store.h"
#include "agents/server.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/secret.h"
#include "cluster/far_keys.h"
#include "cluster/far_results.h"
#include "cluster/fetched_files.h"
#include "cluster/launcher.h"
#include "cluster/line_files.h"
#include "cluster/tasks.h"
#include "net/event_loop.h"

namespace gangrun::agents {

// The grace of a stop without any.
inline constexpr std::chrono::milliseconds kAtOnce(0);

// The places of what tasks give into their master's keeping. A folder is made when it is needed.
struct TaskRecords {
  std::string result_folder;
  std::string key_folder;
  // For the outputs that agents send to their master; empty: they send none.
  std::string output_folder{};
  // With one, results are known when they are there, and none stays in the folder. Outlives the
  // agents.
  cluster::FarResults* far_results = nullptr;
  cluster::FarKeys* far_keys = nullptr;  // the same for keys
};

struct AgentsOptions {
  AgentLaunch launch;
  TaskRecords records;
  // Whether agents keep the tasks' outputs, which are lost with an agent that ends before it has.
  bool keep_outputs = false;
  // Files that agents fetch before the first run of their tasks; null: they have all they need.
  std::shared_ptr<const cluster::FetchedFiles> files{};
  // A master that is not at the address of the one before it calls the agents of that one.
  struct Moved {
    int attempt = 1;  // the number of this master, counted from the job's first one
    std::chrono::milliseconds lease{0};  // for which they look for the old one
  };
  std::optional<Moved> moved{};
};

// Tasks with an agent of ours beside each: what starts the agents, their sessions with the
// registry, and what they tell of their tasks. Owns what starts them; all else outlives it.
class Agents final : public cluster::Tasks {
 public:
  Agents(net::EventLoop& loop, const base::Clock& clock, base::Logger& logger, Server& server,
         std::unique_ptr<cluster::Launcher> starter, AgentsOptions options);

  void on_event(std::function<void(cluster::TasksEvent)> listener) override;
  void start(const gang::Allocate& decision) override;
  void run(const gang::Start& decision,
           const std::shared_ptr<const job::ClusterSpec>& spec) override;
  void stop(const gang::Stop& decision) override;
  void end(const gang::End& decision) override;
  void kill(const gang::Kill& decision) override;
  void resume(const std::vector<cluster::Left>& tasks) override;
  void ask(const std::vector<job::TaskId>& tasks, const cluster::Question& question,
           const cluster::OnTaskAnswer& on_answer) override;
  void note(const cluster::OutOfGeneration& news) override;
  // Agents that are there, and those that will be, get this token file of Hadoop in place of the
  // one that their tasks were started with.
  void set_tokens(base::Secret file);
  void hurry() override { starter_->hurry(); }
  void settle(std::function<void()> done) override;
  void cut_short() override { starter_->cut_short(); }
  [[nodiscard]] std::string waiting_for(std::string of_gang) const override;
  [[nodiscard]] const cluster::TaskFacts* facts(const job::TaskId& task) const override;
  [[nodiscard]] std::string place_name(const job::TaskId& task) const override;

 private:
  struct Facts {
    cluster::TaskFacts told;
    LogLacks log_lacks;        // that its agents have told
    std::optional<int> run{};  // the attempt of a run that has begun, and whose end is not told
    std::optional<int> last_run{};  // of the last run that has begun
    // Whether outputs of that one are to come.
    bool are_outputs_due = false;
    int agent = 0;  // the attempt for which its last agent was requested
    // Its agent's report, which the gang hears of when the agent has fetched the job's files.
    std::optional<PlaceReported> held_report{};
    std::string lost_files{};  // why its agent will not have them
    // It was told to stop or to end since its last start.
    bool is_to_end = false;
    // When its place may take it away, where that is known; its agent is told.
    std::optional<base::Instant> preempted_at;
  };

  void on_starter(const cluster::LaunchEvent& event);
  void on(const cluster::AgentAllocated& event);
  void on(const cluster::PreemptionNotice& event);
  void on(const cluster::LossesTold&);
  void on(const job::AgentEnded& event);
  void on_agent(DeskEvent event);
  void on(const PlaceReported& event);
  void on(const AgentReattached& event);
  void on(const ProcessStarted& event);
  void on(const job::Exited& event);
  void on(const Heartbeat& event);
  void on(const LogLines& event);
  void on(const PortLost& event);
  void on(const SessionEnded& event);
  void on(FiguresTold& event);
  void on(const AgentAsked& event);
  void on(const Answered& event);

  void emit(gang::Event event, std::optional<cluster::Whereabouts> whereabouts = {});
  void tell_report(const PlaceReported& event);
  FileSource::Callbacks file_callbacks();
  // A new agent has none.
  void expect_files(const job::TaskId& task, int attempt);
  // With the agent whose end this is; where it did not get its files, that is the reason.
  void forget_files(job::AgentEnded& event);
  void begin_session(const job::TaskId& task);
  void begin_run(const job::TaskId& task, int attempt);
  void on_outputs_over(const job::TaskId& task, std::string lost);
  void tell_preemption(const job::TaskId& task);
  void look_for_losses();
  void let_end(const job::TaskId& task);
  void tell_exit(const job::Exited& event);
  void tell_end(job::AgentEnded event);
  void tell_tokens(const job::TaskId& task);
  void keep_line(const job::TaskId& task, bool is_error, const std::string& line);

  const base::Clock& clock_;
  base::Logger& logger_;
  Server& server_;
  const AgentsOptions options_;
  std::unique_ptr<cluster::Launcher> starter_;
  std::function<void(cluster::TasksEvent)> listener_;
  AgentPlaces places_;
  ResultStore results_;
  OutputStore outputs_;
  FileSource files_;
  std::optional<cluster::LineFiles> line_files_;
  std::map<job::TaskId, Facts> facts_;
  ComingEnds coming_ends_;
  HeldFailures failures_;
  base::Secret tokens_;  // empty: none were given
  Questions questions_;
  KeyDesk keys_;
  CallBack call_back_;
};

}  // namespace gangrun::agents
