#pragma once

#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/format.h"
#include "base/overloaded.h"
#include "kubernetes/pods/pod_book.h"

// For tests: a book, the time, and what it wants done as words.
namespace gangrun::kubernetes::pods {

inline const job::TaskId kWorker0{"worker", 0};
inline const job::TaskId kWorker1{"worker", 1};
inline const job::TaskId kBoard{"tensorboard", 0};

inline std::string words_of(const PodEvent& event) {
  return std::visit(
      base::Overloaded{
          [](const cluster::AgentAllocated& allocated) {
            return base::format("allocated {}", job::to_string(allocated.task));
          },
          [](const cluster::PreemptionNotice& notice) {
            return base::format("notice {}{}", job::to_string(notice.task),
                                notice.loss ? ": " + to_words(*notice.loss) : "");
          },
          [](const cluster::LossesTold&) { return std::string("losses told"); },
          [](const job::AgentEnded& ended) {
            return base::format("ended {}: {}{}", job::to_string(ended.task), to_words(ended.why),
                                job::is_own_fault(ended.why.reason) ? " (counts)" : "");
          },
          [](const gang::ClusterGone& gone) {
            return base::format("gone ({}): {}", job::to_string(gone.reason), gone.detail);
          },
          [](const RunStarted& started) {
            return base::format("started {}#{} on {}", job::to_string(started.task),
                                started.attempt, started.host);
          },
          [](const job::Exited& ended) {
            return base::format("run ended {}#{}: {}", job::to_string(ended.task), ended.attempt,
                                to_words(ended.report.why));
          },
          [](const cluster::TasksWarning& warning) { return "warn: " + warning.sentence; },
          [](const RunLine&) { return std::string("other"); },
      },
      event);
}

inline std::string words_of(const CreatePod& action) {
  return base::format("create {}#{}", job::to_string(action.task), action.attempt);
}
inline std::string words_of(const DeletePod& action) {
  return base::format("delete {} {} {}s", job::to_string(action.task), action.uid,
                      action.grace.count());
}
inline std::string words_of(const LookForPod& it) { return "look " + job::to_string(it.task); }
inline std::string words_of(const ListEvents& it) { return "events " + job::to_string(it.task); }
inline std::string words_of(const ReadLog& action) {
  return action.follows ? base::format("follow {} {}", job::to_string(action.task), action.uid)
                        : base::format("rest {}", job::to_string(action.task));
}
inline std::string words_of(const DropLog& it) { return "drop " + job::to_string(it.task); }
inline std::string words_of(const FetchOutputs& it) { return "fetch " + job::to_string(it.task); }
inline std::string words_of(const ListPods&) { return "list"; }
inline std::string words_of(const LookAtOwner&) { return "look at owner"; }

class BookDriver {
 public:
  static PodBook::Options options() {
    PodBook::Options options;
    options.job_id = "j";
    options.names = {{kWorker0, "j-worker-0"}, {kWorker1, "j-worker-1"}, {kBoard, "j-board-0"}};
    options.gang = {kWorker0, kWorker1};
    options.random = [] { return 0.0; };
    return options;
  }

  explicit BookDriver(PodBook::Options options = BookDriver::options())
      : book_(std::move(options)) {}

  PodBook& book() { return book_; }
  [[nodiscard]] base::Instant now() const { return now_; }

  // The actions that it has wanted since the last time.
  std::vector<std::string> words() {
    std::vector<std::string> words;
    for (const PodAction& action : book_.take_actions()) {
      words.push_back(std::visit([](const auto& a) { return words_of(a); }, action));
    }
    return words;
  }

  // Objects and list are there, each task has a slot and a run.
  void begin(const std::vector<job::TaskId>& tasks) {
    book_.on_ready(now_);
    book_.on_list({}, now_);
    for (const job::TaskId& task : tasks) book_.start(task, 1, now_);
    for (const job::TaskId& task : tasks) run(task, 1);
  }
  void run(const job::TaskId& task, int attempt, int generation = 1) {
    book_.run(task, {.attempt = attempt, .generation = generation, .environment = {}}, now_);
  }
  void stop(const job::TaskId& task, int seconds, int attempt = 1) {
    book_.stop(task, attempt, std::chrono::seconds(seconds), now_);
  }
  void end_run(const job::TaskId& task, int seconds) {
    book_.end_run(task, std::chrono::seconds(seconds), now_);
  }

  // The pod as it is, which a test changes and shows.
  PodFacts& pod(const job::TaskId& task) { return pods_[task]; }
  // A new one with the task's name.
  PodFacts& make(const job::TaskId& task, const std::string& uid, int attempt = 1) {
    PodFacts facts;
    facts.name = task == kBoard ? "j-board-0" : base::format("j-{}-{}", task.type, task.index);
    facts.uid = uid;
    facts.job = "j";
    facts.attempt = attempt;
    facts.phase = "Pending";
    return pods_[task] = facts;
  }
  void created(const job::TaskId& task, const std::string& uid, int attempt = 1) {
    book_.on_created(task, make(task, uid, attempt), now_);
  }
  void refuse(const job::TaskId& task, base::Code code, const std::string& message) {
    book_.on_created(task, base::Error{code, message}, now_);
  }
  void show(const job::TaskId& task, bool is_deleted = false) {
    book_.on_change(pods_.at(task), is_deleted, now_);
  }
  void place(const job::TaskId& task) {
    pod(task).node = "n1";
    show(task);
  }
  void start(const job::TaskId& task) {
    PodFacts& facts = pod(task);
    facts.node = "n1";
    facts.phase = "Running";
    facts.task.state = ContainerFacts::State::kRunning;
    facts.task.has_run = true;
    show(task);
  }
  void exit(const job::TaskId& task, int code) {
    PodFacts& facts = pod(task);
    facts.phase = code == 0 ? "Succeeded" : "Failed";
    facts.task.state = ContainerFacts::State::kTerminated;
    facts.task.exit_code = code;
    show(task);
  }
  void log_ended(const job::TaskId& task, const base::Result<>& ended = {}) {
    book_.on_log_ended(task, pod(task).uid, ended, now_);
  }
  void gone(const job::TaskId& task) { show(task, true); }
  // These are all that there are, as they are.
  void list(const std::vector<job::TaskId>& tasks) {
    std::vector<PodFacts> pods;
    for (const job::TaskId& task : tasks) pods.push_back(pods_.at(task));
    book_.on_list(pods, now_);
  }
  // By somebody else; it may take as long to end.
  void deleted(const job::TaskId& task, std::chrono::seconds grace = std::chrono::seconds(30)) {
    pod(task).is_deleting = true;
    pod(task).deletion_grace = grace;
    show(task);
  }

  // Time goes on as far as said, with every deadline on the way.
  void pass(base::Duration duration) {
    const base::Instant end = now_ + duration;
    for (auto next = book_.next_deadline(); next && *next <= end; next = book_.next_deadline()) {
      now_ = std::max(now_, *next);
      book_.on_time(now_);
    }
    now_ = end;
    book_.on_time(now_);
  }

 private:
  PodBook book_;
  base::Instant now_{std::chrono::seconds(100'000)};
  std::map<job::TaskId, PodFacts> pods_;
};

}  // namespace gangrun::kubernetes::pods
