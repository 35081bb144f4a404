#include "kubernetes/commands/pod_way.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "kubernetes/commands/kubernetes_access.h"
#include "kubernetes/pods/errands.h"
#include "kubernetes/pods/kubernetes_options.h"
#include "kubernetes/pods/names.h"

namespace gangrun::kubernetes::commands {

namespace {

// Until the pods are known, or why not; afterwards it is told as what is waited for.
constexpr base::Duration kFirstLook = base::seconds(5);

}  // namespace

base::Result<std::unique_ptr<client::TaskWay>> PodWay::make(
    net::EventLoop& loop, const client::Context& context, const job::JobSpec& spec,
    const std::string& job, const job::TaskId& task, std::uint16_t port,
    std::function<void(const base::Error&)> on_broken) {
  auto way = std::make_unique<PodWay>(Private{});
  pods::ManifestInput input;
  input.spec = spec;
  input.job_id = job;
  way->has_agent_ = pods::has_agents(spec);
  way->owner_.name = pods::owner_name(input);
  GANGRUN_ASSIGN(way->client_,
                 kubernetes_client(loop, *way->logger_, context, pods::kubernetes_of(spec)));
  way->forwarder_ = std::make_unique<PodForwarder>(loop, *way->client_, std::move(on_broken));
  GANGRUN_ASSIGN(way->port_, way->forwarder_->listen(port).context("--port"));
  way->watch(job, task);
  (void)loop.run_until([&] { return way->has_listed_ || way->trouble_; }, loop.now() + kFirstLook);
  return std::unique_ptr<client::TaskWay>(std::move(way));
}

void PodWay::watch(const std::string& job, const job::TaskId& task) {
  kubernetes::WatchRequest request;
  request.path = kubernetes::pods_path(client_->access().name_space);
  request.label_selector =
      base::format("{}={},{}={}-{}", pods::kJobLabel, job, pods::kTaskLabel, task.type, task.index);
  kubernetes::WatchCallbacks callbacks;
  callbacks.on_list = [this](const std::vector<base::Json>& pods) {
    has_listed_ = true;
    trouble_.reset();
    pods_.clear();
    for (const base::Json& pod : pods) on_pod(pod, false);
    aim();
  };
  callbacks.on_change = [this](const kubernetes::Change& change) {
    trouble_.reset();
    on_pod(change.object, change.is_deleted);
    aim();
  };
  callbacks.on_trouble = [this](const base::Error& error, bool is_final) {
    trouble_ = error;
    is_refused_ = is_final;
  };
  watch_ = client_->watch(std::move(request), std::move(callbacks));
}

void PodWay::on_pod(const base::Json& pod, bool is_deleted) {
  // Whoever may make pods may give them labels.
  if (!pods::is_owned_by(pod, owner_)) return;
  // Which container runs the command is no matter here.
  pods::PodFacts facts = pods::pod_facts(pod, pods::kTaskContainer);
  const std::string name = facts.name;
  if (is_deleted) {
    pods_.erase(name);
  } else {
    pods_[name] = std::move(facts);
  }
}

// An agent runs up to a second before the API server knows it.
const pods::PodFacts* PodWay::running_pod() const {
  const auto found = std::ranges::find_if(pods_, [this](const auto& entry) {
    const pods::PodFacts& pod = entry.second;
    const bool may_run = has_agent_ ? pod.is_scheduled() && !pod.is_over() : pod.phase == "Running";
    return may_run && !pod.is_deleting;
  });
  return found == pods_.end() ? nullptr : &found->second;
}

void PodWay::aim() {
  const pods::PodFacts* pod = running_pod();
  if (pod == nullptr || task_port_ == 0) return forwarder_->set_target(std::nullopt);
  forwarder_->set_target(PodPort{pod->name, task_port_});
}

base::Result<std::string> PodWay::take(const job::TaskStatus* task,
                                       const base::Result<client::TaskAgent>&) {
  if (trouble_ && is_refused_) return *trouble_;
  if (task != nullptr && !task->ports.empty()) task_port_ = task->ports.front().port;
  aim();
  if (running_pod() != nullptr) {
    return task_port_ == 0 ? std::string("its port is not known yet") : std::string();
  }
  if (trouble_) return trouble_->message;
  if (pods_.empty()) return std::string("it has no pod yet");
  const pods::PodFacts& pod = pods_.begin()->second;
  return base::format("its pod {} is {}", pod.name, pod.is_deleting ? "Terminating" : pod.phase);
}

// The agent listens at its pod's loopback interface, to which the forwarder leads.
base::Result<net::Endpoint> PodWay::to_agent(const client::TaskAgent& agent) {
  const pods::PodFacts* pod = running_pod();
  if (has_agent_) {
    if (pod == nullptr) return base::unavailable("its pod does not run");
    forwarder_->set_target(PodPort{pod->name, agent.port});
    return net::Endpoint::on_tls("127.0.0.1", port_, agent.fingerprint);
  }
  const std::string name = pod == nullptr ? std::string("POD") : pod->name;
  return base::Error{base::Code::kFailedPrecondition,
                     base::format("it is in a pod, which has no agent; kubectl exec runs a command "
                                  "there: kubectl exec -it -n {} {} -- COMMAND",
                                  client_->access().name_space, name)};
}

}  // namespace gangrun::kubernetes::commands
