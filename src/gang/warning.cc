#include "gang/warning.h"

#include "base/format.h"
#include "base/overloaded.h"
#include "base/strings.h"

namespace gangrun::gang {

namespace {

using base::format;

// The most names of tasks in a sentence.
constexpr std::size_t kMaxNames = 4;

std::string what_then(const TaskFailed& warning) {
  using Then = TaskFailed::Then;
  switch (warning.then) {
    case Then::kRestart: return format("restart {} of {}", warning.restart, warning.max);
    case Then::kRestartNotCounted: return "restarted, not counted";
    case Then::kRestartForWant:
      return format("all tasks restart, not counted, because {} was lost before",
                    job::to_string(warning.lacked));
    case Then::kAnotherPort: return "it gets another port";
    case Then::kAnotherAgent: return "another one is requested";
    case Then::kNoOtherAgent: return "no other one is requested";
    case Then::kWithoutIt: return "the job continues without it";
    case Then::kWithoutItUntilPlaced: return "the job continues without it until it has one";
    case Then::kWithoutItNoRestartLeft: return "no restart is left, the job continues without it";
  }
  return "the job continues";
}

}  // namespace

std::string to_words(const Warning& warning) {
  return std::visit(
      base::Overloaded{
          [](const TaskFailed& w) { return format("{}; {}", to_words(w.cause), what_then(w)); },
          [](const Replaced& w) {
            return format("{} replaces {}", job::to_string(w.by), job::to_string(w.lost));
          },
          [](const Resized& w) {
            return format("the gang has {} of {} tasks of the type {}", w.tasks, w.wanted, w.type);
          },
          [](const CameBackElsewhere& w) {
            return format("{} came back at {} instead of {}: all tasks restart",
                          job::to_string(w.task), job::to_string(w.now), job::to_string(w.before));
          },
          [](const HostAvoided& w) {
            return format("{} is avoided for {}: {} failures there within {}", w.host,
                          base::to_words(w.avoided_for), w.failures, base::to_words(w.within));
          },
          [](const NoProgress& w) {
            return format("{} made no progress for {} after the others had ended; it was stopped",
                          job::to_string(w.task), base::to_words(w.since_others_ended));
          },
          [](const EndNotConfirmed& w) {
            return format("could not confirm that {} ended; look for leftover processes on {}",
                          job::to_string(w.task), w.host.empty() ? "its host" : w.host);
          },
          [](const HostNotConfirmed& w) {
            const auto name = [](const job::TaskId& task) { return job::to_string(task); };
            return format(
                "could not confirm that the tasks on host {0} ended ({1}): it does not answer. If "
                "only its connection is lost, they end within {2}; if it is frozen, so long after "
                "it goes on. Look for leftover processes there then; last lines may be missing",
                w.host, base::first_and_more(w.tasks, kMaxNames, name), base::to_words(w.lease));
          },
      },
      warning);
}

}  // namespace gangrun::gang
