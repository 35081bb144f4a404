#include "cluster/yarn/yarn_cluster.h"

#include <algorithm>

#include "base/format.h"
#include "base/strings.h"
#include "cluster/yarn/container_end.h"
#include "cluster/yarn/container_runtime.h"
#include "cluster/yarn/submission_checks.h"
#include "hadoop/launch_script.h"

namespace gangrun::cluster {

namespace {

// How many answers of the ResourceManager an adopted container may be missing from before it is
// taken for gone: what ended meanwhile is told with the first ones.
constexpr int kLooksForAdopted = 3;
// The pause before a ResourceManager that does not answer is called again.
constexpr std::chrono::milliseconds kSilentPoll(500);

// Whether the job goes on with fewer tasks than it asks for: then it takes what there is.
bool is_elastic(const job::JobSpec& spec) {
  return std::any_of(spec.tasks.begin(), spec.tasks.end(), [](const job::TaskSpec& task) {
    return task.min_instances.has_value() || task.spares > 0;
  });
}

}  // namespace

// One NodeManager, with what is to be said to it: one call at a time.
struct YarnCluster::Node {
  hadoop::NodeId id;
  std::shared_ptr<hadoop::NodeManagerClient> client;
  std::deque<hadoop::NodeManagerClient::Start> starts;
  std::deque<hadoop::ContainerId> stops;
  bool busy = false;
};

struct YarnCluster::Exchange {
  bool must_register = false;
  hadoop::AllocateRequest request;
};

struct YarnCluster::Answer {
  std::optional<base::Result<hadoop::Registered>> registered;
  std::optional<base::Result<hadoop::AllocateResponse>> allocated;
};

YarnCluster::YarnCluster(net::EventLoop& loop, base::Logger& logger,
                         std::unique_ptr<hadoop::ApplicationMasterClient> resource_manager,
                         Options options)
    : loop_(loop),
      logger_(logger),
      options_(std::move(options)),
      resource_manager_(std::move(resource_manager)),
      allocation_({.all_or_nothing = !is_elastic(options_.spec),
                   .hold = options_.spec.timeouts.hold,
                   .random = options_.random}),
      resource_manager_worker_(loop, 1),
      node_workers_(loop, kNodeThreads) {
  std::int64_t number = 0;
  for (const job::TaskId& task : options_.spec.task_ids()) numbers_[task] = number++;
  allocation_.set_hosts(options_.nodes);
}

YarnCluster::~YarnCluster() = default;

void YarnCluster::on_event(std::function<void(Event)> listener) { listener_ = std::move(listener); }

void YarnCluster::emit(Event event) {
  const std::weak_ptr<bool> alive = alive_;
  loop_.post([this, alive, event = std::move(event)]() mutable {
    if (!alive.expired() && listener_) listener_(std::move(event));
  });
}

std::int64_t YarnCluster::number_of(const job::TaskId& task) const { return numbers_.at(task); }

ContainerWish YarnCluster::wish_of(const job::TaskId& task, const Launch& launch) const {
  const job::TaskSpec& spec = *options_.spec.find(task.type);
  ContainerWish wish;
  wish.resource = resource_of(launch.resources);
  wish.label = spec.label;
  wish.one_per_node = spec.one_per_node;
  wish.tag = task.type;
  if (launch.wanted) wish.host = launch.wanted->host;
  wish.avoided = launch.avoided;
  return wish;
}

void YarnCluster::start(const job::TaskId& task, int attempt, Launch launch) {
  const std::int64_t number = number_of(task);
  ContainerWish wish = wish_of(task, launch);
  asked_[number] = {{task, attempt}, std::move(launch)};
  allocation_.want(number, std::move(wish));
  poll_soon();
}

void YarnCluster::adopt(const job::TaskId& task, int attempt, const base::Json& handle) {
  const auto text = base::json_member<std::string>(handle, "container");
  const auto host = base::json_member<std::string>(handle, "node");
  const auto port = base::json_member<std::int32_t>(handle, "node_port");
  const auto id = text.ok() ? hadoop::container_id_from(*text)
                            : base::Result<hadoop::ContainerId>(text.error());
  if (!id.ok() || !host.ok() || !port.ok()) {
    return emit(job::AgentEnded{task, attempt, container_lost("the new master does not know it"),
                                loop_.now()});
  }
  running_[*id] = {{task, attempt}, {*host, *port}, true, 0};
}

void YarnCluster::release_others() {
  others_are_released_ = true;
  for (const hadoop::ContainerId& id : others_) allocation_.release(id);
  others_.clear();
  poll_soon();
}

void YarnCluster::stop(const job::TaskId& task, int attempt, std::chrono::milliseconds) {
  const auto asked = asked_.find(number_of(task));
  if (asked != asked_.end() && asked->second.key == Key{task, attempt}) {
    asked_.erase(asked);
    allocation_.forget(number_of(task));
    emit(job::AgentEnded{task, attempt, job::not_begun(), loop_.now()});
    return poll_soon();
  }
  const auto running = std::find_if(running_.begin(), running_.end(), [&](const auto& entry) {
    return entry.second.key == Key{task, attempt};
  });
  if (running == running_.end()) return;
  // The NodeManager is quick, the ResourceManager is sure: it also reaches a node that comes back.
  // Both leave the time between SIGTERM and SIGKILL to the node (250 ms, if not configured).
  allocation_.release(running->first);
  const auto node = nodes_.find(running->second.node);
  if (node != nodes_.end()) {
    node->second->stops.push_back(running->first);
    work_on(node->second);
  }
  poll_soon();
}

void YarnCluster::begin(std::uint16_t port) {
  port_ = port;
  began_ = true;
  poll_soon();
}

// Several asks in one turn of the loop go together.
void YarnCluster::poll_soon() {
  pause_ = kFirstPoll;
  if (began_ && !busy_) arm(std::chrono::milliseconds(0));
}

void YarnCluster::arm(std::chrono::milliseconds delay) {
  timer_ = loop_.after(delay, [this] { exchange(); });
}

void YarnCluster::exchange() {
  if (busy_ || unwanted_ || finishing_) return;
  allocation_.on_time(loop_.now());
  if (registered_ && !unsent_) unsent_ = allocation_.take_request();
  auto exchange = std::make_shared<Exchange>();
  exchange->must_register = !registered_;
  if (unsent_) exchange->request = *unsent_;
  busy_ = true;
  const auto submitted = resource_manager_worker_.run(
      [client = resource_manager_, exchange, host = options_.host, port = port_,
       url = options_.tracking_url] {
        Answer answer;
        const base::Instant deadline = std::chrono::steady_clock::now() + kCallTimeout;
        if (exchange->must_register) {
          answer.registered = client->register_master(host, port, url, deadline);
        } else {
          answer.allocated = client->allocate(exchange->request, deadline);
        }
        return answer;
      },
      [this](Answer answer) { on_answer(std::move(answer)); });
  if (!submitted.ok()) on_failed(submitted.error());
}

void YarnCluster::on_answer(Answer answer) {
  busy_ = false;
  if (after_call_) return std::exchange(after_call_, nullptr)();
  if (answer.registered) {
    if (!answer.registered->ok()) return on_failed(answer.registered->error());
    on_registered(**answer.registered);
  } else if (answer.allocated) {
    if (!answer.allocated->ok()) return on_failed(answer.allocated->error());
    unsent_.reset();
    // Where some have come, the others are not far.
    if (!(**answer.allocated).allocated.empty()) pause_ = kFirstPoll;
    on_allocated(**answer.allocated);
  }
  silent_since_.reset();
  if (allocation_.has_request() || !registered_ || answer.registered) {
    pause_ = kFirstPoll;
    return arm(std::chrono::milliseconds(0));
  }
  arm(pause_);
  // Nothing new is waited for: YARN only wants to hear that we live, and tells what has ended.
  pause_ = std::min(pause_ * 2, kLongestPoll);
}

void YarnCluster::on_failed(const base::Error& error) {
  busy_ = false;
  if (after_call_) return std::exchange(after_call_, nullptr)();
  const base::Instant now = loop_.now();
  switch (error.code) {
    case base::Code::kFailedPrecondition:
      logger_.info("the ResourceManager has been restarted: {}", error.message);
      registered_ = false;
      unsent_.reset();
      allocation_.on_resync();
      return arm(kFirstPoll);
    case base::Code::kNotFound:
      // Another attempt may have the job now: nothing more is decided here, so nobody is told.
      logger_.error("YARN has replaced this master: {}", error.message);
      unwanted_ = true;
      return;
    case base::Code::kInvalidArgument:
      give_up_asking();
      arm(kLongestPoll);
      return emit(Gone{base::format("YARN refuses the request: {}", error.message)});
    default: break;
  }
  if (!silent_since_) {
    silent_since_ = now;
    logger_.warning("the ResourceManager does not answer: {}", error.message);
  }
  if (now - *silent_since_ > kResourceManagerTimeout && !std::exchange(told_silent_, true)) {
    emit(Gone{base::format("the ResourceManager has not answered for {}: {}",
                           base::to_words(kResourceManagerTimeout), error.message)});
  }
  arm(kSilentPoll);
}

// One ask that can never be granted makes YARN refuse all that goes with it.
void YarnCluster::give_up_asking() {
  unsent_.reset();
  for (const auto& [number, asked] : asked_) allocation_.forget(number);
  asked_.clear();
  allocation_.on_resync();
}

void YarnCluster::on_registered(const hadoop::Registered& registered) {
  registered_ = true;
  queue_ = registered.queue;
  logger_.info("registered with the ResourceManager, queue {}", registered.queue);
  use_tokens(registered.node_tokens);
  take_over(registered.containers);
}

// What lives of earlier attempts and is not ours is ended, when that is settled.
void YarnCluster::take_over(const std::vector<hadoop::Container>& containers) {
  for (const hadoop::Container& container : containers) {
    const auto known = running_.find(container.id);
    if (known != running_.end()) {
      known->second.adopted = false;
      known->second.node = container.node;
    } else if (others_are_released_) {
      allocation_.release(container.id);
    } else {
      others_.insert(container.id);
    }
  }
}

void YarnCluster::on_allocated(const hadoop::AllocateResponse& response) {
  use_tokens(response.node_tokens);
  take_over(response.from_earlier_attempts);
  for (const hadoop::ContainerStatus& status : response.completed) on_completed(status);
  for (const auto& rejected : response.rejected) {
    allocation_.on_rejected(rejected.allocation_request_id, loop_.now());
  }
  for (const Allocation::Granted& granted :
       allocation_.on_allocated(response.allocated, loop_.now())) {
    launch(granted);
  }
  look_for_adopted();
  tell_preemption(response.preemption);
  tell_waiting(response);
}

// YARN does not say when: it marks a container, tells it with its next answer, and takes it after
// the configured time unless it is not wanted any more by then. It may repeat itself meanwhile.
void YarnCluster::tell_preemption(const hadoop::Preemption& preemption) {
  const base::Instant now = loop_.now();
  const base::Duration late = std::min<base::Duration>(kLongestPoll, options_.preemption_wait);
  for (const auto* marked : {&preemption.strict, &preemption.candidates}) {
    for (const hadoop::ContainerId& id : *marked) {
      const auto found = running_.find(id);
      if (found == running_.end()) continue;
      Running& running = found->second;
      if (running.preempted_at && now < *running.preempted_at + options_.preemption_wait) continue;
      running.preempted_at = now + options_.preemption_wait - late;
      emit(PreemptionNotice{running.key.first, running.key.second, *running.preempted_at});
    }
  }
}

void YarnCluster::look_for_adopted() {
  std::vector<hadoop::ContainerId> gone;
  for (auto& [id, running] : running_) {
    if (running.adopted && ++running.looks >= kLooksForAdopted) gone.push_back(id);
  }
  for (const hadoop::ContainerId& id : gone) {
    end(id, container_lost("it ended before a new master came"));
  }
}

void YarnCluster::tell_waiting(const hadoop::AllocateResponse& response) {
  std::string waits_for = allocation_.waiting_for(loop_.now());
  if (!waits_for.empty()) {
    waits_for += base::format("; queue {} has {} MiB and {} vcores left for this job", queue_,
                              response.headroom.memory_mib, response.headroom.vcores);
  }
  if (waits_for == std::exchange(waits_for_, waits_for) || waits_for.empty()) return;
  emit(Waiting{waits_for});
}

void YarnCluster::on_completed(const hadoop::ContainerStatus& status) {
  allocation_.on_completed(status.id);
  others_.erase(status.id);
  end(status.id, explain_end(status));
}

void YarnCluster::end(const hadoop::ContainerId& id, job::Why why) {
  const auto found = running_.find(id);
  if (found == running_.end()) return;
  const Key key = found->second.key;
  running_.erase(found);
  emit(job::AgentEnded{key.first, key.second, std::move(why), loop_.now()});
}

void YarnCluster::use_tokens(const std::vector<hadoop::NodeToken>& tokens) {
  for (const hadoop::NodeToken& token : tokens) {
    auto& node = nodes_[token.node];
    if (!node) node = std::make_shared<Node>();
    node->id = token.node;
    // The one that is in use for a call lives until that has ended.
    node->client = std::make_shared<hadoop::NodeManagerClient>(token.node, token.token);
  }
}

void YarnCluster::launch(const Allocation::Granted& granted) {
  const hadoop::Container& container = granted.container;
  const auto found = asked_.find(granted.number);
  const auto node = nodes_.find(container.node);
  if (found == asked_.end()) return allocation_.release(container.id);
  const Asked asked = std::move(found->second);
  asked_.erase(found);
  const auto& [task, attempt] = asked.key;
  emit(Allocated{task,
                 attempt,
                 container.node.host,
                 {{"container", hadoop::to_string(container.id)},
                  {"node", container.node.host},
                  {"node_port", container.node.port}}});
  running_[container.id] = {asked.key, container.node};
  if (node == nodes_.end()) {
    allocation_.release(container.id);
    return end(container.id, container_lost("YARN gave no token for its node"));
  }
  logger_.info("{} gets {} on {}", job::to_string(task), hadoop::to_string(container.id),
               container.node.host);
  node->second->starts.push_back(
      {container.token, context_of(asked, container.node), container.id});
  work_on(node->second);
}

hadoop::LaunchContext YarnCluster::context_of(const Asked& asked,
                                              const hadoop::NodeId& node) const {
  const auto& [task, attempt] = asked.key;
  base::Json config = asked.launch.agent_config;
  config["master_host"] = options_.host;
  config["host"] = node.host;
  config["host_reason"] = "as YARN calls its node";
  config["place_tells_end"] = true;
  if (asked.launch.wanted) config["wanted_port"] = asked.launch.wanted->port;
  hadoop::LaunchContext context;
  context.local_resources = options_.files;
  const auto archives = options_.archives.find(task.type);
  if (archives != options_.archives.end()) {
    context.local_resources.insert(archives->second.begin(), archives->second.end());
  }
  for (const auto& [name, value] : options_.environment) {
    context.environment[name] = hadoop::quote_for_launch_script(value);
  }
  // Also that of a cgroup, where the node has one for it: without a slash.
  const std::string name = base::format("{}.{}.{}", options_.job_id, task.type, task.index);
  // Where YARN itself runs the image, the agent is in it.
  const bool yarn_runs_image =
      options_.spec.yarn.container_runtime == job::ContainerRuntime::kDocker;
  const std::vector<std::string>& containers = asked.launch.containers;
  for (const std::string& word : options_.agent_command) {
    context.command.push_back(word == "{name}" ? name : word);
    if (word != "{name}" || containers.empty() || yarn_runs_image) continue;
    context.command.emplace_back("--containers");
    context.command.push_back(base::format("{}", base::join(containers, ",")));
  }
  if (!containers.empty() && yarn_runs_image) {
    context.environment.merge(
        runtime_variables(options_.spec, options_.spec.image_of(*options_.spec.find(task.type))));
  }
  context.credentials = options_.credentials;
  context.credentials.secrets[kAgentConfigSecret] = base::Secret(base::dump_json(config));
  context.view_acl = options_.spec.yarn.view_acl;
  context.modify_acl = options_.spec.yarn.modify_acl;
  return context;
}

// One call after another: what has come together meanwhile goes together.
void YarnCluster::work_on(const std::shared_ptr<Node>& node) {
  if (node->busy || (node->starts.empty() && node->stops.empty())) return;
  node->busy = true;
  using Starts = std::vector<hadoop::NodeManagerClient::Start>;
  const auto starts = std::make_shared<Starts>(std::make_move_iterator(node->starts.begin()),
                                               std::make_move_iterator(node->starts.end()));
  const auto stops = std::make_shared<std::deque<hadoop::ContainerId>>(std::move(node->stops));
  node->starts.clear();
  node->stops.clear();
  using Results = base::Result<std::vector<base::Result<>>>;
  const auto submitted = node_workers_.run(
      [client = node->client, starts, stops]() -> Results {
        const base::Instant deadline = std::chrono::steady_clock::now() + kCallTimeout;
        // What cannot be stopped here, the ResourceManager ends: it has been given back to it.
        for (const hadoop::ContainerId& id : *stops) (void)client->stop_container(id, deadline);
        if (starts->empty()) return std::vector<base::Result<>>();
        return client->start_containers(*starts, deadline);
      },
      [this, node, starts](const Results& results) {
        node->busy = false;
        for (std::size_t i = 0; i < starts->size(); ++i) {
          const hadoop::ContainerId& id = (*starts)[i].id;
          if (results.ok() && i < results->size()) {
            on_started(id, (*results)[i]);
          } else if (!results.ok()) {
            on_started(id, results.error());
          }
        }
        work_on(node);
      });
  if (submitted.ok()) return;
  node->busy = false;
  for (const auto& start : *starts) on_started(start.id, submitted.error());
}

void YarnCluster::on_started(const hadoop::ContainerId& id, const base::Result<>& result) {
  if (result.ok()) return;
  const auto found = running_.find(id);
  if (found == running_.end()) return;
  logger_.warning("{} could not be started: {}", hadoop::to_string(id), result.error().message);
  // It may have been started all the same.
  allocation_.release(id);
  end(id, container_lost(base::format("its node refused it: {}", result.error().message)));
  poll_soon();
}

void YarnCluster::finish(hadoop::FinalStatus status, std::string diagnostics,
                         std::function<void(base::Result<>)> done) {
  finishing_ = true;
  timer_.reset();
  if (!registered_ || unwanted_) return done({});
  const auto tell = [this, status, diagnostics = std::move(diagnostics), done = std::move(done)] {
    const auto submitted = resource_manager_worker_.run(
        [client = resource_manager_, status, diagnostics, url = options_.logs_url] {
          // Our page ends with us. Without an address YARN tells users "N/A".
          return client->finish(status, diagnostics, url,
                                std::chrono::steady_clock::now() + kCallTimeout);
        },
        done);
    if (!submitted.ok()) done(submitted.error());
  };
  if (busy_) {
    after_call_ = tell;
  } else {
    tell();
  }
}

}  // namespace gangrun::cluster
