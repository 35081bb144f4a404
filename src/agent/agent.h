#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/execs.h"
#include "agent/figures_file.h"
#include "agent/file_fetch.h"
#include "agent/keys.h"
#include "agent/notice.h"
#include "agent/output_upload.h"
#include "agent/progress.h"
#include "agent/rendezvous.h"
#include "agent/result_upload.h"
#include "agent/run_end.h"
#include "agent/stacks.h"
#include "agent/task_phases.h"
#include "agent/user_run.h"
#include "base/log.h"
#include "base/result.h"
#include "job/last_words.h"
#include "net/event_loop.h"
#include "process/containment.h"
#include "process/port_holds.h"
#include "wire/agent_config.h"
#include "wire/agent_questions.h"
#include "wire/agent_session.h"
#include "wire/control.h"

namespace gangrun::agent {

// The place's work with files that a run has left, before the run's end is told.
struct Outputs {
  // `lost`: what was not kept, and why; empty: all was. `missing`: what the run has not written.
  using Done = std::function<void(std::string lost, std::string missing)>;
  // Calls back from the loop. Empty: the place does nothing.
  std::function<void(Done done)> keep{};
  // The time for it is over; the call comes soon.
  std::function<void()> cut_short{};
  // Whether a run that may be followed by another one leaves them for the end of the agent: the
  // next run works in the same folder, and does not wait for them.
  bool can_wait = false;
};

// One task: holds its ports, reports to the master, waits for the cluster spec, starts the user's
// command, watches it and reports its end. It ends when the master says so, when the master is lost
// for longer than the lease, or when its guardian is gone; nothing of the task is alive then. Stops
// the loop at its end. What comes when is decided by TaskPhases.
class Agent {
 public:
  Agent(net::EventLoop& loop, base::Logger& logger, const process::Containment& containment,
        wire::AgentConfig config, Outputs outputs = {});
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // Holds the ports and begins to report; the rest happens in the loop.
  base::Result<> start();

  // Its master is there from now on. One whose configuration names none begins to report only then.
  void set_master(const job::Address& master);

  // Ends the run if there is one, then the agent. Asked again, the shorter grace counts.
  void end(std::chrono::milliseconds grace);
  // Ends as a signal to end asks: within the grace of the job.
  void end_by_signal(int number);
  // To be called when a child has ended: orphans of the task become children of this process.
  void reap_orphans() const { containment_.reap_orphans(own_children()); }
  // Its place may end the task.
  void on_notice(std::optional<std::chrono::milliseconds> left);
  // At once, for a reason that its task's end is to tell.
  void end_because(std::string reason);
  // The exit status of the agent's process: that of the signal where the place is to tell why it
  // came, else 0.
  [[nodiscard]] int exit_status() const { return exit_status_; }
  // Why it ended without its master; none if the master knows of the end.
  [[nodiscard]] const std::optional<job::LastWords>& last_words() const { return last_words_; }

 private:
  [[nodiscard]] std::vector<pid_t> own_children() const;
  // To the master; not sent where there is no session.
  void ask(const wire::AskMessage& question);
  void on_ask(const wire::AskMessage& question);
  void on_answer(const wire::AnswerMessage& answer);
  base::Result<> hold_ports();
  void serve_control();
  void listen_control(const std::string& host);
  // The answer to a question for the control address.
  base::Result<base::Json> control_answer();
  // The task's own: without those that users run beside it.
  [[nodiscard]] std::vector<pid_t> task_processes() const;
  // The longest time until its master may be heard of, where that waits for the gang.
  [[nodiscard]] std::chrono::milliseconds wait_for_gang() const;
  void await_master();
  void open_session(const net::Endpoint& endpoint);
  [[nodiscard]] net::Endpoint endpoint_of(const job::Address& master) const;
  void on_start(const wire::StartMessage& message);
  base::Result<> start_run(const wire::StartMessage& message);
  base::Result<> serve_rendezvous();
  // Whether an engine is to run the task's processes, in containers of an image.
  [[nodiscard]] bool runs_image() const { return !containment_.containers().names.empty(); }
  struct TaskVariables {
    std::map<std::string, std::string> variables;
    std::optional<int> rank;  // none: the task is not tracked
  };
  base::Result<UserProcess> prepared_process(const wire::StartMessage& message, int process);
  base::Result<TaskVariables> variables_of(const wire::StartMessage& message, int process);
  base::Result<base::Json> on_notice(const base::Json& about);
  base::Result<base::Json> on_tokens(const base::Json& about);
  void on_run_ended(job::ExitReport report);
  // The run's result goes before its end is told: whoever hears of that finds the result.
  void send_result();
  void after_result_part();
  void lose_result(std::string_view why);
  // Behind the result.
  void keep_outputs();
  void begin_outputs();
  // Before the first run, which its master starts only then.
  void fetch_files();
  // Without a place's work, an agent in a pod sends them to its master.
  void send_outputs_to_master();
  [[nodiscard]] bool may_run_again() const;
  void limit_outputs();
  void cut_outputs_short();
  void on_outputs_kept(std::string lost, const std::string& missing);
  // The run, which may leave outputs, has this time to stop.
  void limit_run(std::chrono::milliseconds grace);
  void tell_end();
  void tell_figures();
  void tell_in_log(const std::string& line);
  void on_line(bool is_error, std::string_view line);
  [[nodiscard]] PortEnd port_end(const job::ExitReport& report) const;
  void take_other_ports();
  bool hold_ports_again();
  [[nodiscard]] job::Address address() const;
  [[nodiscard]] std::vector<std::uint16_t> more_ports() const;
  [[nodiscard]] wire::HeartbeatMessage heartbeat();
  // How the task ends now is no end of its own: the master hears of the agent's from its place.
  void forget_master();
  void give_up(const std::string& reason, bool lost_master);
  void leave(bool with_farewell);
  // The step that has been decided to be next.
  void act(TaskPhases::Next next, std::chrono::milliseconds grace = {});

  // How the last run ended, until that is told.
  struct LastRun {
    job::ExitReport report;
    base::Instant at;
    job::Address address;  // as the master knows it
  };

  net::EventLoop& loop_;
  base::Logger& logger_;
  const process::Containment& containment_;
  const wire::AgentConfig config_;
  const job::TaskSpec& task_spec_;
  std::optional<process::PortHolds> ports_;
  TaskNotice notice_;
  FiguresFile figures_;
  const std::string result_path_;
  std::unique_ptr<UserRun> run_;
  // The rendezvous of the same run, if its framework needs one.
  std::unique_ptr<Rendezvous> rendezvous_;
  std::optional<std::uint16_t> rendezvous_port_;
  wire::QuestionNumbers numbers_;
  Keys keys_;  // whichever run asks
  std::optional<LastRun> last_run_;
  std::optional<ResultUpload> upload_;  // of the same run
  net::Timer upload_limit_;
  std::optional<base::Instant> upload_by_;  // the end of the grace, once there is one
  std::optional<FileFetch> fetch_;
  std::optional<OutputUpload> output_upload_;
  Outputs outputs_;
  bool are_outputs_on_way_ = false;
  int outputs_turn_ = 0;  // which of them an answer is for
  net::Timer outputs_limit_;
  std::optional<base::Instant> outputs_by_;  // where the run is to stop
  TaskPhases phases_;
  base::Instant run_started_at_;
  RunProgress progress_;
  std::string end_reason_;  // that the master cannot know
  std::optional<job::LastWords> last_words_;
  int run_attempt_ = 0;
  int restarts_ = 0;                    // before that one
  std::optional<job::RunEnd> run_end_;  // of that one, by itself
  std::uint64_t lost_lines_ = 0;        // that the log lacks, of all runs
  int exit_status_ = 0;
  Stacks stacks_;
  Execs execs_;
  net::Watch guardian_watch_;
  net::Timer master_limit_;                      // while it is not known where that is
  std::unique_ptr<wire::AgentSession> session_;  // its callbacks use the others
  // Set if the master may come back at another address.
  std::unique_ptr<wire::ControlServer> control_;
  std::optional<wire::ControlAddress> control_address_;
  std::string control_host_;
};

}  // namespace gangrun::agent
