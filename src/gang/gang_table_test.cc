#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>
#include <sstream>

#include "gang/gang_situations.h"
#include "gang/gang_table_rows.h"
#include "gang/gang_table_rows_elastic.h"

// The decision table, walked whole: every phase of a task and every event have an expected row.
namespace gangrun::gang {
namespace {

constexpr std::array<std::string_view, 9> kPhases = {"asked",    "allocated", "registered",
                                                     "starting", "running",   "stopping",
                                                     "idle",     "ending",    "gone"};

using Key = std::pair<std::string, std::string>;

// "situation event: phase, job state: decisions"
std::map<Key, std::string> rows() {
  std::map<Key, std::string> rows;
  std::istringstream lines{std::string(kTableRows) + std::string(kElasticTableRows)};
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    std::istringstream words(line);
    Key key;
    words >> key.first >> key.second;
    std::string rest;
    std::getline(words >> std::ws, rest);
    EXPECT_TRUE(rows.emplace(key, rest).second) << "twice: " << line;
  }
  return rows;
}

TEST(GangTableTest, EverySituationAndEventHasItsRow) {
  auto expected = rows();
  std::set<std::pair<Phase, std::size_t>> walked;
  std::string actual_rows;
  for (const auto& [situation, make] : situations()) {
    for (const auto& [name, happening] : happenings()) {
      Situation made = make();
      made.driver.pass(std::chrono::milliseconds(10));
      // Before it begins, a gang has no phases yet.
      if (situation != "new") walked.emplace(made.driver.phase(made.subject), happening.kind);
      const std::string decided = happening.happen(made.driver, made.subject);
      const auto phase = static_cast<std::size_t>(made.driver.phase(made.subject));
      const std::string actual =
          base::format("{} {} {}", kPhases.at(phase), job::to_string(made.driver.gang().state()),
                       decided.empty() ? "-" : decided);
      actual_rows += base::format("{} {} {}\n", situation, name, actual);
      const auto row = expected.extract(Key(situation, name));
      EXPECT_FALSE(row.empty()) << "no row: " << situation << " " << name << " " << actual;
      EXPECT_EQ(actual, row.empty() ? actual : row.mapped()) << situation << " " << name;
    }
  }
  for (const auto& [key, rest] : expected) {
    ADD_FAILURE() << "a row of nothing: " << key.first << " " << key.second;
  }
  EXPECT_EQ(walked.size(), kPhases.size() * std::variant_size_v<Event>);
  if (HasFailure()) std::fputs(actual_rows.c_str(), stdout);
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
