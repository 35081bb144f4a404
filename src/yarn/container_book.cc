#include "yarn/container_book.h"

#include <algorithm>
#include <tuple>

#include "base/described_json.h"
#include "base/format.h"
#include "yarn/ends.h"
#include "yarn/task_container.h"

namespace gangrun::yarn {

namespace {

// Whether the job goes on with fewer tasks than it asks for: then it takes what there is.
bool is_elastic(const job::JobSpec& spec) {
  return std::ranges::any_of(spec.tasks, [](const job::TaskSpec& task) {
    return task.min_instances.has_value() || task.spares > 0;
  });
}

// The handle of a container. Masters add members of their own.
struct ContainerHandle {
  cluster::NamedContainer named;
  std::string node;
  std::int32_t node_port = 0;

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(base::flat_row(&ContainerHandle::named),
                      base::row("node", &ContainerHandle::node),
                      base::row("node_port", &ContainerHandle::node_port));
  }
};

base::Json handle_of(const hadoop::Container& container) {
  return base::to_json(
      ContainerHandle{{hadoop::to_string(container.id)}, container.node.host, container.node.port});
}

struct KnownContainer {
  hadoop::ContainerId id;
  hadoop::NodeId node;
};

std::optional<KnownContainer> container_of(const base::Json& json) {
  const auto handle = base::from_json<ContainerHandle>(json);
  if (!handle.ok()) return std::nullopt;
  const auto id = hadoop::container_id_from(handle->named.container);
  if (!id.ok()) return std::nullopt;
  return KnownContainer{*id, {handle->node, handle->node_port}};
}

}  // namespace

ContainerBook::ContainerBook(Options options)
    : options_(std::move(options)),
      allocation_({.all_or_nothing = !is_elastic(options_.spec),
                   .hold = options_.spec.timeouts.hold,
                   .random = options_.random}) {
  std::int64_t number = 0;
  for (const job::TaskId& task : options_.spec.task_ids()) numbers_[task] = number++;
  allocation_.set_hosts(options_.nodes);
}

ContainerWish ContainerBook::wish_of(const job::TaskId& task, const cluster::Launch& launch) const {
  const job::TaskSpec& spec = *options_.spec.find(task.type);
  return {.resource = resource_of(launch.resources),
          .label = spec.label,
          .one_per_node = spec.one_per_node,
          .tag = task.type,
          .host = launch.wanted ? launch.wanted->host : "",
          .avoided = launch.avoided};
}

void ContainerBook::start(const job::TaskId& task, int attempt, cluster::Launch launch) {
  const std::int64_t number = numbers_.at(task);
  ContainerWish wish = wish_of(task, launch);
  asked_[number] = {{task, attempt}, std::move(launch)};
  allocation_.want(number, std::move(wish));
}

void ContainerBook::adopt(const job::TaskId& task, int attempt, const base::Json& handle,
                          base::Instant now) {
  const auto known = container_of(handle);
  if (!known) {
    return tell(
        job::AgentEnded{task, attempt, container_lost("the new master does not know it"), now});
  }
  // It may have been seen already: then nobody has to look for it.
  const bool is_seen = others_.erase(known->id) > 0;
  running_[known->id] = {{task, attempt}, known->node, !is_seen, 0};
}

void ContainerBook::release_others() {
  others_are_released_ = true;
  for (const hadoop::ContainerId& id : others_) allocation_.release(id);
  others_.clear();
}

bool ContainerBook::stop(const job::TaskId& task, int attempt, base::Instant now) {
  const Key key{task, attempt};
  const std::int64_t number = numbers_.at(task);
  const auto asked = asked_.find(number);
  if (asked != asked_.end() && asked->second.key == key) {
    asked_.erase(asked);
    allocation_.forget(number);
    tell(job::AgentEnded{task, attempt, job::not_begun(), now});
    return true;
  }
  const auto running =
      std::ranges::find_if(running_, [&](const auto& entry) { return entry.second.key == key; });
  if (running == running_.end()) return false;
  // The NodeManager is quick, the ResourceManager is sure: it also reaches a node that comes back.
  // Both leave the time between SIGTERM and SIGKILL to the node (250 ms, if not configured).
  allocation_.release(running->first);
  if (nodes_.contains(running->second.node)) {
    actions_.emplace_back(StopContainer{running->second.node, running->first});
  }
  return true;
}

const hadoop::AllocateRequest& ContainerBook::request() {
  if (!unsent_) unsent_ = allocation_.take_request();
  return *unsent_;
}

void ContainerBook::on_restarted() {
  unsent_.reset();
  allocation_.on_resync();
}

void ContainerBook::on_refused() {
  unsent_.reset();
  for (const auto& [number, asked] : asked_) allocation_.forget(number);
  asked_.clear();
  allocation_.on_resync();
}

void ContainerBook::on_registered(const hadoop::Registered& registered) {
  queue_ = registered.queue;
  know(registered.node_tokens);
  take_over(registered.containers);
}

void ContainerBook::know(const std::vector<hadoop::NodeToken>& tokens) {
  for (const hadoop::NodeToken& token : tokens) nodes_.insert(token.node);
}

// Containers of earlier attempts that are not ours are ended, when that is settled.
void ContainerBook::take_over(const std::vector<hadoop::Container>& containers) {
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

void ContainerBook::on_allocated(const hadoop::AllocateResponse& response, base::Instant now) {
  unsent_.reset();
  know(response.node_tokens);
  take_over(response.from_earlier_attempts);
  for (const hadoop::ContainerStatus& status : response.completed) on_completed(status, now);
  for (const std::int64_t number : response.rejected) allocation_.on_rejected(number, now);
  for (const hadoop::Container& granted : allocation_.on_allocated(response.allocated, now)) {
    launch(granted, now);
  }
  look_for_adopted(now);
  tell_preemption(response.preempted, now);
  tell_waiting(response, now);
}

// YARN does not say when: it marks a container, tells it with its next answer, and takes it after
// the configured time unless it is not wanted any more by then. It may repeat itself meanwhile.
void ContainerBook::tell_preemption(const std::vector<hadoop::ContainerId>& marked,
                                    base::Instant now) {
  const auto late = std::min(options_.longest_poll, options_.preemption_wait);
  for (const hadoop::ContainerId& id : marked) {
    const auto found = running_.find(id);
    if (found == running_.end()) continue;
    Running& running = found->second;
    if (running.preempted_at && now < *running.preempted_at + options_.preemption_wait) continue;
    running.preempted_at = now + options_.preemption_wait - late;
    tell(cluster::PreemptionNotice{running.key.first, running.key.second, *running.preempted_at});
  }
}

void ContainerBook::look_for_adopted(base::Instant now) {
  std::vector<hadoop::ContainerId> gone;
  for (auto& [id, running] : running_) {
    if (running.adopted && ++running.looks >= kLooksForAdopted) gone.push_back(id);
  }
  for (const hadoop::ContainerId& id : gone) {
    end(id, container_lost("it ended before a new master came"), now);
  }
}

void ContainerBook::tell_waiting(const hadoop::AllocateResponse& response, base::Instant now) {
  std::string waits_for = allocation_.waiting_for(now);
  if (!waits_for.empty()) {
    waits_for += base::format("; queue {} has {} MiB and {} vcores left for this job", queue_,
                              response.headroom.memory_mib, response.headroom.vcores);
  }
  if (waits_for == std::exchange(waits_for_, waits_for) || waits_for.empty()) return;
  tell(gang::ClusterWaiting{waits_for});
}

void ContainerBook::on_completed(const hadoop::ContainerStatus& status, base::Instant now) {
  allocation_.on_completed(status.id);
  others_.erase(status.id);
  job::Why why = explain_end(status);
  auto words = last_words_of(status);
  if (!words) return end(status.id, std::move(why), now);
  if (words->lost_master) why.reason = job::Reason::kMasterLost;
  end(status.id, std::move(why), now, std::move(words->run));
}

void ContainerBook::end(const hadoop::ContainerId& id, job::Why why, base::Instant now,
                        std::optional<job::RunEnd> run) {
  const auto found = running_.find(id);
  if (found == running_.end()) return;
  const Key key = found->second.key;
  running_.erase(found);
  tell(job::AgentEnded{key.first, key.second, std::move(why), now, std::move(run)});
}

void ContainerBook::launch(const hadoop::Container& container, base::Instant now) {
  const auto found = asked_.find(container.allocation_request_id);
  if (found == asked_.end()) return allocation_.release(container.id);
  Asked asked = std::move(found->second);
  asked_.erase(found);
  const auto& [task, attempt] = asked.key;
  tell(cluster::AgentAllocated{task, attempt, container.node.host, handle_of(container)});
  running_[container.id] = {asked.key, container.node};
  if (!nodes_.contains(container.node)) {
    allocation_.release(container.id);
    return end(container.id, container_lost("YARN gave no token for its node"), now);
  }
  actions_.emplace_back(StartContainer{task, std::move(asked.launch), container});
}

void ContainerBook::on_not_started(const hadoop::ContainerId& id, const base::Error& error,
                                   base::Instant now) {
  const auto found = running_.find(id);
  if (found == running_.end()) return;
  allocation_.release(id);
  end(id, container_lost(base::format("its node refused it: {}", error.message)), now);
}

}  // namespace gangrun::yarn
