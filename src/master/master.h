#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "cluster/tasks.h"
#include "job/spec.h"
#include "job/status.h"
#include "journal/far_copy.h"
#include "journal/recorded_gang.h"
#include "journal/replay.h"
#include "journal/writer.h"
#include "master/decision_gate.h"
#include "mirror/zookeeper_copy.h"
#include "net/event_loop.h"

namespace gangrun::master {

// The most remarks of the place that a status shows; later ones are only in the log.
inline constexpr std::size_t kMaxRemarks = 8;

// Hears what a master tells the process that it lives in. Called on the loop's thread.
class Listener {
 public:
  virtual ~Listener() = default;
  // The state of the job or of a task has changed. Not called for memory, CPU and log lines: who
  // shows them asks status(), or reads the logs, at its own pace.
  virtual void on_changed() = 0;
  // Lines of the task's output are not in its log, and why.
  virtual void on_incomplete_log(const job::TaskId& task, std::string_view what) = 0;
  // Worth telling the user: a restart, a sidecar that failed.
  virtual void on_warning(std::string_view sentence) = 0;
  // Worth knowing for the user, and nothing is wrong: where the tasks work, what was brought.
  virtual void on_remark(std::string_view sentence) = 0;
  // The job has ended and nothing of it is alive; called once, the last call.
  virtual void on_finished() = 0;
};

// The job that the master has.
struct JobSettings {
  job::JobSpec spec;  // validated
  std::string id;
  std::string folder;  // the job's own
  // When the user gave the command: what start-up times count from.
  base::Instant commanded_at;
  // The state that the earlier masters of the job left; none: this is the first one.
  std::optional<journal::Replayed> past;
  // Told from the beginning, as the place's own remarks are.
  std::vector<std::string> remarks{};
  mirror::ZooKeeperCopyOptions zookeeper{};
};

// The places of its records.
struct RecordSettings {
  std::string log_folder;  // of the tasks' output; must exist
  // Whether another master may go on when this one dies: then nothing is given out that is not
  // recorded. Else the job does not wait for its journal.
  bool can_be_followed = false;
  // With one, what gives out something new (a generation, a start) and the verdict wait until the
  // journal is known there too. Outlives the master.
  journal::FarCopy* far_copy = nullptr;
};

// How long it waits.
struct WaitSettings {
  // How long tasks go on without hearing from their master.
  std::chrono::milliseconds master_lost{0};
  // Whether the cause of a failure is told as soon as it is known, and not with the job's end:
  // somebody waits for it beside whom others may take long to stop.
  bool tells_cause_early = false;
};

// Everything about one job that is settled before its master begins.
struct Settings {
  JobSettings job;
  RecordSettings records;
  WaitSettings waits;
  // Hears that a generation of the cluster spec is complete, or was when the earlier master died.
  // Before any task runs with it.
  std::function<void(const job::ClusterSpec&)> on_published;
};

// For journal::replay().
gang::Gang::Limits gang_limits(std::chrono::milliseconds master_lost);

// The coordinator of one job: gang, journal and what runs the tasks put together. Owns none of the
// things that it is given by reference; they outlive it.
class Master {
 public:
  Master(net::EventLoop& loop, const base::Clock& clock, base::Logger& logger,
         cluster::Tasks& tasks, journal::Writer& journal, Listener& listener, Settings settings);
  ~Master() = default;
  Master(const Master&) = delete;
  Master& operator=(const Master&) = delete;

  // Asks for the tasks, or takes over those of an earlier master. On an error nothing was started.
  base::Result<> start();
  // Asks for the end of the job; a second time, or at_once: without any grace.
  void request_stop(std::string by, bool at_once);
  // Asks the tasks that the question names, or all that run. `on_answer` is called once, here or
  // later from the loop.
  void ask(const cluster::Question& question, cluster::OnAnswer on_answer);
  // Told with the job's state from now on, and with its cause if it fails: what is wrong beside it.
  // An empty sentence: it is well again.
  void set_trouble(std::string sentence) { trouble_ = std::move(sentence); }
  [[nodiscard]] job::JobStatus status() const;
  // Why no new task is awaited any more, as a sentence; none: the job goes on.
  [[nodiscard]] std::optional<std::string> over() const;
  // The tasks have ended, and files that they have written are being brought.
  [[nodiscard]] bool is_settling() const { return is_settling_; }

 private:
  void resume();
  void handle(gang::Event event, std::optional<journal::PlaceRecord> place = {});
  void act_upon(const journal::RecordedGang::Handled& handled);
  void tell_of_journal();
  void on_time();
  void conclude();
  void carry_out(const gang::Decision& decision);
  void arm_timer();

  void on(const cluster::Happened& event);
  void on(const cluster::IncompleteLog& event);
  void on(const cluster::TasksWarning& event);
  void on(const cluster::Remark& event);

  void tell_if_out(const job::TaskId& id);

  void obey(const gang::Allocate& decision) { tasks_.start(decision); }
  void obey(const gang::Publish& decision);
  void obey(const gang::Start& decision) { tasks_.run(decision, published_); }
  void obey(const gang::Stop& decision) { tasks_.stop(decision); }
  void obey(const gang::End& decision) { tasks_.end(decision); }
  void obey(const gang::Kill& decision);
  void obey(const gang::Warn& decision);
  void obey(const gang::Finish& decision);
  void publish(const job::ClusterSpec& spec);
  void note_all_started();
  void record(const base::Result<>& written);
  [[nodiscard]] std::string waiting_for(base::Instant now) const;
  [[nodiscard]] job::TaskStatus status_of(const gang::Task& task) const;

  net::EventLoop& loop_;
  const base::Clock& clock_;
  base::Logger& logger_;
  cluster::Tasks& tasks_;
  journal::Writer& journal_;
  Listener& listener_;
  JobSettings job_;
  const RecordSettings records_;
  const WaitSettings waits_;
  const std::function<void(const job::ClusterSpec&)> on_published_;
  journal::RecordedGang recorded_;
  const gang::Gang& gang_;
  job::JobState state_;  // that was recorded last
  DecisionGate gate_;
  std::shared_ptr<const job::ClusterSpec> published_;
  std::string submitted_;
  std::string ended_;
  std::optional<base::Instant> finished_at_;
  std::optional<job::Cause> cause_;
  std::string trouble_;
  std::vector<std::string> remarks_;  // of the place
  net::Timer remarks_timer_;
  std::int64_t all_started_ms_ = -1;
  bool journal_failed_ = false;
  bool was_behind_ = false;
  bool handling_ = false;
  bool is_settling_ = false;  // the place brings what the tasks have written
  net::Timer timer_;
  std::unique_ptr<mirror::ZooKeeperCopy> zookeeper_;  // where the job asks for one
};

}  // namespace gangrun::master
