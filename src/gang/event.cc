#include "gang/event.h"

#include "job/described.h"

namespace gangrun::gang {

namespace {

constexpr std::string_view kTag = "event";

enum class Meaning { kTime, kAskedEnd, kStart, kOther };

Meaning meaning_of(const Event& event) {
  return std::visit(
      base::Overloaded{
          [](const TimePassed&) { return Meaning::kTime; },
          [](const StopRequested&) { return Meaning::kAskedEnd; },
          [](const Started&) { return Meaning::kStart; },
          [](const base::OneOf<job::Exited, job::AgentEnded> auto&) { return Meaning::kOther; },
          [](const TellsNoEnd auto&) { return Meaning::kOther; },
      },
      event);
}

}  // namespace

base::Result<> HostSilent::complete() const {
  if (!tasks.empty()) return {};
  return base::wrong_member("tasks", "at least one");
}

std::string_view name_of(const Event& event) {
  return std::visit([]<typename T>(const T& /*event*/) { return T::kName; }, event);
}

bool is_time(const Event& event) { return meaning_of(event) == Meaning::kTime; }

bool asks_for_end(const Event& event) { return meaning_of(event) == Meaning::kAskedEnd; }

bool tells_of_start(const Event& event) { return meaning_of(event) == Meaning::kStart; }

std::optional<job::Exited> run_end_in(const Event& event) {
  using RunEnd = std::optional<job::Exited>;
  return std::visit(
      base::Overloaded{
          [](const job::AgentEnded& ended) {
            if (!ended.run) return RunEnd();
            return RunEnd({ended.task, ended.run->attempt, ended.run->report, ended.ended_at});
          },
          [](const job::Exited&) { return RunEnd(); },
          [](const TellsNoEnd auto&) { return RunEnd(); },
      },
      event);
}

std::optional<job::TaskId> ended_in(const Event& event) {
  using Ended = std::optional<job::TaskId>;
  return std::visit(base::Overloaded{
                        [](const base::OneOf<job::Exited, job::AgentEnded> auto& ended) {
                          return Ended(ended.task);
                        },
                        [](const TellsNoEnd auto&) { return Ended(); },
                    },
                    event);
}

Event moved_by(base::Duration by, Event event) {
  std::visit(
      base::Overloaded{
          [by](base::OneOf<job::Exited, job::AgentEnded> auto& of_end) { of_end.ended_at += by; },
          [](const TellsNoEnd auto&) {},
      },
      event);
  return event;
}

base::Json to_json(const Event& event) { return base::tagged_json(kTag, event); }

base::Result<Event> event_from_json(const base::Json& json) {
  return base::tagged_from<Event>(kTag, json);
}

}  // namespace gangrun::gang
