#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "cluster/tasks.h"
#include "kubernetes/client.h"
#include "kubernetes/pods/job_pods.h"
#include "kubernetes/pods/manifests.h"
#include "kubernetes/pods/pod_notices.h"
#include "kubernetes/pods/pod_outputs.h"
#include "kubernetes/pods/pod_run.h"
#include "kubernetes/pods/pod_runs.h"
#include "kubernetes/pods/pod_streams.h"
#include "net/event_loop.h"

namespace gangrun::kubernetes::pods {

// Tasks as pods of one namespace, with no agent of ours beside them.
class KubernetesTasks final : public cluster::Tasks {
 public:
  struct Options {
    std::string log_folder;          // of the client; the tasks' lines are written there
    std::string output_folder;       // likewise; TYPE-INDEX/ in it is made for a task's outputs
    Unpack unpack;                   // for them
    std::function<double()> random;  // from 0 to 1
  };

  KubernetesTasks(net::EventLoop& loop, base::Logger& logger, kubernetes::Client& client,
                  Manifests manifests, const Options& options);

  // See JobPods.
  void clear(std::function<void(base::Result<>)> done);
  [[nodiscard]] std::string left() const { return pods_.left(); }

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
  void warn(std::string sentence) { pods_.tell(cluster::TasksWarning{std::move(sentence)}); }
  JobPods::Callbacks pod_callbacks();
  PodStreams::Callbacks stream_callbacks();
  PodOutputs::Callbacks output_callbacks();

  net::EventLoop& loop_;
  std::function<void(cluster::TasksEvent)> listener_;
  Manifests manifests_;
  PodRuns runs_;
  JobPods pods_;
  PodStreams streams_;
  PodOutputs outputs_;
  PodNotices notices_;
};

}  // namespace gangrun::kubernetes::pods
