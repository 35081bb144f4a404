#include "kubernetes/pods/pod_facts.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>

#include "base/strings.h"
#include "kubernetes/pods/manifests.h"
#include "kubernetes/rfc3339.h"

namespace gangrun::kubernetes::pods {

namespace {

using base::Json;

constexpr std::size_t kMaxTextBytes = 600;
constexpr std::size_t kMaxContainers = 64;
// A container whose status is not known has ended: never with a success.
constexpr int kUnknownStatus = 1;
constexpr std::int64_t kMaxGraceSeconds = std::int64_t{24} * 3600;

// Nothing where a step of the path is not there.
const Json* find(const Json& object, std::initializer_list<const char*> path) {
  const Json* at = &object;
  for (const char* key : path) {
    if (!at->is_object()) return nullptr;
    const auto member = at->find(key);
    if (member == at->end()) return nullptr;
    at = &*member;
  }
  return at;
}

std::string text(const Json& object, std::initializer_list<const char*> path) {
  const Json* found = find(object, path);
  if (found == nullptr || !found->is_string()) return {};
  std::string line = found->get<std::string>();
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return base::shorten(std::string(base::trim(line)), kMaxTextBytes);
}

std::optional<std::int64_t> number_if_any(const Json& object,
                                          std::initializer_list<const char*> path) {
  const Json* found = find(object, path);
  if (found == nullptr || !found->is_number_integer()) return std::nullopt;
  if (found->is_number_unsigned() &&
      found->get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max()) {
    return std::nullopt;
  }
  return found->get<std::int64_t>();
}

std::int64_t number(const Json& object, std::initializer_list<const char*> path) {
  return number_if_any(object, path).value_or(0);
}

// Exit codes and signals have few bits; what has more is none, as what is no number.
int small_number(const Json& object, std::initializer_list<const char*> path, int instead) {
  const auto value = number_if_any(object, path);
  return value && *value >= -65536 && *value <= 65536 ? static_cast<int>(*value) : instead;
}

template <typename Visit>
void for_each(const Json& object, std::initializer_list<const char*> path, const Visit& visit) {
  const Json* found = find(object, path);
  if (found == nullptr || !found->is_array()) return;
  for (const Json& element : *found) visit(element);
}

ContainerFacts container_facts(const Json& status) {
  using State = ContainerFacts::State;
  ContainerFacts facts;
  facts.name = text(status, {"name"});
  facts.image = text(status, {"image"});
  const Json* state = find(status, {"state"});
  if (state == nullptr) return facts;
  if (const Json* terminated = find(*state, {"terminated"}); terminated != nullptr) {
    facts.state = State::kTerminated;
    facts.reason = text(*terminated, {"reason"});
    facts.message = text(*terminated, {"message"});
    facts.exit_code = small_number(*terminated, {"exitCode"}, kUnknownStatus);
    facts.signal = small_number(*terminated, {"signal"}, 0);
    facts.finished_at = kubernetes::parse_rfc3339(text(*terminated, {"finishedAt"}));
    const auto started = kubernetes::parse_rfc3339(text(*terminated, {"startedAt"}));
    facts.has_run = started && started->time_since_epoch().count() > 0;
  } else if (find(*state, {"running"}) != nullptr) {
    facts.state = State::kRunning;
    facts.has_run = true;
  } else if (const Json* waiting = find(*state, {"waiting"}); waiting != nullptr) {
    facts.state = State::kWaiting;
    facts.reason = text(*waiting, {"reason"});
    facts.message = text(*waiting, {"message"});
  }
  return facts;
}

void read_condition(const Json& condition, PodFacts& facts) {
  const std::string type = text(condition, {"type"});
  const std::string status = text(condition, {"status"});
  if (type == "PodScheduled") facts.is_seen_by_scheduler = true;
  if (type == "PodScheduled" && status == "False") {
    facts.unschedulable = text(condition, {"message"});
    if (facts.unschedulable.empty()) facts.unschedulable = text(condition, {"reason"});
  } else if (type == "DisruptionTarget" && status == "True") {
    facts.disruption = text(condition, {"reason"});
    facts.disruption_message = text(condition, {"message"});
  }
}

}  // namespace

PodFacts pod_facts(const Json& pod, std::string_view container) {
  PodFacts facts;
  facts.name = name_of(pod);
  facts.uid = uid_of(pod);
  facts.job = text(pod, {"metadata", "labels", kJobLabel});
  const auto attempt =
      base::parse_integer(text(pod, {"metadata", "labels", kAttemptLabel})).value_or(0);
  const bool fits = attempt > 0 && attempt <= std::numeric_limits<int>::max();
  facts.attempt = fits ? static_cast<int>(attempt) : 0;
  facts.node = text(pod, {"spec", "nodeName"});
  facts.scheduler = text(pod, {"spec", "schedulerName"});
  facts.phase = text(pod, {"status", "phase"});
  facts.reason = text(pod, {"status", "reason"});
  facts.message = text(pod, {"status", "message"});
  facts.is_deleting = is_being_deleted(pod);
  facts.deletion_grace = std::chrono::seconds(std::clamp<std::int64_t>(
      number(pod, {"metadata", "deletionGracePeriodSeconds"}), 0, kMaxGraceSeconds));
  for_each(pod, {"status", "conditions"},
           [&facts](const Json& condition) { read_condition(condition, facts); });
  for_each(pod, {"status", "containerStatuses"}, [&](const Json& status) {
    if (text(status, {"name"}) == container) facts.task = container_facts(status);
  });
  for_each(pod, {"status", "initContainerStatuses"}, [&facts](const Json& status) {
    if (facts.init.size() < kMaxContainers) facts.init.push_back(container_facts(status));
  });
  return facts;
}

std::string name_of(const Json& object) { return text(object, {"metadata", "name"}); }
std::string uid_of(const Json& object) { return text(object, {"metadata", "uid"}); }
bool is_being_deleted(const Json& object) {
  return !text(object, {"metadata", "deletionTimestamp"}).empty();
}

std::string latest_warning(const Json& events) {
  std::string message;
  std::string latest;
  for_each(events, {"items"}, [&](const Json& event) {
    if (text(event, {"type"}) != "Warning") return;
    // Times of one server in one form: the later one is the larger text.
    const std::string last = text(event, {"lastTimestamp"});
    std::string time = last.empty() ? text(event, {"eventTime"}) : last;
    if (!message.empty() && time < latest) return;
    latest = std::move(time);
    message = text(event, {"message"});
  });
  return message;
}

}  // namespace gangrun::kubernetes::pods
