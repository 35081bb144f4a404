#include "yarn/allocation.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "yarn/waiting.h"

// The order of an ask: want() notes a wish, take_request() turns new wishes into asks, the
// ResourceManager grants containers (on_allocated), and these are handed on, held or given back.
//
// A wish under a task's number is asked once. YARN keeps totals for a number, so taking an ask back
// is an ask for 0, which goes with the next request (withdrawn_), before the new asks: a new wish
// under the same number then replaces it. A container that comes for a wish that is gone is
// released; so is each one that comes during a pause.
//
// With all_or_nothing containers are held until there is one for each wish, and then all are handed
// on at once. If that takes longer than `hold`, all are given back (on_time), and asked again after
// a pause. A held container may end before that; its wish is then asked again.
//
// A ResourceManager that restarts knows of no ask and of no release (on_resync): asks are sent
// again, and releases of containers that are not yet seen to have ended.
namespace gangrun::yarn {

namespace {

// One for all: the tasks are told apart by their numbers, and a gang's are equally urgent.
constexpr std::int32_t kPriority = 10;

}  // namespace

Allocation::Allocation(Options options)
    : options_(std::move(options)),
      parts_({.hold = options_.hold,
              .shortest_pause = options_.hold / 10,
              .longest_pause = options_.hold,
              .random = options_.random}) {}

void Allocation::set_hosts(const std::vector<hadoop::NodeReport>& nodes) {
  rack_of_.clear();
  for (const hadoop::NodeReport& node : nodes) rack_of_[node.id.host] = node.rack;
  hosts_.clear();
  for (const auto& [host, rack] : rack_of_) hosts_.push_back(host);
}

void Allocation::want(std::int64_t number, ContainerWish wish) {
  forget(number);
  wishes_[number].wish = std::move(wish);
}

void Allocation::forget(std::int64_t number) {
  const auto found = wishes_.find(number);
  if (found == wishes_.end()) return;
  if (found->second.asked) withdrawn_[number] = std::move(found->second);
  wishes_.erase(found);
  const auto held = held_.find(number);
  if (held == held_.end()) return;
  release(held->second.id);
  held_.erase(held);
  if (held_.empty()) parts_.on_none_held();
}

void Allocation::release(const hadoop::ContainerId& id) { to_release_.insert(id); }

std::vector<hadoop::Container> Allocation::on_allocated(
    const std::vector<hadoop::Container>& containers, base::Instant now) {
  std::vector<hadoop::Container> granted;
  for (const hadoop::Container& container : containers) {
    const std::int64_t number = container.allocation_request_id;
    const auto wish = wishes_.find(number);
    const bool is_wanted = wish != wishes_.end() && !held_.contains(number) && !is_pausing();
    if (!is_wanted) {
      release(container.id);
      continue;
    }
    wish->second.asked = false;  // the ResourceManager has counted it down
    if (options_.all_or_nothing) {
      held_[number] = container;
      parts_.on_held(held_.size(), now);
      continue;
    }
    wishes_.erase(wish);
    granted.push_back(container);
  }
  if (options_.all_or_nothing && !wishes_.empty() && held_.size() == wishes_.size()) {
    return grant_all();
  }
  return granted;
}

std::vector<hadoop::Container> Allocation::grant_all() {
  std::vector<hadoop::Container> granted;
  for (auto& [number, container] : held_) granted.push_back(std::move(container));
  held_.clear();
  parts_.on_none_held();
  wishes_.clear();
  return granted;
}

void Allocation::on_completed(const hadoop::ContainerId& id) {
  to_release_.erase(id);
  released_.erase(id);
  const auto held =
      std::ranges::find_if(held_, [&id](const auto& entry) { return entry.second.id == id; });
  if (held == held_.end()) return;
  held_.erase(held);
  if (held_.empty()) parts_.on_none_held();
}

void Allocation::on_rejected(std::int64_t number, base::Instant now) {
  const auto wish = wishes_.find(number);
  if (wish == wishes_.end()) return;
  wish->second.asked = false;
  wish->second.ask_at = now + kRejectedPause;
}

void Allocation::on_resync() {
  for (auto& [number, wish] : wishes_) wish.asked = false;
  withdrawn_.clear();
  to_release_.merge(released_);
  released_.clear();
  denied_.clear();
}

bool Allocation::should_ask(std::int64_t number, const Wish& wish) const {
  return !wish.asked && !wish.ask_at && !is_pausing() && !held_.contains(number);
}

bool Allocation::has_request() const {
  const auto is_new = [this](const auto& item) { return should_ask(item.first, item.second); };
  return !to_release_.empty() || !withdrawn_.empty() || std::ranges::any_of(wishes_, is_new);
}

// The CapacityScheduler (3.5.0) forgets what has a constraint in a call that also asks for other
// containers: those go with the next one.
bool Allocation::wants_constraint() const {
  const auto is_constrained = [](const auto& entry) { return entry.second.wish.one_per_node; };
  return std::ranges::any_of(withdrawn_, is_constrained) ||
         std::ranges::any_of(wishes_, [&](const auto& entry) {
           return is_constrained(entry) && should_ask(entry.first, entry.second);
         });
}

hadoop::AllocateRequest Allocation::take_request() {
  hadoop::AllocateRequest request;
  const bool is_constrained = wants_constraint();
  for (auto& [number, wish] : withdrawn_) {
    // A new wish under the same number replaces the total; only its own entries are left to it.
    add_asks(number, wish, 0, request);
  }
  withdrawn_.clear();
  for (auto& [number, wish] : wishes_) {
    if (!should_ask(number, wish) || wish.wish.one_per_node != is_constrained) continue;
    add_asks(number, wish, 1, request);
    wish.asked = true;
  }
  request.releases.assign(to_release_.begin(), to_release_.end());
  released_.merge(to_release_);
  to_release_.clear();
  deny_hosts(request);
  return request;
}

// A host is denied to the whole application: as long as one of its tasks has to avoid it.
void Allocation::deny_hosts(hadoop::AllocateRequest& request) {
  std::set<std::string> avoided;
  for (const auto& [number, wish] : wishes_) {
    avoided.insert(wish.wish.avoided.begin(), wish.wish.avoided.end());
  }
  std::ranges::set_difference(avoided, denied_, std::back_inserter(request.denied_hosts));
  std::ranges::set_difference(denied_, avoided, std::back_inserter(request.hosts_allowed_again));
  denied_ = std::move(avoided);
}

// A scheduler that works by heartbeats grants what names a host at once, and anything else one by
// one. All hosts are named as long as that is affordable, else each task names others.
std::vector<std::string> Allocation::hosts_for(std::int64_t number,
                                               const ContainerWish& wish) const {
  if (wish.label) return {};  // YARN refuses both together
  if (!wish.host.empty() && rack_of_.contains(wish.host)) return {wish.host};
  const std::size_t affordable = kMaxHostEntries / std::max<std::size_t>(wishes_.size(), 1);
  std::vector<std::string> named;
  const std::size_t first = static_cast<std::size_t>(number) * affordable;
  for (std::size_t i = 0; i < std::min(affordable, hosts_.size()); ++i) {
    const std::string& host = hosts_[(first + i) % hosts_.size()];
    if (std::find(wish.avoided.begin(), wish.avoided.end(), host) == wish.avoided.end()) {
      named.push_back(host);
    }
  }
  return named;
}

void Allocation::add_asks(std::int64_t number, Wish& wish, int containers,
                          hadoop::AllocateRequest& request) {
  if (wish.wish.one_per_node) {
    request.constrained_asks.push_back({.allocation_request_id = number,
                                        .priority = kPriority,
                                        .capability = wish.wish.resource,
                                        .containers = containers,
                                        .tag = wish.wish.tag,
                                        .one_per_node = true,
                                        .node_label = wish.wish.label});
    return;
  }
  hadoop::ResourceRequest ask{.priority = kPriority,
                              .capability = wish.wish.resource,
                              .containers = containers,
                              .node_label = wish.wish.label,
                              .allocation_request_id = number};
  if (containers > 0) wish.named = hosts_for(number, wish.wish);
  std::set<std::string> racks;
  for (const std::string& host : wish.named) {
    ask.resource_name = host;
    request.asks.push_back(ask);
    racks.insert(rack_of_.at(host));
  }
  for (const std::string& rack : racks) {
    ask.resource_name = rack;
    request.asks.push_back(ask);
  }
  ask.resource_name = "*";
  request.asks.push_back(ask);
}

std::optional<base::Instant> Allocation::next_deadline() const {
  std::optional<base::Instant> next = parts_.ask_again_at();
  const auto earlier = [&next](base::Instant at) {
    if (!next || at < *next) next = at;
  };
  if (const auto limit = parts_.give_back_at()) earlier(*limit);
  for (const auto& [number, wish] : wishes_) {
    if (wish.ask_at) earlier(*wish.ask_at);
  }
  return next;
}

void Allocation::on_time(base::Instant now) {
  parts_.on_time(now);
  for (auto& [number, wish] : wishes_) {
    if (wish.ask_at && now >= *wish.ask_at) wish.ask_at.reset();
  }
  const auto limit = parts_.give_back_at();
  if (!limit || now < *limit) return;
  parts_.give_back(now);
  give_back_held();
}

void Allocation::give_back_held() {
  for (const auto& [number, container] : held_) release(container.id);
  held_.clear();
  for (auto& [number, wish] : wishes_) {
    if (!wish.asked) continue;
    wish.asked = false;
    withdrawn_[number] = wish;
  }
}

std::string Allocation::waiting_for(base::Instant now) const {
  if (wishes_.empty()) return {};
  std::map<std::string, int> missing;
  for (const auto& [number, wish] : wishes_) {
    if (held_.contains(number)) continue;
    ++missing[container_words(wish.wish.resource, wish.wish.label, wish.wish.one_per_node)];
  }
  std::string sentence = base::format("{} of {} containers are there; missing: {}", held_.size(),
                                      wishes_.size(), counted_words(missing));
  if (const auto again_at = parts_.ask_again_at(); again_at && *again_at > now) {
    const auto left = std::chrono::ceil<std::chrono::seconds>(*again_at - now);
    sentence +=
        base::format("; some were held for too long and have been given back, asked again in {} s",
                     left.count());
  }
  return sentence;
}

}  // namespace gangrun::yarn
