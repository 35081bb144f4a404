#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "job/spec.h"
#include "job/task_id.h"
#include "kubernetes/client.h"
#include "kubernetes/pods/manifests.h"
#include "net/event_loop.h"
#include "net/posts.h"

namespace gangrun::kubernetes::pods {

// As many commands are under way at a time.
inline constexpr int kMaxNoticesAtOnce = 16;
// For each: a node that is gone does not answer, and the next tasks wait for its turn.
inline constexpr std::chrono::seconds kNoticeLimit{20};

// The command that gives a notice inside the task's container, as an agent would beside it: writes
// `file`, then sends the signal to the container's command or, where that has no handler for it, to
// the first processes below it that have. Needs sh and mv. Its output: a line kNoticeWritten, and
// one that begins with kNoticeSignal for each process, before it gets the signal: it may end the
// container. `proc` is where Linux tells of processes.
inline constexpr std::string_view kNoticeWritten = "written";
inline constexpr std::string_view kNoticeSignal = "signal ";
std::vector<std::string> notice_command(const std::string& file, job::NoticeSignal signal,
                                        const std::string& proc = "/proc");

// The outcome of a notice, from what its command wrote and how it ended.
struct NoticeAnswer {
  int signals = 0;     // processes that got the signal
  std::string reason;  // why the task has no notice; empty: it has
};
NoticeAnswer notice_answer(std::string_view output, std::string_view errors,
                           const base::Result<int>& end);

// Gives the tasks' commands notice in their pods.
class PodNotices {
 public:
  // Once nothing is under way any more: a sentence for each reason, with the tasks that have no
  // notice because of it. None: all have it. Never from inside a call.
  using OnDone = std::function<void(std::vector<std::string> failures)>;
  // Whether a task has its notice; an error says why not.
  using OnTold = std::function<void(const job::TaskId&, const base::Result<>&)>;

  PodNotices(net::EventLoop& loop, base::Logger& logger, kubernetes::Client& client,
             const Manifests& manifests, OnDone on_done);

  // `by` is what it comes from: "SIGUSR1". A task whose notice is still under way gets no other.
  void give(const std::vector<job::TaskId>& tasks, const std::string& by);
  // Also calls `on_told` once for each of the tasks, from the loop or clear() and at the latest at
  // `limit`: a task that has no notice by then may still get it.
  void give(const std::vector<job::TaskId>& tasks, const std::string& by,
            std::chrono::milliseconds limit, OnTold on_told);
  // Gives up what is under way. Nothing is told of it but that, to each `on_told`.
  void clear();

 private:
  struct Asked {
    std::string by;
    std::string output;
    std::string errors;
    kubernetes::ActivityHandle activity;  // null: it waits for its turn
  };

  // Waits for the outcomes of some tasks.
  struct Listener {
    std::set<job::TaskId> tasks;
    OnTold on_told;
    net::Timer limit;
  };

  void ask_next();
  void ask(const job::TaskId& task);
  void on_ended(const job::TaskId& task, const base::Result<int>& end);
  void fail(const job::TaskId& task, const std::string& by, const std::string& reason);
  void tell(const job::TaskId& task, const base::Result<>& outcome);
  void give_up(std::uint64_t listener, const base::Error& error);
  void finish();

  net::EventLoop& loop_;
  const net::Posts posts_;
  base::Logger& logger_;
  kubernetes::Client& client_;
  const Manifests& manifests_;
  OnDone on_done_;
  std::map<job::TaskId, std::unique_ptr<Asked>> asked_;  // pieces of an answer find theirs here
  std::deque<job::TaskId> waiting_;
  int under_way_ = 0;
  std::uint64_t next_listener_ = 1;
  std::map<std::uint64_t, Listener> listeners_;
  // The tasks without a notice, by its origin and the reason.
  std::map<std::pair<std::string, std::string>, std::vector<job::TaskId>> failed_;
};

}  // namespace gangrun::kubernetes::pods
