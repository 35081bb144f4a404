#pragma once

#include <map>
#include <variant>

#include "base/overloaded.h"
#include "gang/decision.h"
#include "gang/event.h"
#include "job/task_id.h"

// For the tests of this room: what a gang has decided so far, as those know it who carry it out.
namespace gangrun::gang {

// The commands to a task since its last request for a place.
struct Told {
  int allocated = 0;  // its attempt then; 0: no place was ever asked for
  int started = 0;
  bool stop = false;  // since it was started
  bool end = false;
  bool kill = false;
  bool gone = false;  // the gang was told that its agent has ended
};

// All that was decided until now.
struct Past {
  std::map<job::TaskId, Told> told;
  int generation = 0;
  bool end_requested = false;

  [[nodiscard]] bool has_begun() const { return !told.empty(); }

  void happened(const Event& event) {
    end_requested |= asks_for_end(event);
    std::visit(base::Overloaded{
                   [&](const job::AgentEnded& ended) {
                     const auto found = told.find(ended.task);
                     if (found == told.end()) return;
                     found->second.gone |= ended.attempt == found->second.allocated;
                   },
                   // No agent has ended.
                   [](const job::Exited&) {},
                   [](const TellsNoEnd auto&) {},
               },
               event);
  }

  void decided(const Decision& decision) {
    std::visit(base::Overloaded{
                   [&](const Allocate& d) { told[d.task] = Told{.allocated = d.attempt}; },
                   [&](const Publish& d) { generation = d.spec.generation; },
                   [&](const Start& d) {
                     told[d.task].started = d.attempt;
                     told[d.task].stop = false;
                   },
                   [&](const Stop& d) { told[d.task].stop = true; },
                   [&](const End& d) { told[d.task].end = true; },
                   [&](const Kill& d) { told[d.task].kill = true; },
                   [](const base::OneOf<Warn, Finish> auto&) {},
               },
               decision);
  }
};

}  // namespace gangrun::gang
