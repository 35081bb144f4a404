#include "client/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "process/levels.h"

namespace gangrun::client {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

Plan sample_plan() {
  Plan plan;
  plan.spec.name = "wine";
  plan.spec.success = "all";
  plan.spec.command.words = {"python", "train.py", "a b"};
  plan.spec.environment = {{"A", "job"}, {"B", "job"}};
  plan.spec.frameworks = {{job::Framework::kTensorflow}};
  job::TaskSpec worker;
  worker.type = "worker";
  worker.instances = 2;
  worker.resources.memory_mib = 2048;
  worker.overrides[1].memory_mib = 4096;
  worker.environment = {{"A", "task"}};
  job::TaskSpec side;
  side.type = "tensorboard";
  side.policy = job::Policy::kSidecar;
  side.command.shell_line = "exec tensorboard";
  plan.spec.tasks = {worker, side};
  plan.working_folder = "/data/wine";
  plan.job_folder = "/home/ana/.gangrun/jobs/wine-<time>";
  plan.host = "127.0.0.1";
  return plan;
}

TEST(PlanJson, HasEveryTaskWithItsOwn) {
  const auto json = plan_json(sample_plan());
  ASSERT_TRUE(json.ok()) << json.error().message;
  const base::Json& tasks = (*json)["tasks"];
  ASSERT_EQ(tasks.size(), 3U);
  EXPECT_EQ(tasks[0]["task"], "worker:0");
  EXPECT_EQ(tasks[0]["memory"], "2 GiB");
  EXPECT_EQ(tasks[1]["memory"], "4 GiB");
  EXPECT_EQ(tasks[0]["env"], (base::Json{{"A", "task"}, {"B", "job"}}));
  EXPECT_EQ(tasks[2]["command"], (base::Json{"/bin/sh", "-c", "exec tensorboard"}));
  EXPECT_EQ(tasks[2]["policy"], "sidecar");
  EXPECT_THAT((*json)["containment"]["noticed"].get<std::string>(), HasSubstr("no terminal"));
  EXPECT_EQ((*json)["containment"]["level"], "subreaper");
  EXPECT_EQ((*json)["job"]["name"], "wine");
}

TEST(PlanLines, ReadLikeTheJob) {
  const auto lines = plan_lines(sample_plan());
  ASSERT_TRUE(lines.ok());
  std::string text;
  for (const Line& line : *lines) text += line.text() + "\n";
  EXPECT_THAT(text, HasSubstr("wine: 3 tasks on local; nothing is started\n"));
  EXPECT_THAT(text, HasSubstr("works in      /data/wine\n"));
  EXPECT_THAT(text, HasSubstr("worker:1      4 GiB of memory, 1 vcore\n"));
  EXPECT_THAT(text, HasSubstr("command       python train.py 'a b'\n"));
  EXPECT_THAT(text, HasSubstr("env           A=task\n"));
  EXPECT_THAT(text, Not(HasSubstr("A=job\n  env           B=job\n  env")));
}

// It had those of task types only: a limit that was given could not be checked.
TEST(PlanLines, HaveWhatTheJobHasNotByDefault) {
  Plan plan = sample_plan();
  const auto text_of = [&] {
    std::string text;
    for (const Line& line : plan_lines(plan).value_or(Lines())) text += line.text() + "\n";
    return text;
  };
  const std::string plain = text_of();
  EXPECT_THAT(plain, HasSubstr("success       all\n"));
  for (const char* name : {"log limit", "stop signal", "restarts pause", "keep folders"}) {
    EXPECT_THAT(plain, Not(HasSubstr(name))) << name;
  }
  plan.spec.log_limit_mib = 2048;
  plan.spec.keep_folders = true;
  plan.spec.restarts.pause = std::chrono::seconds(3);
  plan.spec.stop_signal_to = job::StopSignalTo::kGroup;
  plan.spec.timeouts.master_lost = std::chrono::seconds(0);
  const std::string text = text_of();
  EXPECT_THAT(text, HasSubstr("\n  log limit     2 GiB\n"));
  EXPECT_THAT(text, HasSubstr("\n  keep folders  true\n"));
  EXPECT_THAT(text, HasSubstr("\n  restarts pause 3 s\n"));
  EXPECT_THAT(text, HasSubstr("\n  stop signal to group\n"));
  EXPECT_THAT(text, HasSubstr("\n  timeouts master lost 0 s\n"));
}

TEST(VariableNames, DependOnWhatTheTaskIs) {
  const Plan plan = sample_plan();
  const auto worker = variable_names(plan.spec, plan.spec.tasks[0]);
  ASSERT_TRUE(worker.ok());
  EXPECT_THAT(*worker, Contains("TF_CONFIG"));
  EXPECT_THAT(*worker, Contains("GANGRUN_TASK_INDEX"));
  for (const char* name :
       {"GANGRUN_KV", "GANGRUN_RESULT_FILE", "GANGRUN_FIGURES_FILE", "GANGRUN_NOTICE_FILE"}) {
    EXPECT_THAT(*worker, Contains(name));
  }
  EXPECT_THAT(*worker, Contains("LISTEN_FDS"));
  EXPECT_THAT(*worker, Not(Contains("CUDA_VISIBLE_DEVICES")));
  job::TaskSpec with_gpu = plan.spec.tasks[0];
  with_gpu.resources.gpus = 1;
  EXPECT_THAT(*variable_names(plan.spec, with_gpu), Contains("CUDA_VISIBLE_DEVICES"));
}

TEST(UncoveredBy, SaysLessForBetterLevels) {
  EXPECT_LT(uncovered_by(job::Containment::kPidNamespace).size(),
            uncovered_by(job::Containment::kCgroup).size());
  EXPECT_LT(uncovered_by(job::Containment::kCgroup).size(),
            uncovered_by(job::Containment::kSubreaper).size());
}

TEST(NoticedAt, SaysWhatProgramsSeeOtherwiseAtEachLevel) {
  EXPECT_EQ(noticed_at(job::Containment::kSubreaper), process::kNoticedAtAnyLevel);
  EXPECT_THAT(noticed_at(job::Containment::kCgroup), HasSubstr("a cgroup of its own"));
  EXPECT_THAT(noticed_at(job::Containment::kPidNamespace), HasSubstr("of their job only"));
  EXPECT_THAT(noticed_at(job::Containment::kAuto), HasSubstr("of each host"));
}

}  // namespace
}  // namespace gangrun::client
