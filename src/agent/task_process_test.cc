#include "agent/task_process.h"

#include <gmock/gmock.h>

namespace gangrun::agent {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Key;
using testing::Pair;

TEST(TaskProcess, InheritsWhatIsNotOfAnotherJob) {
  EXPECT_THAT(
      inherited_variables({"HOME=/home/ann", "GANGRUN_TASK=worker:0", "EMPTY=", "A=b=c"}, false),
      ElementsAre(Pair("A", "b=c"), Pair("EMPTY", ""), Pair("HOME", "/home/ann")));
}

// Over ssh it was that of the login's script: what a program made in $PWD was in gangrun's own
// folder, and never came back.
TEST(TaskProcess, ThePwdThatIsInheritedNamesTheWorkingFolder) {
  Variables inherited = {{"OLDPWD", "/home"}, {"PWD", "/proc"}};
  name_working_folder("/tmp", inherited);
  EXPECT_THAT(inherited, ElementsAre(Pair("PWD", "/tmp")));
  // Another name of it, as of a link that leads there.
  inherited = {{"OLDPWD", "/home"}, {"PWD", "/tmp/."}};
  name_working_folder("/tmp", inherited);
  EXPECT_THAT(inherited, ElementsAre(Key("OLDPWD"), Pair("PWD", "/tmp/.")));
  inherited = {{"A", "b"}};
  name_working_folder("/tmp", inherited);
  EXPECT_THAT(inherited, ElementsAre(Key("A")));
}

// An evaluator, a ps or a task with several processes has no RANK or TF_CONFIG of its own.
TEST(TaskProcess, InheritsNothingOfAnOuterLauncher) {
  EXPECT_THAT(inherited_variables({"TF_CONFIG={}", "RANK=3", "HOROVOD_RANK=1", "DTF_PS_HOSTS=a:1",
                                   "SLURM_PROCID=0", "SLURM_JOB_ID=7", "CUDA_VISIBLE_DEVICES=1",
                                   "HOROVOD_LOG_LEVEL=debug", "RANKING=1"},
                                  false),
              ElementsAre(Key("CUDA_VISIBLE_DEVICES"), Key("HOROVOD_LOG_LEVEL"), Key("RANKING"),
                          Key("SLURM_JOB_ID")));
  EXPECT_THAT(task_variables({}, {}, std::nullopt, {{"RANK", "0"}}, {{"HOROVOD_RANK", "1"}}),
              ElementsAre(Pair("HOROVOD_RANK", "1"), Pair("RANK", "0")))
      << "what the user sets stays";
}

TEST(TaskProcess, WhatIsNoVariableIsLeftOut) {
  EXPECT_THAT(inherited_variables({"NAME", "=x", ""}, false), IsEmpty());
}

TEST(TaskProcess, AnImageHasItsOwnPath) {
  EXPECT_THAT(inherited_variables({"PATH=/usr/bin"}, false), ElementsAre(Key("PATH")));
  EXPECT_THAT(inherited_variables({"PATH=/usr/bin"}, true), IsEmpty());
}

TEST(TaskProcess, WhoIsNearerToTheTaskWins) {
  const Variables inherited{
      {"A", "inherited"}, {"B", "inherited"}, {"C", "inherited"}, {"D", "inherited"}};
  const Variables frameworks{{"B", "framework"}, {"C", "framework"}, {"D", "framework"}};
  const Variables job{{"C", "job"}, {"D", "job"}};
  EXPECT_THAT(task_variables(inherited, frameworks, std::nullopt, job, {{"D", "task"}}),
              ElementsAre(Pair("A", "inherited"), Pair("B", "framework"), Pair("C", "job"),
                          Pair("D", "task")));
}

TEST(TaskProcess, GangrunsOwnAreNotTheUsers) {
  const Variables ours{{"GANGRUN_TASK", "worker:0"}};
  const Variables users{{"GANGRUN_TASK", "ps:0"}, {"GANGRUN_MINE", "1"}};
  EXPECT_THAT(task_variables({}, ours, std::nullopt, users, users),
              ElementsAre(Pair("GANGRUN_TASK", "worker:0")));
}

TEST(TaskProcess, OnlyItsGpusAreSeen) {
  const Variables inherited{{"CUDA_VISIBLE_DEVICES", "0,1,2,3"}};
  const job::Gpus some{job::GpuMaker::kNvidia, {{"GPU-2", "l", "", ""}}};
  EXPECT_THAT(task_variables(inherited, {}, some, {}, {}),
              ElementsAre(Pair("CUDA_VISIBLE_DEVICES", "GPU-2")));
  EXPECT_THAT(task_variables(inherited, {}, job::Gpus{}, {}, {}),
              ElementsAre(Pair("CUDA_VISIBLE_DEVICES", "")));
  // If nobody gives GPUs out, all are everybody's.
  EXPECT_THAT(task_variables(inherited, {}, std::nullopt, {}, {}),
              ElementsAre(Pair("CUDA_VISIBLE_DEVICES", "0,1,2,3")));
}

TEST(TaskProcess, ListsOfHipWouldChooseAgain) {
  const Variables inherited{{"CUDA_VISIBLE_DEVICES", "1"}, {"HIP_VISIBLE_DEVICES", "1"}};
  const job::Gpus some{job::GpuMaker::kAmd, {{"2", "l", "", ""}}};
  EXPECT_THAT(task_variables(inherited, {}, some, {}, {}),
              ElementsAre(Pair("ROCR_VISIBLE_DEVICES", "2")));
  // But the user may want just that.
  EXPECT_THAT(task_variables(inherited, {}, some, {}, {{"HIP_VISIBLE_DEVICES", "0"}}),
              ElementsAre(Pair("HIP_VISIBLE_DEVICES", "0"), Pair("ROCR_VISIBLE_DEVICES", "2")));
}

std::vector<std::string> words(const std::vector<process::ListenFd>& sockets) {
  std::vector<std::string> all;
  for (const auto& socket : sockets) all.push_back(std::to_string(socket.fd) + socket.name);
  return all;
}

TEST(TaskProcess, TheFirstProcessGetsTheHeldPortsByTheirNames) {
  job::Ports ports{.count = 2, .names = {"grpc", "web"}};
  EXPECT_THAT(words(listening(ports, {7, 9}, 0)), ElementsAre("7grpc", "9web"));
  EXPECT_THAT(words(listening(ports, {7, 9}, 1)), IsEmpty());
  ports.names.clear();
  EXPECT_THAT(words(listening(ports, {7, 9}, 0)), ElementsAre("7gangrun", "9gangrun"));
}

TEST(TaskProcess, WhatIsLetGoOfIsNotHandedOn) {
  job::Ports ports;
  ports.hold = job::Hold::kUntilExec;
  EXPECT_THAT(words(listening(ports, {7}, 0)), IsEmpty());
}

}  // namespace
}  // namespace gangrun::agent
