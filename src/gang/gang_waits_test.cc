// P7: every wait of the gang has a limit and a sentence. What it waits for is read from the sources
// themselves, so a wait that is added without a row here fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string_view>

#include "gang/gang_driver.h"
#include "job/test_tasks.h"

namespace gangrun::gang {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

const job::TaskId kOther{"worker", 1};

job::JobSpec two_waiting_workers() {
  job::JobSpec spec = job_of({task_type("worker", 2)});
  spec.restarts = at_once(3, job::RestartScope::kGang);
  return spec;
}

job::JobSpec with_evaluator() {
  return job_of({task_type("worker"), task_type("evaluator", 1, minutes(2))});
}

Driver begun(const job::JobSpec& spec) {
  Driver driver(spec);
  driver.step(Begin{});
  return driver;
}

struct Row {
  std::string what;
  std::function<Driver()> waiting;
  std::string words;
};

// By the instant until which is waited, as the source writes it.
using Rows = std::multimap<std::string, Row>;

Rows of_beginnings() {
  return {{"now_ + timeouts_.allocation",
           {"a place", [] { return begun(two_waiting_workers()); },
            "a place for worker:0, worker:1 (0 of 2 tasks have one); limit in 10 min"}},
          {"now_ + timeouts_.allocation",
           {"a place that the cluster does not have",
            [] {
              Driver driver = begun(two_waiting_workers());
              driver.step(ClusterWaiting{"the queue is full"});
              return driver;
            },
            "(0 of 2 tasks have one): the queue is full; limit in 10 min"}},
          {"now_ + timeouts_.roll_call",
           {"a report",
            [] {
              Driver driver = begun(two_waiting_workers());
              driver.allocated(job::kWorker0);
              driver.allocated(kOther);
              return driver;
            },
            "the report of worker:0, worker:1 (0 of 2 tasks have reported); limit in 2 min"}},
          {"now_ + timeouts_.roll_call",
           {"a start",
            [] {
              Driver driver(two_waiting_workers());
              driver.roll_call();
              return driver;
            },
            "the start of worker:0, worker:1; limit in 2 min"}}};
}

Rows of_runs() {
  return {{"now_ + timeouts_.stop + limits_.kill_allowance",
           {"a stop for a restart",
            [] {
              Driver driver = running(two_waiting_workers());
              driver.exited(job::kWorker0, 1);
              return driver;
            },
            "restart: worker:1 still to stop; limit in 30 s"}},
          {"now_ + timeouts_.job",
           {"the job",
            [] {
              job::JobSpec spec = two_waiting_workers();
              spec.timeouts.job = minutes(90);
              return running(spec);
            },
            "the end of its tasks; limit in 1 h 30 min"}},
          {"now_ + limits_.silence",
           {"news",
            [] {
              Driver driver = running(two_waiting_workers());
              driver.session_lost(job::kWorker0);
              return driver;
            },
            "news of worker:0; limit in 1 min 5 s"}},
          {"now_ + limits_.silence",
           {"news after a change of masters",
            [] {
              Driver driver = running(two_waiting_workers());
              driver.step(Resumed{});
              return driver;
            },
            "news of worker:0, worker:1; limit in 1 min 5 s"}}};
}

Rows of_ends() {
  return {{"now_ + grace + limits_.kill_allowance",
           {"the end of the others",
            [] {
              job::JobSpec spec = two_waiting_workers();
              spec.restarts.max = 0;
              Driver driver = running(spec);
              driver.exited(job::kWorker0, 1);
              return driver;
            },
            "the end of worker:0, worker:1; limit in"}},
          {"now_ + task.grace",
           {"an observer",
            [] {
              Driver driver = running(with_evaluator());
              driver.exited(job::kWorker0, 0);
              return driver;
            },
            "the end of evaluator:0; limit in"}},
          {"now_ + task->grace",
           {"an observer that makes progress",
            [] {
              Driver driver = running(with_evaluator());
              driver.exited(job::kWorker0, 0);
              driver.all_gone();
              driver.pass(minutes(1));
              driver.step(Progress{job::kEvaluator, 1});
              return driver;
            },
            "the end of evaluator:0; limit in 2 min"}},
          {"now_ + limits_.kill_allowance",
           {"the end of what was killed",
            [] {
              job::JobSpec spec = two_waiting_workers();
              spec.restarts.max = 0;
              Driver driver = running(spec);
              driver.exited(job::kWorker0, 1);
              driver.agent_ended(job::kWorker0);
              driver.expire();
              return driver;
            },
            "the end of worker:1; limit in 10 s"}}};
}

Rows of_sizes() {
  return {
      {"waiting_since_ + timeouts_.shrink",
       {"the missing of a gang that can be smaller",
        [] {
          job::JobSpec spec = job_of({elastic_type("worker", 2, 1)});
          Driver driver = begun(spec);
          driver.reported(job::kWorker0);
          return driver;
        },
        "a place for worker:1 (1 of 2 tasks have one); limit in 10 s"}},
      {"published_at_ + timeouts_.shrink",
       {"the time to grow",
        [] {
          job::JobSpec spec = job_of({elastic_type("worker", 2, 1)});
          spec.timeouts.shrink = seconds(10);
          Driver driver = begun(spec);
          driver.reported(job::kWorker0);
          driver.expire();
          driver.started(job::kWorker0);
          driver.reported(kOther);
          return driver;
        },
        "the time to restart with worker:1; limit in 10 s"}},
  };
}

Rows wait_rows() {
  Rows all = of_beginnings();
  all.merge(of_runs());
  all.merge(of_ends());
  all.merge(of_sizes());
  return all;
}

// The instants that one source computes from a limit, as it writes them.
void add_instants(const std::string& source, std::set<std::string>& found) {
  constexpr std::string_view kPlus = " + ";
  constexpr std::string_view kLimits[] = {"timeouts_.", "limits_.", "grace", "task.grace",
                                          "task->grace"};
  std::size_t at = source.find(kPlus);
  while (at != std::string::npos) {
    const std::string_view rest = std::string_view(source).substr(at + kPlus.size());
    const bool is_limit =
        std::any_of(std::begin(kLimits), std::end(kLimits),
                    [&](std::string_view limit) { return rest.starts_with(limit); });
    std::size_t next = at + kPlus.size();
    if (is_limit) {
      const std::size_t begin = source.find_last_of(" (\n", at - 1) + 1;
      next = source.find_first_of("),;", at);
      found.insert(source.substr(begin, next - begin));
    }
    at = source.find(kPlus, next);
  }
}

std::set<std::string> instants_in_sources() {
  std::set<std::string> found;
  // __FILE__ may be relative to the folder of the build, where this program is.
  const auto build = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const auto room = (build / __FILE__).parent_path();
  for (const auto& entry : std::filesystem::directory_iterator(room)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".cc") || name.ends_with("_test.cc")) continue;
    std::stringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    add_instants(text.str(), found);
  }
  return found;
}

TEST(GangWaitsTest, EveryWaitOfTheSourcesHasARow) {
  std::set<std::string> known;
  for (const auto& [instant, row] : wait_rows()) known.insert(instant);
  EXPECT_EQ(instants_in_sources(), known);
}

TEST(GangWaitsTest, EveryWaitHasALimitAndASentence) {
  for (const auto& [instant, row] : wait_rows()) {
    Driver driver = row.waiting();
    const std::string words = driver.gang().waiting_for(driver.now());
    EXPECT_THAT(words, HasSubstr(row.words)) << row.what;
    EXPECT_THAT(words, ContainsRegex("; limit in [0-9]")) << row.what;
    EXPECT_TRUE(driver.gang().next_deadline()) << row.what;
  }
}

}  // namespace
}  // namespace gangrun::gang
