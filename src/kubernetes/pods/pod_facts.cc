#include "kubernetes/pods/pod_facts.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/strings.h"
#include "kubernetes/pods/manifests.h"
#include "kubernetes/rfc3339.h"
#include "kubernetes/value_at.h"

namespace gangrun::kubernetes::pods {

namespace {

using base::Json;

constexpr std::size_t kMaxTextBytes = 600;
constexpr std::size_t kMaxContainers = 64;
// A container whose status is not known has ended: never with a success.
constexpr int kUnknownStatus = 1;
constexpr std::string_view kTakenByKueue = "TerminationTarget";
constexpr std::int64_t kMaxGraceSeconds = std::int64_t{24} * 3600;

std::string text(const Json& object, KeyPath path) {
  std::string line = text_at(object, path);
  std::ranges::replace_if(
      line, [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return base::shorten(base::trim(line), kMaxTextBytes);
}

// Exit codes and signals have few bits; what has more is none, as what is no number.
int small_number(const Json& object, std::string_view key, int instead) {
  const auto value = base::json_member<std::int64_t>(object, key);
  return value.ok() && *value >= -65536 && *value <= 65536 ? static_cast<int>(*value) : instead;
}

ContainerFacts container_facts(const Json& status) {
  using State = ContainerFacts::State;
  ContainerFacts facts;
  facts.name = text(status, {"name"});
  facts.image = text(status, {"image"});
  const Json& state = value_at(status, {"state"});
  if (state.contains("terminated")) {
    const Json& terminated = state["terminated"];
    facts.state = State::kTerminated;
    facts.reason = text(terminated, {"reason"});
    facts.message = text(terminated, {"message"});
    facts.exit_code = small_number(terminated, "exitCode", kUnknownStatus);
    facts.signal = small_number(terminated, "signal", 0);
    facts.finished_at = parse_rfc3339(text(terminated, {"finishedAt"}));
    const auto started = parse_rfc3339(text(terminated, {"startedAt"}));
    facts.has_run = started && started->time_since_epoch().count() > 0;
  } else if (state.contains("running")) {
    facts.state = State::kRunning;
    facts.has_run = true;
  } else if (state.contains("waiting")) {
    facts.state = State::kWaiting;
    facts.reason = text(state, {"waiting", "reason"});
    facts.message = text(state, {"waiting", "message"});
  }
  return facts;
}

// A label's number from 1 on; 0: it has none.
int number_of(const Json& pod, const char* label) {
  const auto number = base::parse_integer(text(pod, {"metadata", "labels", label})).value_or(0);
  const bool fits = number > 0 && number <= std::numeric_limits<int>::max();
  return fits ? static_cast<int>(number) : 0;
}

void read_condition(const Json& condition, PodFacts& facts) {
  const std::string type = text(condition, {"type"});
  const std::string status = text(condition, {"status"});
  if (type == "PodScheduled") facts.is_seen_by_scheduler = true;
  if (type == "PodScheduled" && status == "False") {
    facts.unschedulable = text(condition, {"message"});
    if (facts.unschedulable.empty()) facts.unschedulable = text(condition, {"reason"});
  } else if ((type == "DisruptionTarget" || type == kTakenByKueue) && status == "True") {
    facts.is_taken_by_kueue = type == kTakenByKueue;
    facts.disruption = text(condition, {"reason"});
    facts.disruption_message = text(condition, {"message"});
  } else if (type == "Ready" && status == "False" && facts.phase == "Running") {
    // A kubelet always gives a reason; the node controller gives none.
    facts.is_node_lost = text(condition, {"reason"}).empty();
  }
}

}  // namespace

PodFacts pod_facts(const Json& pod, std::string_view container) {
  PodFacts facts;
  facts.name = name_of(pod);
  facts.uid = uid_of(pod);
  facts.job = text(pod, {"metadata", "labels", kJobLabel});
  facts.attempt = number_of(pod, kAttemptLabel);
  facts.made_by = number_of(pod, kMadeByLabel);
  facts.node = text(pod, {"spec", "nodeName"});
  facts.scheduler = text(pod, {"spec", "schedulerName"});
  facts.phase = text(pod, {"status", "phase"});
  facts.reason = text(pod, {"status", "reason"});
  facts.message = text(pod, {"status", "message"});
  facts.is_deleting = is_being_deleted(pod);
  const auto grace =
      base::json_member<std::int64_t>(value_at(pod, {"metadata"}), "deletionGracePeriodSeconds");
  facts.deletion_grace =
      std::chrono::seconds(std::clamp<std::int64_t>(grace.value_or(0), 0, kMaxGraceSeconds));
  for (const Json& condition : list_at(pod, {"status", "conditions"})) {
    read_condition(condition, facts);
  }
  const Json& gates = list_at(pod, {"spec", "schedulingGates"});
  if (!gates.empty()) facts.gate = text(gates.front(), {"name"});
  for (const Json& status : list_at(pod, {"status", "containerStatuses"})) {
    if (text(status, {"name"}) == container) facts.task = container_facts(status);
  }
  for (const Json& status : list_at(pod, {"status", "initContainerStatuses"})) {
    if (facts.init.size() < kMaxContainers) facts.init.push_back(container_facts(status));
  }
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
  for (const Json& event : list_at(events, {"items"})) {
    if (text(event, {"type"}) != "Warning") continue;
    // Times of one server in one form: the later one is the larger text.
    const std::string last = text(event, {"lastTimestamp"});
    std::string time = last.empty() ? text(event, {"eventTime"}) : last;
    if (!message.empty() && time < latest) continue;
    latest = std::move(time);
    message = text(event, {"message"});
  }
  return message;
}

}  // namespace gangrun::kubernetes::pods
