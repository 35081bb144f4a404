#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "gang/gang_situations.h"
#include "gang/gang_table_rows.h"

// The decision table, walked whole: every phase of a task and every event have an expected row.
namespace gangrun::gang {
namespace {

constexpr std::array<std::string_view, 9> kPhases = {"asked",    "allocated", "registered",
                                                     "starting", "running",   "stopping",
                                                     "idle",     "ending",    "gone"};

using Key = std::pair<std::string, std::string>;

// The outcome of each situation and event: "running restarting stop w0".
std::map<Key, std::string> rows() {
  std::map<Key, std::string> rows;
  std::istringstream lines{std::string(kTableRows)};
  std::string situation;
  std::string outcome;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    if (indent == 0) situation = line;
    if (indent == 0) continue;
    const std::size_t colon = line.find(':');
    if (indent == 2) outcome = line.substr(indent, colon - indent);
    std::istringstream events(indent == 2 ? line.substr(colon + 1) : line);
    for (std::string event; events >> event;) {
      EXPECT_TRUE(rows.emplace(Key(situation, event), outcome).second) << "twice: " << line;
    }
  }
  return rows;
}

// The events of each situation and outcome.
using Outcomes = std::map<std::string, std::map<std::string, std::vector<std::string>>>;

void print(const Outcomes& all) {
  constexpr std::size_t kWidth = 100;
  for (const auto& [situation, outcomes] : all) {
    std::cout << situation << "\n";
    for (const auto& [outcome, events] : outcomes) {
      std::string line = base::format("  {}:", outcome);
      for (const std::string& event : events) {
        if (line.size() + 1 + event.size() > kWidth && !line.ends_with(':')) {
          std::cout << line << "\n";
          line = "   ";
        }
        line += " " + event;
      }
      std::cout << line << "\n";
    }
  }
}

TEST(GangTableTest, EverySituationAndEventHasItsRow) {
  auto expected = rows();
  std::set<std::pair<Phase, std::size_t>> walked;
  Outcomes actual_rows;
  for (const auto& [situation, make] : situations()) {
    for (const auto& [name, happening] : happenings()) {
      Situation made = make();
      made.driver.pass(std::chrono::milliseconds(10));
      const Phase before = made.driver.phase(made.subject);
      const std::string decided = happening(made.driver, made.subject);
      // Before it begins, a gang has no phases yet.
      if (situation != "new") walked.emplace(before, made.driver.steps().back().event.index());
      const auto phase = static_cast<std::size_t>(made.driver.phase(made.subject));
      const std::string actual =
          base::format("{} {} {}", kPhases.at(phase), job::to_string(made.driver.gang().state()),
                       decided.empty() ? "-" : decided);
      actual_rows[situation][actual].push_back(name);
      const auto row = expected.extract(Key(situation, name));
      EXPECT_FALSE(row.empty()) << "no row: " << situation << " " << name << " " << actual;
      EXPECT_EQ(actual, row.empty() ? actual : row.mapped()) << situation << " " << name;
    }
  }
  for (const auto& [key, rest] : expected) {
    ADD_FAILURE() << "a row of nothing: " << key.first << " " << key.second;
  }
  EXPECT_EQ(walked.size(), kPhases.size() * std::variant_size_v<Event>);
  if (HasFailure()) print(actual_rows);
}

// An event of another attempt than the current one is late: wherever it comes, nothing happens.
TEST(GangTableTest, EventsOfOtherAttemptsAndUnknownTasksChangeNothing) {
  for (const auto& [situation, make] : situations()) {
    for (const int shift : {-1, 1, 7}) {
      for (const bool unknown : {false, true}) {
        Situation made = make();
        const Task task = *made.driver.gang().find(made.subject);
        const job::TaskId stranger{"stranger", 0};
        const job::TaskId id = unknown ? stranger : made.subject;
        const int attempt = (shift < 0 ? task.allocated_attempt : task.attempt) + shift;
        const base::Instant now = made.driver.now();
        made.driver.step(Progress{stranger, 1});  // the time of the last step is state too
        const Gang before = made.driver.gang();
        for (const Event& event : std::vector<Event>{
                 Allocated{id, attempt, "late"}, Reported{id, attempt, {"late", 1}},
                 Started{id, attempt}, job::Exited{id, attempt, {}, now}, SessionLost{id, attempt},
                 Reattached{id, attempt},
                 job::AgentEnded{
                     id, attempt, {.reason = job::Reason::kAgentEnded, .detail = "late"}, now},
                 Progress{id, attempt}}) {
          EXPECT_EQ(made.driver.step(event), "") << situation << " " << name_of(event);
          EXPECT_TRUE(made.driver.gang() == before) << situation << " " << name_of(event);
        }
      }
    }
  }
}

}  // namespace
}  // namespace gangrun::gang
