#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "cluster/all_or_nothing.h"
#include "job/spec.h"
#include "job/task_id.h"
#include "kubernetes/pods/pod_entry.h"
#include "kubernetes/pods/pod_facts.h"
#include "kubernetes/pods/pod_run.h"

namespace gangrun::kubernetes::pods {

// How long a pod may need beyond its grace before it is taken for gone with its node.
inline constexpr std::chrono::seconds kDeletionAllowance{60};
// After the end of a command, or its log's last line: how long the rest of the log is waited for.
inline constexpr std::chrono::seconds kLogLimit{10};
inline constexpr std::chrono::seconds kLongestLogLimit{120};
// How long a container that cannot be made is tried again: what it lacks may come yet.
inline constexpr std::chrono::seconds kConfigLimit{20};
// The time that a pod that is taken back has to end.
inline constexpr std::chrono::seconds kTakeBackGrace{5};
// For so long pods that others take away are looked for.
inline constexpr std::chrono::seconds kLookLimit{2};
// The time that an API server may be silent before that is told.
inline constexpr std::chrono::seconds kSilenceTold{5};

// The allowance for a pod whose time to end is shortened. Its node does not shorten it: a kubelet
// keeps to the first time that it was told (kubernetes/kubernetes#83916).
inline constexpr std::chrono::seconds kHurriedAllowance{2};

// The requests that are to be made at the API server. Each is answered by the book's function of
// the same name with on_: on_created for CreatePod, …
struct CreatePod {
  job::TaskId task;
  int attempt = 0;
};
struct DeletePod {
  job::TaskId task;
  std::string uid;  // only the one that has it
  std::chrono::seconds grace{0};
};
// Whether there is a pod with the task's name: CreatePod did not tell.
struct LookForPod {
  job::TaskId task;
};
struct ListEvents {
  job::TaskId task;
  std::string uid;
};
// Its container's log from its beginning, or after the last line that was read of this pod's.
struct ReadLog {
  job::TaskId task;
  std::string uid;
  // Else only what there is is read. That replaces what follows it, whose end is not told then.
  bool follows = true;
};
// No more lines of it are told.
struct DropLog {
  job::TaskId task;
};
struct FetchOutputs {
  job::TaskId task;
  std::string uid;
};

// The pods as they are at the API server now: on_list, and changes after it only.
struct ListPods {};

// Whether all that the job has there is being deleted: on_owner_there or on_owner_deleted.
struct LookAtOwner {};

// Events are told in their order.
using PodAction = std::variant<CreatePod, DeletePod, LookForPod, ListEvents, ReadLog, DropLog,
                               FetchOutputs, ListPods, LookAtOwner, PodEvent>;

// The life of a job's pods: what is asked of tasks and what is told of pods goes in with the time
// at which it happens, what is to be done comes out. Pure; pods that cannot all get a node are
// given back together (pod_book_gang.cc). A name is used by one pod at a time.
class PodBook {
 public:
  struct Options {
    std::string job_id;
    std::map<job::TaskId, std::string> names;  // of the pods
    std::set<job::TaskId> gang;                // those that are placed all or none
    std::set<job::TaskId> with_outputs;
    bool takes_back = true;  // else the scheduler sees to the gang
    // A run is an agent's: its slot is there once its pod has a node to keep, and ends with it. Its
    // log is not read.
    bool has_agents = false;
    // The master in a pod whose book it is. An agent that another one has made looks for that,
    // unless it has had a session: its pod is no good for a run that begins.
    int master_number = 0;
    job::Timeouts timeouts;
    std::function<double()> random;  // from 0 to 1
  };

  explicit PodBook(Options options);
  PodBook(const PodBook&) = delete;
  PodBook& operator=(const PodBook&) = delete;

  // See Tasks: the decisions, one by one.
  void start(const job::TaskId& task, int attempt, base::Instant now);
  void adopt(const job::TaskId& task, int attempt, base::Instant now);
  // The pod with this uid, in which an agent of an earlier master is.
  void adopt_agent(const job::TaskId& task, int attempt, const std::string& uid, base::Instant now);
  void release_others(base::Instant now);
  void stop(const job::TaskId& task, int attempt, std::chrono::milliseconds grace,
            base::Instant now);
  void run(const job::TaskId& task, PodRun run, base::Instant now);
  void end_run(const job::TaskId& task, std::chrono::milliseconds grace, base::Instant now);
  // LossesTold comes behind the notices of all pods that somebody takes away now, or when
  // kLookLimit is over. Not again before.
  void look_for_losses(base::Instant now);

  // All that pods need is there.
  void on_ready(base::Instant now);
  void on_list(const std::vector<PodFacts>& pods, base::Instant now);
  void on_change(const PodFacts& pod, bool is_deleted, base::Instant now);
  // The watch has trouble. Whatever else answers ends that.
  void on_trouble(const base::Error& error, bool is_final, base::Instant now);
  void on_heard(base::Instant now);
  // Nothing can be made any more, for this reason.
  void on_gone(const std::string& sentence, job::Reason reason = job::Reason::kClusterGone);

  // The pod that somebody has deleted was meant alone; or all is, which ends the job: what is still
  // there ends without us.
  // A pod with the job's labels has changed that the owner does not own: it may be one of the
  // job's, and somebody has deleted the owner alone.
  void on_stranger(base::Instant now);
  void on_owner_there(base::Instant now);
  void on_owner_deleted(const std::string& sentence, base::Instant now);

  void on_created(const job::TaskId& task, const base::Result<PodFacts>& made, base::Instant now);
  void on_deleted(const job::TaskId& task, const std::string& uid, const base::Result<>& deleted,
                  base::Instant now);
  void on_looked_for(const job::TaskId& task, const base::Result<std::optional<PodFacts>>& found,
                     base::Instant now);
  void on_events(const job::TaskId& task, const std::string& uid, std::string warning);
  // The words on the turn of pods that a gate keeps; they are worth asking for where some wait.
  void on_turn(std::string words) { turn_ = std::move(words); }
  [[nodiscard]] bool waits_at_gate() const;
  void on_line(const job::TaskId& task, const std::string& uid, std::optional<base::WallTime> time,
               base::Instant now);
  void on_log_ended(const job::TaskId& task, const std::string& uid, const base::Result<>& ended,
                    base::Instant now);
  void on_outputs(const job::TaskId& task, const std::string& uid, const base::Result<>& fetched,
                  base::Instant now);

  // The pod's agent is silent; nothing that it has started is alive at `dead_at`.
  void on_agent_silent(const job::TaskId& task, base::Instant dead_at, base::Instant now);
  void on_agent_heard(const job::TaskId& task, base::Instant now);

  void on_time(base::Instant now);
  [[nodiscard]] std::optional<base::Instant> next_deadline() const;
  [[nodiscard]] std::vector<PodAction> take_actions();

  // The run that the pod of CreatePod is for; none: it is not wanted any more, which is answered
  // with kCancelled.
  [[nodiscard]] std::optional<PodRun> wanted(const job::TaskId& task) const;
  // The reasons why requested runs wait ("worker:3: 0/2 nodes are available: …"); empty: none
  // waits.
  [[nodiscard]] std::string waiting_for(base::Instant now) const;
  // The first of them where the API server has not answered for a while; empty: it has.
  [[nodiscard]] std::string silence(base::Instant now) const;
  // The tasks whose command runs, and is not asked to end.
  [[nodiscard]] std::vector<job::TaskId> running() const;

 private:
  // All tasks with a run of the newest generation: placed together, or given back together.
  struct Round {
    int generation = 0;
    cluster::AllOrNothing parts;
    bool is_complete = false;
    std::size_t placed = 0;  // when they were last given back
    std::size_t wanted = 0;
    std::optional<base::Instant> wake{};
  };

  void tell(PodEvent event) { actions_.emplace_back(std::move(event)); }
  void warn(std::string sentence) { tell(cluster::TasksWarning{std::move(sentence)}); }
  void warn_of_outputs(const job::TaskId& task, const std::string& why);
  [[nodiscard]] bool is_due(PodEntry& entry, base::Instant when) const;
  [[nodiscard]] bool is_silent() const { return silent_since_.has_value(); }

  // Functions for what is known of the object (pod_book.cc).
  void see(PodEntry& entry, const PodFacts& pod, bool by_watch);
  void vanish(PodEntry& entry);
  void look(PodEntry& entry, base::Duration pause);
  void refused(PodEntry& entry, const base::Error& error);
  void tell_silence();
  void ask_for_owner();
  void look_at_owner();
  [[nodiscard]] bool is_owner_to_be_read() const {
    return is_owner_in_doubt_ && !is_owner_asked_for_ && !is_gone_;
  }
  [[nodiscard]] bool is_owner_questioned() const {
    return is_owner_asked_for_ || (is_owner_in_doubt_ && !is_gone_);
  }
  void try_again(PodEntry& entry, const base::Error& error);
  [[nodiscard]] Run run_of(PodRun wish);
  void resolve_adoption(PodEntry& entry);
  void settle_all();

  // Pods that others take away (pod_book_losses.cc).
  void give_notice(PodEntry& entry);
  void end_look();

  // The steps that follow from it (pod_book_settle.cc), in this order.
  void settle(PodEntry& entry);
  void claim(PodEntry& entry) const;
  void note_deletion(PodEntry& entry);
  void note_start(PodEntry& entry);
  void tell_place(PodEntry& entry, const std::string& node);
  void note_end(PodEntry& entry);
  void note_lost_node(PodEntry& entry);
  void note_limits(PodEntry& entry);
  void note_end_of_start(PodEntry& entry);
  void let_go(PodEntry& entry);
  void drop_log(PodEntry& entry);
  void read_log(PodEntry& entry, bool follows);
  void follow_log(PodEntry& entry);
  void close(PodEntry& entry);
  void conclude(PodEntry& entry);
  void remove(PodEntry& entry);
  void look_for(PodEntry& entry);
  void create(PodEntry& entry);
  void leave(PodEntry& entry);

  void end(PodEntry& entry, job::ExitReport report, bool is_known);
  void lose(PodEntry& entry, const std::optional<job::Why>& loss);
  [[nodiscard]] bool ends_by_others(const PodEntry& entry) const;
  [[nodiscard]] static job::Why loss_of_agent(const PodEntry& entry);
  [[nodiscard]] bool log_is_done(PodEntry& entry);
  [[nodiscard]] bool outputs_are_done(PodEntry& entry);
  [[nodiscard]] base::Instant end_of(const Run& run) const;
  [[nodiscard]] std::chrono::seconds grace_for(const PodEntry& entry) const;

  // Pods that are placed together (pod_book_gang.cc).
  [[nodiscard]] Round round_of(int generation) const;
  [[nodiscard]] bool is_of_round(const PodEntry& entry) const;
  void check_round();
  void take_back(std::size_t placed, std::size_t wanted);
  void end_allocation(PodEntry& entry);
  [[nodiscard]] std::string reason_of(const PodEntry& entry) const;
  [[nodiscard]] std::string reasons() const;
  void note_absent(job::Why& why) const;

  Options options_;
  std::map<job::TaskId, PodEntry> entries_;
  std::unordered_map<std::string, PodEntry*> by_name_;
  Round round_;
  ServerTime server_time_;
  bool is_ready_ = false;
  bool is_listed_ = false;                  // no list is awaited
  std::optional<base::Instant> look_by_{};  // pods that others take away are looked for until then
  bool others_are_released_ = false;
  bool is_gone_ = false;
  bool is_owner_asked_for_ = false;
  bool is_owner_in_doubt_ = false;  // to be requested
  base::Instant owner_look_at_{};   // not before
  bool is_owner_deleted_ = false;
  std::optional<base::Instant> silent_since_;
  std::string silence_;
  bool is_silence_told_ = false;
  std::string turn_;
  base::Instant next_events_at_;
  base::Instant now_;
  std::vector<PodAction> actions_;
};

}  // namespace gangrun::kubernetes::pods
