#include "client/stacks_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gangrun::client {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

base::Json python_process(int pid, const std::string& stack) {
  return {{"pid", pid},
          {"name", "python3"},
          {"state", "S"},
          {"cpu_seconds", pid + 1.5},
          {"python", stack}};
}

cluster::Answer answer_of(int tasks) {
  cluster::Answer answer;
  for (int index = 0; index < tasks; ++index) {
    const std::string at = index == 3 ? "load (data.py:7)" : "all_reduce (train.py:31)";
    const std::string stack = "Process " + std::to_string(100 + index) +
                              ": python3 train.py\nPython v3.11.2 (/usr/bin/python3.11)\n\n"
                              "Thread " +
                              std::to_string(10 + index) +
                              " (idle): \"MainThread\"\n"
                              "    " +
                              at + "\n";
    answer.tasks.push_back(
        {{"worker", index}, {{"processes", {python_process(100 + index, stack)}}}, ""});
  }
  return answer;
}

TEST(StacksView, TasksWithTheSameStackAreShownOnceAndTheOddOnesFirst) {
  const auto stacks = same_stacks(answer_of(6));
  ASSERT_THAT(stacks, SizeIs(2));
  EXPECT_EQ(task_ranges(stacks[0].tasks), "worker:3");
  EXPECT_THAT(stacks[0].stack, HasSubstr("load (data.py:7)"));
  EXPECT_EQ(task_ranges(stacks[1].tasks), "worker:0-2,4-5");
  EXPECT_THAT(stacks[1].stack, Not(HasSubstr("Process")));
  const std::string text = stacks_text(answer_of(6));
  EXPECT_LT(text.find("load"), text.find("all_reduce"));
  EXPECT_THAT(text, HasSubstr("worker:0-2,4-5  python3 (sleeps, 101.5 to 106.5 s of CPU)\n"));
}

// They came in the order of their text: worker:1, which computes, before worker:0, which waits.
TEST(StacksView, StacksOfEquallyManyTasksAreInTheTasksOrder) {
  cluster::Answer answer;
  const char* const at[] = {"wait", "compute", "wait", "compute", "adjust"};
  for (int index = 0; index < 5; ++index) {
    answer.tasks.push_back(
        {{"worker", index}, {{"processes", {python_process(index, at[index])}}}, ""});
  }
  std::vector<std::string> order;
  for (const SameStack& stack : same_stacks(answer)) order.push_back(task_ranges(stack.tasks));
  EXPECT_THAT(order, testing::ElementsAre("worker:4", "worker:0,2", "worker:1,3"));
}

TEST(StacksView, WhoCannotBeSeenIsNamedWithTheReason) {
  cluster::Answer answer;
  for (int index = 0; index < 2; ++index) {
    answer.tasks.push_back({{"worker", index}, nullptr, "no agent of gangrun is beside it"});
  }
  base::Json stuck = {{"pid", 9},
                      {"name", "train"},
                      {"state", "D"},
                      {"cpu_seconds", 0},
                      {"kernel", "waits in nfs_wait"},
                      {"trouble", "neither eu-stack nor gdb"}};
  answer.tasks.push_back({{"ps", 0}, {{"processes", {stuck}}}, ""});
  const std::string text = stacks_text(answer);
  EXPECT_THAT(text, HasSubstr("worker:0-1: no agent of gangrun is beside it\n"));
  EXPECT_THAT(text, HasSubstr("ps:0  train (waits in the kernel, 0.0 s of CPU)\n    waits in "
                              "nfs_wait\n    (neither eu-stack nor gdb)"));
}

TEST(StacksView, AContainerThatDoesNotAnswerHasAReasonAndNoState) {
  cluster::Answer answer;
  const base::Json frozen = {{"pid", 0},
                             {"name", "gangrun-j-worker-0-1"},
                             {"state", ""},
                             {"cpu_seconds", 0},
                             {"trouble", "docker exec did not answer in time"}};
  answer.tasks.push_back({{"worker", 0}, {{"processes", {frozen}}}, ""});
  EXPECT_EQ(stacks_text(answer),
            "worker:0  gangrun-j-worker-0-1\n    (docker exec did not answer in time)\n\n");
  EXPECT_EQ(stacks_json(answer).at("tasks")[0].at("processes")[0], frozen);
}

TEST(StacksView, ProcessesThatDifferInAddressesOnlyAreShownOnce) {
  cluster::Answer answer;
  for (const int index : {1, 2, 3}) {
    const std::string number = std::to_string(index);
    base::Json waits = {
        {"pid", index},
        {"name", "train"},
        {"state", "S"},
        {"cpu_seconds", 0},
        {"kernel", "waits in do_poll, system call 7 0x7f0" + number + " 0x1 0x7ffd" + number +
                       "\n[<ffffffff8" + number + ">] do_poll+0x" + number + "/0x2b0"},
        {"trouble", "eu-stack: pid " + number + ": not permitted"}};
    if (index == 3) waits["kernel"] = "waits in do_poll, system call 0 0x7f01 0x1";
    answer.tasks.push_back({{"worker", index}, {{"processes", {waits}}}, ""});
  }
  EXPECT_EQ(stacks_text(answer),
            "worker:3  train (sleeps, 0.0 s of CPU)\n"
            "    waits in do_poll, system call 0\n"
            "    (eu-stack: pid …: not permitted)\n\n"
            "worker:1-2  train (sleeps, 0.0 s of CPU)\n"
            "    waits in do_poll, system call 7\n"
            "    [<…>] do_poll+0x…/0x…\n"
            "    (eu-stack: pid …: not permitted)\n\n");
  EXPECT_THAT(stacks_json(answer).dump(), HasSubstr("0x7f01 0x1"));
}

TEST(StacksView, JsonHasAllProcessesOfAllTasks) {
  cluster::Answer answer = answer_of(1);
  answer.tasks.push_back({{"worker", 1}, nullptr, "it does not run"});
  const base::Json json = stacks_json(answer);
  ASSERT_EQ(json.at("tasks").size(), 2U);
  EXPECT_EQ(json.at("tasks")[0].at("task"), "worker:0");
  EXPECT_EQ(json.at("tasks")[0].at("processes")[0].at("pid"), 100);
  EXPECT_EQ(json.at("tasks")[1].at("trouble"), "it does not run");
}

TEST(StacksView, ProcessesBeyondTheLimitAreCounted) {
  cluster::Answer answer = answer_of(3);
  for (const std::size_t task : {0U, 2U}) answer.tasks[task].said["not_shown"] = 44;
  EXPECT_THAT(stacks_text(answer), EndsWith("\nworker:0,2: 44 more processes are not shown\n"));
  const base::Json json = stacks_json(answer);
  EXPECT_EQ(json.at("tasks")[0].at("not_shown"), 44);
  EXPECT_FALSE(json.at("tasks")[1].contains("not_shown"));
}

// A Python process was shown by frames of the interpreter only, with no hint what is missing.
TEST(StacksView, TheWantOfPySpyIsToldOnce) {
  constexpr const char* kHint =
      "\nPython's own stacks need py-spy where the tasks run: pip install 'gangrun[stacks]'\n";
  cluster::Answer answer;
  for (int index = 0; index < 3; ++index) {
    const base::Json seen = {{"pid", index},
                             {"name", "python3"},
                             {"state", "S"},
                             {"cpu_seconds", 0},
                             {"native", "#0 _PyEval_EvalFrameDefault"},
                             {"needs_py_spy", true}};
    answer.tasks.push_back({{"worker", index}, {{"processes", {seen}}}, ""});
  }
  answer.tasks.push_back({{"worker", 3}, nullptr, "it does not run"});
  const std::string text = stacks_text(answer);
  EXPECT_THAT(text, EndsWith(kHint));
  EXPECT_EQ(text.find(kHint), text.rfind(kHint));
  EXPECT_EQ(stacks_json(answer).at("tasks")[0].at("processes")[0].at("needs_py_spy"), true);
  for (cluster::TaskAnswer& task : answer.tasks) {
    if (task.refused.empty()) task.said["processes"][0]["trouble"] = "py-spy is not installed";
  }
  EXPECT_THAT(stacks_text(answer), Not(HasSubstr(kHint)));
  EXPECT_THAT(stacks_text(answer_of(3)), Not(HasSubstr("py-spy")));
}

TEST(StacksView, WhatIsNoAnswerShowsNothing) {
  cluster::Answer answer;
  answer.tasks.push_back({{"worker", 0}, {{"processes", 7}}, ""});
  answer.tasks.push_back({{"worker", 1}, {{"other", 7}}, ""});
  EXPECT_THAT(same_stacks(answer), IsEmpty());
  EXPECT_EQ(stacks_text({}), "");
}

}  // namespace
}  // namespace gangrun::client
