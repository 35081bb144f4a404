#include "job/spec.h"

#include <gmock/gmock.h>

#include <csignal>

#include "job/choice.h"
#include "job/spec_names.h"

namespace gangrun::job {
namespace {

TEST(TaskSpec, AnOverrideReplacesOnlyWhatItNames) {
  TaskSpec task;
  task.resources = {1024, 2, 1};
  task.overrides[1].memory_mib = 4096;
  task.overrides[2].gpus = 0;
  EXPECT_EQ(task.resources_of(0), (Resources{1024, 2, 1}));
  EXPECT_EQ(task.resources_of(1), (Resources{4096, 2, 1}));
  EXPECT_EQ(task.resources_of(2), (Resources{1024, 2, 0}));
}

TEST(Command, ALineGoesToTheShellAndWordsDoNot) {
  const Command line{{}, "a | b"};
  const Command words{{"python", "my file.py", "it's"}, ""};
  EXPECT_THAT(line.argv(), testing::ElementsAre("/bin/sh", "-c", "a | b"));
  EXPECT_EQ(line.to_string(), "a | b");
  EXPECT_EQ(words.argv(), words.words);
  EXPECT_EQ(words.to_string(), R"(python 'my file.py' 'it'\''s')");
  EXPECT_TRUE(Command{}.empty());
}

TEST(JobSpec, ListsItsTasksInOrder) {
  JobSpec job;
  job.command.shell_line = "job's";
  job.tasks.resize(2);
  job.tasks[0].type = "worker";
  job.tasks[0].instances = 2;
  job.tasks[1].type = "ps";
  job.tasks[1].command.shell_line = "own";
  EXPECT_EQ(job.task_count(), 3);
  std::vector<std::string> names;
  for (const TaskId& task : job.task_ids()) names.push_back(to_string(task));
  EXPECT_THAT(names, testing::ElementsAre("worker:0", "worker:1", "ps:0"));
  EXPECT_EQ(job.command_of(*job.find("worker")).shell_line, "job's");
  EXPECT_EQ(job.command_of(*job.find("ps")).shell_line, "own");
  EXPECT_EQ(job.find("chief"), nullptr);
}

TEST(Policy, ObserversAreTrackedWhereNothingElseIs) {
  JobSpec job;
  job.tasks.resize(2);
  job.tasks[0].policy = Policy::kObserver;
  job.tasks[1].policy = Policy::kService;
  EXPECT_EQ(effective_policy(job, job.tasks[0]), Policy::kTracked);
  EXPECT_EQ(effective_policy(job, job.tasks[1]), Policy::kService);
  job.tasks[1].policy = Policy::kTracked;
  EXPECT_EQ(effective_policy(job, job.tasks[0]), Policy::kObserver);
}

TEST(SpecNames, SignalsHaveTheNumbersOfTheirNames) {
  EXPECT_EQ(number_of(*choice_from<StopSignal>("SIGHUP")), SIGHUP);
  EXPECT_EQ(number_of(*choice_from<StopSignal>("QUIT")), SIGQUIT);
  EXPECT_EQ(number_of(*choice_from<NoticeSignal>("SIGUSR1")), SIGUSR1);
  EXPECT_EQ(number_of(*choice_from<NoticeSignal>("INT")), SIGINT);
  EXPECT_EQ(number_of(*choice_from<NoticeSignal>("none")), 0);
}

}  // namespace
}  // namespace gangrun::job
