#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubernetes/pods/pod_book.h"
#include "kubernetes/pods/pod_book_driver.h"

// Pods that are placed all or none.
namespace gangrun::kubernetes::pods {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// The first has a node and runs, the other none.
void half(BookDriver& driver) {
  driver.begin({kWorker0, kWorker1});
  driver.created(kWorker0, "a1");
  driver.created(kWorker1, "b1");
  driver.pod(kWorker1).unschedulable = "0/2 nodes are available: 2 Insufficient cpu.";
  driver.show(kWorker1);
  driver.start(kWorker0);
  (void)driver.words();
}

std::vector<std::string> without_events(std::vector<std::string> words) {
  std::erase_if(words, [](const std::string& word) { return word.starts_with("events"); });
  return words;
}

// Only the consequence was told: a worker that waited for the other in vain.
TEST(PodBookGang, WhoFailsWhileOthersHaveNoNodeNamesThem) {
  BookDriver driver;
  half(driver);
  driver.exit(kWorker0, 1);
  driver.log_ended(kWorker0);
  EXPECT_THAT(driver.words(),
              Contains("run ended worker:0#1: exited with status 1: not all pods of its gang had a "
                       "node (worker:1: the scheduler finds no node: \"0/2 nodes are available: 2 "
                       "Insufficient cpu.\")"));
}

TEST(PodBookGang, WhoWaitsAtAGateSaysItsTurnAndAsksForNoEvents) {
  PodBook::Options options = BookDriver::options();
  options.takes_back = false;
  BookDriver driver(std::move(options));
  driver.begin({kWorker0, kWorker1});
  EXPECT_FALSE(driver.book().waits_at_gate());
  for (const job::TaskId& task : {kWorker0, kWorker1}) {
    driver.created(task, task == kWorker0 ? "a1" : "b1");
    driver.pod(task).gate = "kueue.x-k8s.io/admission";
    driver.show(task);
  }
  (void)driver.words();
  EXPECT_TRUE(driver.book().waits_at_gate());
  driver.book().on_turn("it is next in queue ml");
  EXPECT_EQ(driver.book().waiting_for(driver.now()),
            "worker:0, worker:1: Kueue has not admitted it: it is next in queue ml");
  driver.pass(minutes(1));
  EXPECT_THAT(driver.words(), IsEmpty());
  for (const job::TaskId& task : {kWorker0, kWorker1}) {
    driver.pod(task).gate.clear();
    driver.start(task);
  }
  EXPECT_FALSE(driver.book().waits_at_gate());
  EXPECT_EQ(driver.book().waiting_for(driver.now()), "");
}

TEST(PodBookGang, PodsThatDoNotAllGetANodeAreGivenBackAndAskedForAgain) {
  BookDriver driver;
  half(driver);
  EXPECT_EQ(
      driver.book().waiting_for(driver.now()),
      "worker:1: the scheduler finds no node: \"0/2 nodes are available: 2 Insufficient cpu.\"");
  driver.pass(minutes(1));
  EXPECT_THAT(without_events(driver.words()),
              ElementsAre(HasSubstr("warn: 1 of 2 pods got a node and no other got one for 1 min"),
                          "drop worker:0", "delete worker:0 a1 5s", "delete worker:1 b1 0s"));
  // Its end is not a failure.
  driver.pod(kWorker0).is_deleting = true;
  driver.exit(kWorker0, 143);
  driver.gone(kWorker0);
  driver.gone(kWorker1);
  EXPECT_THAT(driver.words(), ElementsAre("delete worker:0 a1 0s"));
  EXPECT_EQ(driver.book().waiting_for(driver.now()),
            "only 1 of 2 pods got a node: they are requested again in 1.0 s; worker:0: its pod is "
            "being created; worker:1: the scheduler finds no node: \"0/2 nodes are available: 2 "
            "Insufficient cpu.\"");
  driver.pass(seconds(1));
  EXPECT_THAT(driver.words(), ElementsAre("create worker:0#1", "create worker:1#1"));
  driver.created(kWorker0, "a2");
  driver.created(kWorker1, "b2");
  driver.start(kWorker0);
  driver.start(kWorker1);
  EXPECT_THAT(driver.words(),
              ElementsAre("follow worker:0 a2", "follow worker:1 b2", "started worker:1#1 on n1"));
  driver.pass(minutes(20));
  EXPECT_THAT(driver.words(), IsEmpty());
}

TEST(PodBookGang, AsLongAsFurtherPodsGetANodeNothingIsGivenBack) {
  const std::vector<job::TaskId> tasks{kWorker0, kWorker1, {"worker", 2}, {"worker", 3}};
  PodBook::Options options = BookDriver::options();
  for (const job::TaskId& task : tasks)
    options.names[task] = base::format("j-worker-{}", task.index);
  options.gang = {tasks.begin(), tasks.end()};
  BookDriver driver(options);
  driver.begin(tasks);
  for (const job::TaskId& task : tasks) driver.created(task, base::format("u{}", task.index));
  for (std::size_t placed = 0; placed < 3; ++placed) {
    driver.place(tasks[placed]);
    driver.pass(seconds(40));
  }
  EXPECT_THAT(driver.words(), Not(Contains(HasSubstr("warn"))));
  driver.pass(seconds(20));
  EXPECT_THAT(driver.words(),
              Contains(HasSubstr("3 of 4 pods got a node and no other got one for 1 min")));
}

TEST(PodBookGang, ThePauseGetsLonger) {
  PodBook::Options options = BookDriver::options();
  options.random = [] { return 1.0; };
  options.timeouts.allocation = minutes(60);
  BookDriver driver(options);
  half(driver);
  for (const int pause : {10, 20, 40, 60, 60}) {
    driver.pass(minutes(1));
    EXPECT_THAT(driver.words(), Contains(HasSubstr(pause == 60 ? "again in 1 min"
                                                               : base::format("in {} s", pause))));
    driver.gone(kWorker0);
    driver.gone(kWorker1);
    driver.pass(seconds(pause));
    const std::string uid = base::format("{}", driver.now().time_since_epoch().count());
    driver.created(kWorker0, "a" + uid);
    driver.created(kWorker1, "b" + uid);
    driver.place(kWorker0);
  }
}

TEST(PodBookGang, WhatIsMadeMeanwhileIsGivenBackToo) {
  BookDriver driver;
  driver.begin({kWorker0, kWorker1});
  driver.created(kWorker0, "a1");
  driver.place(kWorker0);
  driver.pass(minutes(1));
  (void)driver.words();
  driver.created(kWorker1, "b1");
  EXPECT_THAT(driver.words(), ElementsAre("delete worker:1 b1 0s"));
  driver.gone(kWorker1);
  driver.pass(seconds(1));
  EXPECT_THAT(driver.words(), Contains("create worker:1#1"));
}

TEST(PodBookGang, AfterTheLimitTheJobIsGone) {
  BookDriver driver;
  driver.begin({kWorker0, kWorker1});
  driver.created(kWorker0, "a1");
  driver.created(kWorker1, "b1");
  for (const auto& task : {kWorker0, kWorker1}) {
    driver.pod(task).unschedulable = "0/2 nodes are available: 2 Insufficient cpu.";
    driver.show(task);
  }
  driver.pass(minutes(10));
  EXPECT_THAT(driver.words(), Contains("gone (allocation_timeout): no node for all pods within 10 "
                                       "min (timeouts.allocation): worker:0, "
                                       "worker:1: the scheduler finds no node: \"0/2 nodes are "
                                       "available: 2 Insufficient cpu.\""));
  driver.pass(minutes(10));
  EXPECT_THAT(driver.words(), IsEmpty());
}

TEST(PodBookGang, WhereTheSchedulerSeesToItNothingIsGivenBack) {
  PodBook::Options options = BookDriver::options();
  options.takes_back = false;
  BookDriver driver(options);
  half(driver);
  driver.pass(minutes(9));
  EXPECT_THAT(without_events(driver.words()), IsEmpty());
  driver.pass(minutes(1));
  EXPECT_THAT(driver.words(),
              Contains(HasSubstr("gone (allocation_timeout): no node for all pods within 10 min")));
}

TEST(PodBookGang, OneThatStartsAnewAfterAllRanTakesNobodyWithIt) {
  BookDriver driver;
  half(driver);
  driver.start(kWorker1);
  driver.exit(kWorker1, 1);
  driver.log_ended(kWorker1);
  driver.gone(kWorker1);
  driver.run(kWorker1, 2);
  driver.created(kWorker1, "b2", 2);
  (void)driver.words();
  driver.pass(minutes(9));
  EXPECT_THAT(without_events(driver.words()), IsEmpty());
}

TEST(PodBookGang, ANewGenerationIsPlacedTogetherAgain) {
  BookDriver driver;
  half(driver);
  driver.start(kWorker1);
  for (const auto& task : {kWorker0, kWorker1}) {
    driver.end_run(task, 0);
    driver.gone(task);
    driver.log_ended(task);
  }
  EXPECT_THAT(driver.words(), Contains("run ended worker:1#1: was stopped"));
  for (const auto& task : {kWorker0, kWorker1}) driver.run(task, 2, 2);
  driver.created(kWorker0, "a2", 2);
  driver.created(kWorker1, "b2", 2);
  driver.place(kWorker0);
  driver.pass(minutes(1));
  EXPECT_THAT(driver.words(), Contains(HasSubstr("warn: 1 of 2 pods got a node")));
}

TEST(PodBookGang, AStopWhileItIsGivenBack) {
  BookDriver driver;
  half(driver);
  driver.pass(minutes(1));
  driver.stop(kWorker0, 30);
  driver.stop(kWorker1, 30);
  (void)driver.words();
  driver.gone(kWorker0);
  driver.gone(kWorker1);
  EXPECT_THAT(driver.words(),
              ElementsAre("ended worker:0: was stopped", "ended worker:1: was stopped"));
  driver.pass(minutes(20));
  EXPECT_THAT(driver.words(), IsEmpty());
}

TEST(PodBookGang, OneBesideTheGangHoldsNobodyUp) {
  BookDriver driver;
  driver.begin({kWorker0, kWorker1, kBoard});
  driver.created(kWorker0, "a1");
  driver.created(kWorker1, "b1");
  driver.created(kBoard, "c1");
  driver.start(kWorker0);
  driver.start(kWorker1);
  (void)driver.words();
  driver.pass(minutes(10));
  const auto words = without_events(driver.words());
  EXPECT_THAT(words, ElementsAre("run ended tensorboard:0#1: got no place within 10 min "
                                 "(timeouts.allocation): it has no node yet",
                                 "delete tensorboard:0 c1 0s"));
  EXPECT_THAT(words, Not(Contains(HasSubstr("gone"))));
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
