#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "kubernetes/client.h"
#include "kubernetes/pods/errands.h"
#include "kubernetes/pods/job_objects.h"
#include "kubernetes/pods/job_removal.h"
#include "kubernetes/pods/manifests.h"
#include "kubernetes/pods/pod_book.h"
#include "kubernetes/pods/pod_notices.h"
#include "kubernetes/pods/pod_outputs.h"
#include "kubernetes/pods/pod_run.h"
#include "kubernetes/pods/pod_runs.h"
#include "kubernetes/pods/pod_streams.h"
#include "net/event_loop.h"
#include "net/posts.h"

namespace gangrun::kubernetes::pods {

// How long a job's objects outlive a client that is silent, and how often it says that it is there.
inline constexpr std::chrono::seconds kClientLease{60};
inline constexpr std::chrono::seconds kLeaseRenewal{20};

// Tasks as pods of one namespace, with no agent of ours beside them. Owns nothing of the cluster:
// what it made there belongs to an object with a deadline, which it keeps moving.
class KubernetesTasks final : public cluster::Tasks {
 public:
  struct Options {
    std::string log_folder;          // of the client; the tasks' lines are written there
    std::string output_folder;       // likewise; TYPE-INDEX/ in it is made for a task's outputs
    Unpack unpack;                   // for them
    std::function<double()> random;  // from 0 to 1
    std::chrono::seconds lease = kClientLease;
  };

  KubernetesTasks(net::EventLoop& loop, base::Logger& logger, kubernetes::Client& client,
                  Manifests manifests, const Options& options);

  // Deletes all that is there, waits until it is gone (with a limit) and calls `done`: with an
  // error that names what is left, if something is.
  void clear(std::function<void(base::Result<>)> done);
  // The objects that clear() waits for ("pods a-worker-0").
  [[nodiscard]] std::string left() const { return removal_ ? removal_->left() : ""; }

  void on_event(std::function<void(cluster::TasksEvent)> listener) override {
    listener_ = std::move(listener);
  }
  // A slot costs nothing and is there at once; run() fills it with a pod, again and again. A pod
  // that is lost by no fault of its command (an eviction, a lost node) takes the slot with it.
  void start(const gang::Allocate& decision) override;
  void run(const gang::Start& decision,
           const std::shared_ptr<const job::ClusterSpec>& spec) override;
  void stop(const gang::Stop& decision) override;
  void end(const gang::End& decision) override;
  void kill(const gang::Kill& decision) override;
  void resume(const std::vector<cluster::Left>& tasks) override;
  // Nobody is beside a command to answer; a notice is given by a command in its container.
  void ask(const std::vector<job::TaskId>& tasks, const cluster::Question& question,
           const cluster::OnTaskAnswer& on_answer) override;
  void settle(std::function<void()> done) override;
  [[nodiscard]] std::string waiting_for(std::string of_gang) const override;
  [[nodiscard]] const cluster::TaskFacts* facts(const job::TaskId& task) const override {
    return runs_.facts(task);
  }

 private:
  // Once: makes the owner and all but the pods, or finds those of an earlier client of the job.
  // Pods wait for it. Its error comes as gang::ClusterGone.
  void begin();
  // With the time; then does what the book wants by now.
  template <typename... Parameters, typename... Args>
  void tell_book(void (PodBook::*what)(Parameters...), const Args&... args) {
    (book_.*what)(args..., loop_.now());
    act();
  }
  void act();

  void carry_out(const CreatePod& action);
  void create_next();
  void create(const job::TaskId& task, const PodRun& run);
  void created(const job::TaskId& task, const base::Result<PodFacts>& made);
  void carry_out(const DeletePod& action);
  void carry_out(const LookForPod& action);
  void carry_out(const ListEvents& action);
  void carry_out(const ReadLog& read) { streams_.read(read.task, read.uid, read.follows); }
  void carry_out(const DropLog& action) { streams_.drop(action.task); }
  void carry_out(const LookAtOwner&) { objects_.look_at_owner(); }
  void carry_out(const FetchOutputs& action) { outputs_.fetch(action.task, action.uid); }
  void carry_out(PodEvent& event) { tell(std::move(event)); }

  void watch();
  void tell(PodEvent event);
  void warn(std::string sentence) { tell(cluster::TasksWarning{std::move(sentence)}); }
  void flush();
  [[nodiscard]] PodFacts facts_of(const base::Json& pod) const;
  // Not somebody else's with our label and one of our names.
  [[nodiscard]] bool is_ours(const base::Json& pod) const;
  [[nodiscard]] std::string pods_path() const;
  JobObjects::Callbacks object_callbacks();
  PodStreams::Callbacks stream_callbacks();
  PodOutputs::Callbacks output_callbacks();

  net::EventLoop& loop_;
  const net::Posts posts_;
  base::Logger& logger_;
  Client& client_;
  std::function<void(cluster::TasksEvent)> listener_;
  Manifests manifests_;
  std::map<std::string, job::TaskId> tasks_;  // by the names of their pods
  PodBook book_;
  PodRuns runs_;
  JobObjects objects_;
  PodStreams streams_;
  PodOutputs outputs_;
  PodNotices notices_;
  Errands errands_;
  std::map<std::string, std::uint64_t> deletions_;  // under way, by the uids of their pods
  ActivityHandle watch_;
  std::optional<JobRemoval> removal_;
  net::Timer timer_;
  std::deque<job::TaskId> to_create_;
  int being_created_ = 0;
  bool has_begun_ = false;
  bool is_cleared_ = false;
  // Events that are to be told, lines too, in their order and never from inside a call.
  std::deque<PodEvent> outbox_;
};

}  // namespace gangrun::kubernetes::pods
