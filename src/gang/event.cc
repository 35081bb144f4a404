#include "gang/event.h"

#include <string_view>

#include "base/overloaded.h"
#include "job/described.h"

namespace gangrun::gang {

namespace {

constexpr std::string_view kTag = "event";

}  // namespace

base::Result<> HostSilent::complete() const {
  if (!tasks.empty()) return {};
  return base::wrong_member("tasks", "at least one");
}

std::string_view name_of(const Event& event) {
  return std::visit([]<typename T>(const T& /*event*/) { return T::kName; }, event);
}

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

std::optional<job::Exited> run_end_in(const Event& event) {
  using RunEnd = std::optional<job::Exited>;
  return std::visit(
      base::Overloaded{
          [](const job::AgentEnded& ended) {
            if (!ended.run) return RunEnd();
            return RunEnd({ended.task, ended.run->attempt, ended.run->report, ended.ended_at});
          },
          [](const base::OneOf<Begin, ClusterWaiting, Allocated, Reported, Started, job::Exited,
                               SessionLost, Reattached, Progress, StopRequested, ClusterGone,
                               TimePassed, Resumed, HostSilent> auto&) { return RunEnd(); },
      },
      event);
}

std::optional<job::TaskId> ended_in(const Event& event) {
  using Ended = std::optional<job::TaskId>;
  return std::visit(
      base::Overloaded{
          [](const base::OneOf<job::Exited, job::AgentEnded> auto& ended) {
            return Ended(ended.task);
          },
          [](const base::OneOf<Begin, ClusterWaiting, Allocated, Reported, Started, SessionLost,
                               Reattached, Progress, StopRequested, ClusterGone, TimePassed,
                               Resumed, HostSilent> auto&) { return Ended(); },
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

base::Json to_json(const Event& event) { return base::tagged_json(kTag, event); }

base::Result<Event> event_from_json(const base::Json& json) {
  return base::tagged_from<Event>(kTag, json);
}

}  // namespace gangrun::gang
