#include "kubernetes/pods/pod_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/test_folder.h"
#include "base/test_log.h"
#include "kubernetes/pods/manifests_for_tests.h"

namespace gangrun::kubernetes::pods {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const job::TaskId kWorker{"worker", 1};
const job::TaskId kEvaluator{"evaluator", 0};

class PodRunsTest : public testing::Test {
 protected:
  static Manifests manifests() {
    ManifestInput input = test::wine_job();
    input.spec.tasks.push_back(test::tasks_of("evaluator", 1));
    return *Manifests::make(std::move(input));
  }
  static std::shared_ptr<const job::ClusterSpec> spec() {
    job::ClusterSpec spec;
    spec.generation = 2;
    for (int index = 0; index < 2; ++index) {
      spec.tasks["worker"].push_back({"worker-" + std::to_string(index) + ".wine-1", 2222});
    }
    spec.tasks["evaluator"].push_back({"evaluator-0.wine-1", 2222});
    return std::make_shared<const job::ClusterSpec>(std::move(spec));
  }
  template <typename Told>
  static const Told& gangs(const cluster::TasksEvent& event) {
    return std::get<Told>(std::get<cluster::Happened>(event).event);
  }
  void begin(const job::TaskId& task, int attempt) {
    const auto run = runs_.begin({task, attempt, 2, attempt - 1}, spec());
    ASSERT_TRUE(run.ok()) << run.error().message;
  }

  const base::TestFolder folder_;
  base::LogRecorder log_;
  const Manifests manifests_ = manifests();
  PodRuns runs_{manifests_, folder_.path(), log_};
};

// Its address is known before it runs.
TEST_F(PodRunsTest, ATaskReportsAsSoonAsItsSlotIsThere) {
  const auto told = runs_.told(cluster::AgentAllocated{kWorker, 3, "", {{"pod", "p"}}});
  ASSERT_THAT(told, SizeIs(2));
  EXPECT_EQ(gangs<gang::Allocated>(told[0]).attempt, 3);
  EXPECT_EQ(std::get<cluster::Happened>(told[0]).whereabouts->handle, (base::Json{{"pod", "p"}}));
  EXPECT_EQ(gangs<gang::Reported>(told[1]).address, manifests_.address_of(kWorker));
}

TEST_F(PodRunsTest, ARunIsGivenItsVariablesEachTimeThatItIsAsked) {
  const auto run = runs_.begin({kWorker, 4, 2, 3}, spec());
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_EQ(run->attempt, 4);
  EXPECT_EQ(run->generation, 2);
  for (int time = 0; time < 2; ++time) {
    const auto variables = run->environment();
    EXPECT_THAT(variables.at("TF_CONFIG"), HasSubstr("worker-1.wine-1:2222"));
    EXPECT_EQ(variables.at("GANGRUN_TASK_INDEX"), "1");
    EXPECT_EQ(variables.at("GANGRUN_RESTARTS"), "3");
    EXPECT_EQ(variables.at("GANGRUN_NOTICE_FILE"), kPodNoticeFile);
  }
}

TEST_F(PodRunsTest, AFailureHasItsLastLinesAndWhereItWas) {
  begin(kWorker, 1);
  const auto started = runs_.told(RunStarted{kWorker, 1, "node2"});
  EXPECT_EQ(gangs<gang::Started>(started.at(0)).attempt, 1);
  EXPECT_EQ(runs_.facts(kWorker)->host, "node2");
  EXPECT_THAT(runs_.facts(kWorker)->address_reason, HasSubstr("node2"));
  EXPECT_THAT(runs_.told(RunLine{kWorker, "ValueError: no"}), IsEmpty());
  EXPECT_EQ(runs_.facts(kWorker)->last_line, "ValueError: no");
  EXPECT_EQ(base::read_file(folder_.path() + "/worker-1.out", 100).value_or(""),
            "ValueError: no\n");
  job::ExitReport report;
  report.why = {.reason = job::Reason::kExitStatus, .code = 3};
  const auto ended = runs_.told(job::Exited{kWorker, 1, report, {}});
  const auto& told = gangs<job::Exited>(ended.at(0)).report;
  EXPECT_EQ(to_words(told.why), "exited with status 3 on node2");
  EXPECT_THAT(told.last_lines, ElementsAre("ValueError: no"));
}

TEST_F(PodRunsTest, TheNextRunHasNothingOfTheOneBefore) {
  begin(kWorker, 1);
  (void)runs_.told(RunStarted{kWorker, 1, "node2"});
  (void)runs_.told(RunLine{kWorker, "old"});
  begin(kWorker, 2);
  const auto ended = runs_.told(job::Exited{kWorker, 2, {}, {}});
  EXPECT_THAT(gangs<job::Exited>(ended.at(0)).report.last_lines, IsEmpty());
  EXPECT_EQ(gangs<job::Exited>(ended.at(0)).report.why.host, "");
}

TEST_F(PodRunsTest, ASuccessIsToldAsItIs) {
  begin(kWorker, 1);
  (void)runs_.told(RunLine{kWorker, "done"});
  job::ExitReport report;
  report.success = true;
  const auto ended = runs_.told(job::Exited{kWorker, 1, report, {}});
  EXPECT_EQ(gangs<job::Exited>(ended.at(0)).report, report);
}

TEST_F(PodRunsTest, TheLinesOfAnObserverAreItsProgress) {
  begin(kEvaluator, 2);
  const auto told = runs_.told(RunLine{kEvaluator, "loss 0.3"});
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_EQ(gangs<gang::Progress>(told[0]).attempt, 2);
}

TEST_F(PodRunsTest, TheRestIsHandedOn) {
  const auto warned = runs_.told(cluster::TasksWarning{"its log broke off"});
  EXPECT_EQ(std::get<cluster::TasksWarning>(warned.at(0)).sentence, "its log broke off");
  const auto lost = runs_.told(job::AgentEnded{kWorker, 1, {}, {}});
  EXPECT_EQ(gangs<job::AgentEnded>(lost.at(0)).task, kWorker);
  EXPECT_EQ(runs_.lost_lines(), std::nullopt);
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
