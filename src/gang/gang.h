#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/pause.h"
#include "gang/decision.h"
#include "gang/event.h"
#include "gang/hosts.h"
#include "job/cluster_spec.h"
#include "job/spec.h"
#include "job/status.h"

namespace gangrun::gang {

// The phase of one task. An agent exists from kRegistered to kEnding.
enum class Phase {
  kAsked,       // Allocate was decided
  kAllocated,   // has a place; its agent has not reported
  kRegistered,  // its agent holds a port and waits for the next generation
  kStarting,
  kRunning,
  kStopping,  // Stop was decided; its agent stays for the next generation
  kIdle,      // its command ended by itself; its agent is still there
  kEnding,    // End was decided
  kGone,      // its agent has ended
};

// How the last run of a task's command ended.
enum class Outcome { kNone, kSucceeded, kFailed, kStopped, kLost };

struct Task {
  job::TaskId id;
  std::size_t group = 0;  // its type, in the order of the spec
  job::Policy policy = job::Policy::kTracked;
  std::chrono::milliseconds grace{0};
  Phase phase = Phase::kAsked;
  Outcome outcome = Outcome::kNone;
  int attempt = 1;            // of the current or last run
  int allocated_attempt = 1;  // of the request for its agent: what the cluster knows it by
  int starts = 0;             // of its command, the current one too
  bool has_run = false;       // its agent has started something: the next run is a new attempt
  std::string host;
  job::Address address;          // port 0: has not reported
  std::optional<job::Why> exit;  // how its last run ended, or why we stop it
  bool silent = false;           // no session; the deadline is the end of its lease
  base::Instant begun_at;        // when it was requested, or its run began
  base::Pause pause;             // before its restarts; the first again after a long run
  // When what has failed starts again, or is requested again: the deadline of kIdle and kGone.
  std::optional<base::Instant> restart_at;
  int lost_ports = 0;   // runs that ended because the task's port was in use
  bool killed = false;  // Kill was decided: the next deadline gives it up
  bool member = true;  // has a place in the generation; else a spare, or absent while it is smaller
  bool dropped = false;  // given up for good: its phase stays kGone
  bool lacked = false;   // was lost through no fault of its own, and does not run again yet
  std::optional<base::Instant> asked_to_end_at;  // a failure before that is one of its own
  std::optional<base::Instant> deadline;         // of what the phase waits for

  friend bool operator==(const Task&, const Task&) = default;
};

// The step that a task did not do in time, if its end is a roll_call_timeout.
inline constexpr std::string_view kDidNotReport = "it did not report";
inline constexpr std::string_view kDidNotStart = "it did not start";

// The life of one job as a pure state machine: no clock, no I/O. Events come in with the time at
// which they are handled, decisions go out. The same events at the same times give the same
// decisions and state, so replaying a journal rebuilds it. Copyable.
class Gang {
 public:
  struct Limits {
    // How long nothing may be heard of an agent before it is taken for dead: its own lease has
    // ended by then.
    std::chrono::milliseconds silence{std::chrono::seconds(65)};
    // The time that an agent may need beyond a grace to kill, count the dead and leave.
    std::chrono::milliseconds kill_allowance{std::chrono::seconds(10)};
    // Restarts for reasons that do not count are limited too, so that no job restarts forever.
    int max_uncounted_restarts = 100;
    // How often one task may end for its port and get another: a program that would do so with any
    // port ends the job.
    int max_lost_ports = 5;

    friend bool operator==(const Limits&, const Limits&) = default;
  };

  // `spec` has been validated.
  Gang(const job::JobSpec& spec, Limits limits);

  std::vector<Decision> step(const Event& event, base::Instant now);
  // Whether step() could do anything with it. What does not matter changes no state: it need not be
  // recorded.
  [[nodiscard]] bool matters(const Event& event, base::Instant now) const;

  // When step() wants to be called with TimePassed at the latest; none: it waits for no time.
  [[nodiscard]] std::optional<base::Instant> next_deadline() const;

  [[nodiscard]] job::JobState state() const;
  [[nodiscard]] bool finished() const { return stage_ == Stage::kFinished; }
  [[nodiscard]] const std::vector<Task>& tasks() const { return tasks_; }
  [[nodiscard]] const Task* find(const job::TaskId& id) const;
  [[nodiscard]] const job::ClusterSpec& cluster_spec() const { return spec_published_; }
  [[nodiscard]] int restarts_used() const { return restarts_used_; }
  // Once it is decided, though tasks may still be ending.
  [[nodiscard]] std::optional<job::JobState> verdict() const;
  // The cause of a verdict that is decided and not success; an earlier one may still come to be
  // known until the job has finished.
  [[nodiscard]] std::optional<job::Cause> first_cause() const;
  // Whether a process of any task has run, in whatever generation.
  [[nodiscard]] bool has_run() const { return has_run_; }
  // Whether a task of the generation that runs has ended and gets no other run in it.
  [[nodiscard]] bool is_out(const Task& task) const;
  // Whether every task of the generation has been started and has answered.
  [[nodiscard]] bool all_started() const { return count(Trait::kUnstarted) == 0; }
  // The thing for which the job waits now, as a sentence with its time limit; empty when for
  // nothing but its tasks, which have none.
  [[nodiscard]] std::string waiting_for(base::Instant now) const;

  friend bool operator==(const Gang&, const Gang&) = default;

 private:
  enum class Stage {
    kNew,
    kGathering,  // allocation and roll call of the next generation
    kRunning,
    kFinishing,  // the tracked tasks have succeeded; observers are awaited, then sidecars' graces
    kStopping,   // the verdict is decided
    kFinished,
  };
  // The counts of the tasks of a group, so that no step has to look at every task of the job:
  // with thousands of them, each one's report would cost as much as all of them together.
  enum class Trait : std::uint8_t {
    kUnregistered,
    kUndone,
    kAlive,
    kAsked,        // a member without a place
    kUnsucceeded,  // a member that the success of the job needs
    kSucceeded,
    kUnstarted,    // a member that was not started, or has not answered
    kMayStillRun,  // is being stopped or ended
    kFree,         // a spare that can take a place
    kDropped,
    kMissing,  // a member whose place is empty, or will be
    kMissingLost,
    kThere,  // a member that waits for the next generation
    kThereSilent,
    kAwaited,  // a member that is not there and has not been lost
    kLacked,
  };
  static constexpr std::size_t kTraits = static_cast<std::size_t>(Trait::kLacked) + 1;
  // The tasks of one type. Each generation decides again which of them have a place, where
  // the type is flexible: has spares, or may be smaller.
  struct Group {
    job::Policy policy = job::Policy::kTracked;
    std::size_t first = 0;  // of its tasks, spares last
    std::size_t slots = 0;
    std::size_t instances = 0;
    std::size_t needed = 0;
    std::vector<std::size_t> places;  // its members, in the order of their places
    std::array<std::size_t, kTraits> counts{};
    [[nodiscard]] std::size_t count(Trait trait) const {
      return counts[static_cast<std::size_t>(trait)];
    }
    friend bool operator==(const Group&, const Group&) = default;
  };
  struct Failure {
    job::Cause cause;
    base::Instant at;
    friend bool operator==(const Failure&, const Failure&) = default;
  };

  void on(const Begin&);
  void on(const ClusterWaiting& event);
  void on(const Allocated& event);
  void on(const Reported& event);
  void on(const Started& event);
  void on(const job::Exited& event);
  void on(const SessionLost& event);
  void on(const Reattached& event);
  void on(const job::AgentEnded& event);
  void on(const Progress& event);
  void on(const StopRequested& event);
  void on(const ClusterGone& event);
  void on(const TimePassed&);
  void on(const Resumed&);
  void on(const HostSilent& event);

  // gang_counts.cc
  [[nodiscard]] std::uint32_t traits_of(const Task& task) const;
  void touch(const Task& task) { touched_.push_back(index_of(task)); }
  void touch_all() { all_touched_ = true; }
  void recount();
  void recount(std::size_t index);
  void forget_touched();
  // The counts of all groups but the sidecars'. Right between steps, and after recount().
  [[nodiscard]] std::size_t count(Trait trait) const;

  [[nodiscard]] std::size_t index_of(const Task& task) const {
    return static_cast<std::size_t>(&task - tasks_.data());
  }
  Task* current(const job::TaskId& id, int attempt);
  Task* allocated(const job::TaskId& id, int attempt);
  void set_deadline(Task& task, std::optional<base::Instant> deadline);
  void enter(Task& task, Phase phase);
  void ask(Task& task);
  void start(Task& task);
  void end(Task& task, std::chrono::milliseconds grace);
  void leave(Task& task, Outcome outcome);
  void fall_silent(Task& task);
  void resume(Task& task);
  void reported_again(Task& task, const job::Address& address);

  void publish_if_complete();
  [[nodiscard]] bool is_as_published(const Task& task) const;
  void publish();

  // gang_elastic.cc
  void adapt();
  using Seats = std::vector<std::vector<std::size_t>>;  // by group
  [[nodiscard]] std::optional<Seats> seating(bool waited) const;
  [[nodiscard]] std::optional<bool> can_seat(const Group& group, bool waited) const;
  [[nodiscard]] bool can_seat_all_waited() const;
  [[nodiscard]] std::vector<std::size_t> seats_of(const Group& group, bool waited) const;
  void take(const Seats& seats);
  void tell_of_seats(const Group& group, const std::vector<std::size_t>& seats);
  [[nodiscard]] std::optional<base::Instant> resize_time() const;
  [[nodiscard]] bool can_do_without(const Task& task) const;
  void drop(Task& task, const Failure& failure);
  void lost_beside(Task& task, const job::AgentEnded& how);
  void go_on_without(Task& task, const Failure& failure);
  [[nodiscard]] std::string resize_words() const;
  void exited_while_ending(Task& task, const job::Exited& event);
  void correct_failure(const Task& task, const job::AgentEnded& event);
  void agent_lost(Task& task, const job::AgentEnded& how);
  void succeeded(Task& task);
  [[nodiscard]] bool is_wanted(const Task& task) const;
  void failed_for_its_port(Task& task, Failure failure);

  // gang_restarts.cc
  void failed(Task& task, const Failure& failure, bool counts, bool may_retry);
  void note_lack(Task& task, job::Reason reason);
  const Task* lacked_by(const Task& task, const Failure& failure, bool counts);
  [[nodiscard]] bool may_restart(bool counts) const;
  bool note_trouble(const Task& task, bool is_trouble);
  void count_restart(const Failure& failure, bool counts);
  base::Duration next_pause(base::Pause& pause, base::Instant begun) const;
  void restart_task(Task& task, base::Duration pause);
  void restart_now(Task& task);
  void restart_gang();

  // gang_end.cc
  void fail_job(const Failure& failure);
  void finish_if_tracked_succeeded();
  void finish_if_observed();
  void stop_job(job::JobState verdict, std::chrono::milliseconds grace);
  void finish_if_gone();
  void expired(Task& task);
  void grace_over(Task& task);
  void expired_without_place(Task& task);
  void expired_ending(Task& task);
  // gang_silence.cc: those of the tasks whose end is all that the job waits for.
  [[nodiscard]] std::vector<std::size_t> awaited_of(const HostSilent& event) const;
  void hurry();
  [[nodiscard]] bool in_grace(const Task& task) const;
  [[nodiscard]] bool prolongs_grace(const Task& task) const;
  [[nodiscard]] static bool prolongs_roll_call(const Task& task);
  [[nodiscard]] std::chrono::milliseconds grace_left(const Task& task) const;
  [[nodiscard]] std::string gathering_words() const;
  [[nodiscard]] std::optional<base::Instant> shown_limit(base::Instant now) const;
  [[nodiscard]] static Failure failure_of(const Task& task, job::Why why, base::Instant at);
  [[nodiscard]] static Failure failure_of(const Task& task, const job::Exited& event);
  [[nodiscard]] static Failure failure_of(const Task& task, const job::AgentEnded& event);

  void warn(Warning warning) { decide(Warn{std::move(warning)}); }
  void warn_of(const Failure& failure, TaskFailed::Then then) {
    warn(TaskFailed{.cause = failure.cause, .then = then});
  }
  template <typename T>
  void decide(T decision) {
    decisions_.push_back(Decision(std::move(decision)));
  }

  // The settings of the user's job.
  std::string success_;
  job::Restarts restarts_;
  job::Timeouts timeouts_;
  Limits limits_;
  // The state: everything that has happened.
  std::vector<Task> tasks_;
  std::vector<Group> groups_;
  bool flexible_ = false;  // one of the groups is
  Hosts hosts_;
  std::map<job::TaskId, std::size_t> index_;
  std::set<std::pair<base::Instant, std::size_t>> deadlines_;
  Stage stage_ = Stage::kNew;
  bool gathered_before_ = false;
  job::ClusterSpec spec_published_;
  bool has_run_ = false;
  int restarts_used_ = 0;
  int uncounted_restarts_ = 0;
  // Before restarts of the gang; the first again after a long generation.
  base::Pause pause_{restarts_.pause, restarts_.max_pause};
  std::optional<base::Instant> publish_at_;  // not before
  std::string cluster_waits_for_;
  base::Instant published_at_;
  base::Instant waiting_since_;  // when a task was last lost or came: shrinking counts from there
  std::optional<base::Instant> resize_at_;
  std::optional<base::Instant> job_deadline_;
  job::JobState verdict_ = job::JobState::kFailed;
  std::optional<base::Instant> decided_at_;  // when the verdict was
  std::vector<Failure> failures_;            // those that may be the first cause, as they came
  std::vector<std::uint32_t> counted_;       // the traits with which each task is counted
  // The changes of the step that is being made.
  std::vector<std::size_t> touched_;  // tasks that may have changed since they were counted
  bool all_touched_ = false;
  base::Instant now_;
  std::vector<Decision> decisions_;
};

// How a task of the gang is shown.
job::TaskState state_of(const Task& task);

}  // namespace gangrun::gang
