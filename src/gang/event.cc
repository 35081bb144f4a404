#include "gang/event.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/format.h"
#include "base/overloaded.h"
#include "job/json_text.h"

namespace gangrun::gang {

namespace {

using base::Json;
using base::Result;

// Longer than any host name that DNS permits.
constexpr std::size_t kMaxHostBytes = 1024;

// Of a name that is not one of ours, in an error.
constexpr std::size_t kMaxShownNameBytes = 40;

// In the order of Event's alternatives.
constexpr std::array<std::string_view, std::variant_size_v<Event>> kNames = {
    "begin",          "cluster_waiting", "allocated",   "reported",    "started",
    "exited",         "session_lost",    "reattached",  "agent_ended", "progress",
    "stop_requested", "cluster_gone",    "time_passed", "resumed",     "host_silent"};

template <typename T>
concept OfTask = requires(T event) {
  event.task;
  event.attempt;
};

// Has nothing of its own.
template <typename T>
concept Bare =
    base::OneOf<T, Begin, Started, SessionLost, Reattached, Progress, TimePassed, Resumed>;

std::int64_t since(base::Instant origin, base::Instant time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time - origin).count();
}

Result<base::Instant> instant_member(const Json& json, std::string_view key, base::Instant origin) {
  GANGRUN_ASSIGN(const auto offset, base::json_member<std::int64_t>(json, key));
  std::int64_t sum = 0;
  if (__builtin_add_overflow(origin.time_since_epoch().count(), offset, &sum)) {
    return base::invalid_argument(base::format("\"{}\" is out of range", key));
  }
  return base::Instant(base::Duration(sum));
}

// What an event has beyond its name, task and attempt; write() and read() of a type mirror each
// other.
void write(const Bare auto&, base::Instant, Json&) {}

void write(const ClusterWaiting& event, base::Instant, Json& json) {
  json["reason"] = job::json_text(event.reason, job::kMaxSentenceBytes);
}

void write(const Allocated& event, base::Instant, Json& json) {
  json["host"] = job::json_text(event.host, kMaxHostBytes);
}

void write(const Reported& event, base::Instant, Json& json) {
  json["address"] = job::to_string(event.address);
}

void write(const job::Exited& event, base::Instant origin, Json& json) {
  json["report"] = job::to_json(event.report);
  json["ended_at"] = since(origin, event.ended_at);
}

void write(const job::AgentEnded& event, base::Instant origin, Json& json) {
  json["why"] = job::to_json(event.why);
  json["ended_at"] = since(origin, event.ended_at);
}

void write(const StopRequested& event, base::Instant, Json& json) {
  json["by"] = job::json_text(event.by, job::kMaxSentenceBytes);
  json["at_once"] = event.at_once;
}

void write(const ClusterGone& event, base::Instant, Json& json) {
  json["reason"] = job::json_text(event.detail, job::kMaxSentenceBytes);
  json["why"] = job::to_string(event.reason);
}

void write(const HostSilent& event, base::Instant, Json& json) {
  json["host"] = job::json_text(event.host, kMaxHostBytes);
  json["tasks"] = Json::array();
  for (const job::TaskId& task : event.tasks) json["tasks"].push_back(job::to_string(task));
}

Result<> read(const Json&, base::Instant, Bare auto&) { return {}; }

Result<> read(const Json& json, base::Instant, ClusterWaiting& event) {
  GANGRUN_ASSIGN(event.reason, job::text_member(json, "reason", job::kMaxSentenceBytes));
  return {};
}

Result<> read(const Json& json, base::Instant, Allocated& event) {
  GANGRUN_ASSIGN(event.host, job::text_member(json, "host", kMaxHostBytes));
  return {};
}

Result<> read(const Json& json, base::Instant, Reported& event) {
  GANGRUN_ASSIGN(const auto text, job::text_member(json, "address", kMaxHostBytes));
  GANGRUN_ASSIGN(event.address, job::parse_address(text));
  return {};
}

Result<> read(const Json& json, base::Instant origin, job::Exited& event) {
  GANGRUN_ASSIGN(event.ended_at, instant_member(json, "ended_at", origin));
  const auto report = json.find("report");
  if (report == json.end()) return base::invalid_argument("\"report\" is missing");
  GANGRUN_ASSIGN(event.report, job::exit_report_from_json(*report));
  return {};
}

Result<> read(const Json& json, base::Instant origin, job::AgentEnded& event) {
  GANGRUN_ASSIGN(event.why, job::why_member(json, "why"));
  GANGRUN_ASSIGN(event.ended_at, instant_member(json, "ended_at", origin));
  return {};
}

Result<> read(const Json& json, base::Instant, StopRequested& event) {
  GANGRUN_ASSIGN(event.by, job::text_member(json, "by", job::kMaxSentenceBytes));
  GANGRUN_ASSIGN(event.at_once, base::json_member<bool>(json, "at_once"));
  return {};
}

Result<> read(const Json& json, base::Instant, ClusterGone& event) {
  GANGRUN_ASSIGN(event.detail, job::text_member(json, "reason", job::kMaxSentenceBytes));
  // Older journals have none.
  GANGRUN_ASSIGN(const auto why, base::json_member_or<std::string>(json, "why", "cluster_gone"));
  event.reason = job::reason_or_unknown(why);
  return {};
}

Result<> read(const Json& json, base::Instant, HostSilent& event) {
  GANGRUN_ASSIGN(event.host, job::text_member(json, "host", kMaxHostBytes));
  GANGRUN_ASSIGN(const auto names, base::json_member<std::vector<std::string>>(json, "tasks"));
  if (names.empty()) return base::invalid_argument("\"tasks\" must name at least one");
  for (const std::string& name : names) {
    GANGRUN_ASSIGN(job::TaskId task, job::parse_task_id(name));
    event.tasks.push_back(std::move(task));
  }
  return {};
}

// Of T as it is written: its name, the two of an event of a task, and its own.
template <typename T>
constexpr std::size_t key_count() {
  constexpr std::size_t kShared = OfTask<T> ? 3 : 1;
  if constexpr (base::OneOf<T, job::Exited, job::AgentEnded, StopRequested, ClusterGone,
                            HostSilent>) {
    return kShared + 2;
  } else if constexpr (base::OneOf<T, ClusterWaiting, Allocated, Reported>) {
    return kShared + 1;
  } else {
    static_assert(Bare<T>);
    return kShared;
  }
}

// Older journals have two flags in place of a reason for the end of an agent.
Result<job::Reason> reason_of_flags(const Json& json) {
  GANGRUN_ASSIGN(const bool counts, base::json_member<bool>(json, "counts"));
  GANGRUN_ASSIGN(const bool out_of_memory, base::json_member<bool>(json, "out_of_memory"));
  if (out_of_memory) return job::Reason::kOutOfMemory;
  return counts ? job::Reason::kAgentEnded : job::Reason::kContainerLost;
}

Result<job::Reason> reason_told(const Json& json) {
  if (json.contains("counts")) return reason_of_flags(json);
  GANGRUN_ASSIGN(const auto reason, base::json_member<std::string>(json, "reason"));
  return job::reason_or_unknown(reason);
}

// Of an event with a sentence in place of values, as older journals tell the end of an agent.
Result<Json> with_why(const Json& json) {
  GANGRUN_ASSIGN(const job::Reason reason, reason_told(json));
  GANGRUN_ASSIGN(std::string told, job::text_member(json, "sentence", job::kMaxSentenceBytes));
  Json now = json;
  for (const char* key : {"sentence", "reason", "counts", "out_of_memory"}) now.erase(key);
  now["why"] = job::to_json(job::Why{.reason = reason, .told = std::move(told)});
  return now;
}

template <typename T>
Result<Event> read_event(const Json& json, base::Instant origin) {
  T event;
  if constexpr (OfTask<T>) {
    GANGRUN_ASSIGN(const auto task, base::json_member<std::string>(json, "task"));
    GANGRUN_ASSIGN(event.task, job::parse_task_id(task));
    GANGRUN_ASSIGN(event.attempt, base::json_member<int>(json, "attempt"));
    if (event.attempt < 1) return base::invalid_argument("\"attempt\" must be at least 1");
  }
  GANGRUN_TRY(read(json, origin, event));
  // Each of its keys has been read: where there are no more, none is unknown.
  if (json.size() == key_count<T>()) return Event(std::move(event));
  const Json known = to_json(event, origin);
  for (const auto& [key, value] : json.items()) {
    if (!known.contains(key)) {
      return base::invalid_argument(base::format("unknown key \"{}\"", key));
    }
  }
  return Event(std::move(event));
}

template <std::size_t... kIndex>
Result<Event> read_named(std::string_view name, const Json& json, base::Instant origin,
                         std::index_sequence<kIndex...>) {
  Result<Event> result =
      base::invalid_argument(base::format("\"{}\" is not an event of a gang", name));
  const auto attempt = [&]<std::size_t kOne>() {
    if (name != kNames[kOne]) return false;
    result = read_event<std::variant_alternative_t<kOne, Event>>(json, origin);
    return true;
  };
  static_cast<void>((attempt.template operator()<kIndex>() || ...));
  return result;
}

}  // namespace

std::string_view name_of(const Event& event) { return kNames[event.index()]; }

bool is_time(const Event& event) {
  return std::visit(
      base::Overloaded{
          [](const TimePassed&) { return true; },
          [](const base::OneOf<Begin, ClusterWaiting, Allocated, Reported, Started, job::Exited,
                               SessionLost, Reattached, job::AgentEnded, Progress, StopRequested,
                               ClusterGone, Resumed, HostSilent> auto&) { return false; },
      },
      event);
}

bool asks_for_end(const Event& event) {
  return std::visit(
      base::Overloaded{
          [](const StopRequested&) { return true; },
          [](const base::OneOf<Begin, ClusterWaiting, Allocated, Reported, Started, job::Exited,
                               SessionLost, Reattached, job::AgentEnded, Progress, ClusterGone,
                               TimePassed, Resumed, HostSilent> auto&) { return false; },
      },
      event);
}

bool tells_of_start(const Event& event) {
  return std::visit(
      base::Overloaded{
          [](const Started&) { return true; },
          [](const base::OneOf<Begin, ClusterWaiting, Allocated, Reported, job::Exited, SessionLost,
                               Reattached, job::AgentEnded, Progress, StopRequested, ClusterGone,
                               TimePassed, Resumed, HostSilent> auto&) { return false; },
      },
      event);
}

Event moved_by(base::Duration by, Event event) {
  std::visit(
      base::Overloaded{
          [by](base::OneOf<job::Exited, job::AgentEnded> auto& of_end) { of_end.ended_at += by; },
          [](const base::OneOf<Begin, ClusterWaiting, Allocated, Reported, Started, SessionLost,
                               Reattached, Progress, StopRequested, ClusterGone, TimePassed,
                               Resumed, HostSilent> auto&) {},
      },
      event);
  return event;
}

Json to_json(const Event& event, base::Instant origin) {
  Json json = {{"event", name_of(event)}};
  std::visit(
      [&]<typename T>(const T& e) {
        if constexpr (OfTask<T>) {
          json["task"] = job::to_string(e.task);
          json["attempt"] = e.attempt;
        }
        write(e, origin, json);
      },
      event);
  return json;
}

Result<Event> event_from_json(const Json& json, base::Instant origin) {
  if (json.contains("sentence")) {
    GANGRUN_ASSIGN(const Json now, with_why(json));
    return event_from_json(now, origin);
  }
  GANGRUN_ASSIGN(const auto name, base::json_member<std::string>(json, "event"));
  auto event =
      read_named(name, json, origin, std::make_index_sequence<std::variant_size_v<Event>>{});
  if (event.ok()) return event;
  const std::string shown = job::json_text(name, kMaxShownNameBytes).get<std::string>();
  return event.error().context(base::format("event \"{}\"", shown));
}

}  // namespace gangrun::gang
