#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubernetes/pods/pod_book.h"
#include "kubernetes/pods/pod_book_driver.h"

// Pods whose first process is an agent.
namespace gangrun::kubernetes::pods {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

PodBook::Options with_agents() {
  PodBook::Options options = BookDriver::options();
  options.has_agents = true;
  return options;
}

// Both have a node, and run.
void complete(BookDriver& driver) {
  driver.book().release_others(driver.now());
  driver.begin({kWorker0, kWorker1});
  driver.created(kWorker0, "a1");
  driver.created(kWorker1, "b1");
  driver.start(kWorker0);
  driver.start(kWorker1);
  (void)driver.words();
}

TEST(PodBookAgents, AreThereWhenAllOfTheGangHaveANode) {
  BookDriver driver(with_agents());
  driver.begin({kWorker0, kWorker1, kBoard});
  EXPECT_THAT(driver.words(),
              ElementsAre("create worker:0#1", "create worker:1#1", "create tensorboard:0#1"));
  driver.created(kWorker0, "a1");
  driver.created(kWorker1, "b1");
  driver.created(kBoard, "c1");
  driver.start(kWorker0);
  EXPECT_THAT(driver.words(), ElementsAre("started worker:0#1 on n1"));
  // The board is not of the gang: it is there when its own pod is.
  driver.place(kBoard);
  EXPECT_THAT(driver.words(), ElementsAre("allocated tensorboard:0"));
  driver.place(kWorker1);
  EXPECT_THAT(driver.words(), ElementsAre("allocated worker:0", "allocated worker:1"));
  driver.start(kWorker1);
  driver.start(kBoard);
  // No log is followed.
  EXPECT_THAT(driver.words(),
              ElementsAre("started worker:1#1 on n1", "started tensorboard:0#1 on n1"));
  driver.pass(minutes(20));
  EXPECT_THAT(driver.words(), IsEmpty());
}

TEST(PodBookAgents, WhatIsGivenBackWasNeverThere) {
  BookDriver driver(with_agents());
  driver.begin({kWorker0, kWorker1});
  driver.created(kWorker0, "a1");
  driver.created(kWorker1, "b1");
  driver.start(kWorker0);
  (void)driver.words();
  driver.pass(minutes(1));
  EXPECT_THAT(driver.words(), Contains(HasSubstr("1 of 2 pods got a node")));
  driver.pod(kWorker0).is_deleting = true;
  driver.exit(kWorker0, 143);
  driver.gone(kWorker0);
  driver.gone(kWorker1);
  driver.pass(seconds(1));
  driver.created(kWorker0, "a2");
  driver.created(kWorker1, "b2");
  (void)driver.words();
  driver.start(kWorker0);
  driver.start(kWorker1);
  EXPECT_THAT(driver.words(),
              ElementsAre("started worker:1#1 on n1", "allocated worker:0", "allocated worker:1"));
}

TEST(PodBookAgents, OneThatEndsTakesItsSlotWithIt) {
  BookDriver driver(with_agents());
  complete(driver);
  driver.pod(kWorker0).task.message = "gangrun-loader: the program is for another processor";
  driver.exit(kWorker0, 125);
  EXPECT_THAT(driver.words(),
              ElementsAre("ended worker:0: lost its agent, which exited with status 125: "
                          "\"gangrun-loader: the program is for another processor\" (counts)",
                          "delete worker:0 a1 0s"));
  // The next one has the name when it is free, and finds the others there.
  driver.book().start(kWorker0, 2, driver.now());
  driver.run(kWorker0, 2);
  EXPECT_THAT(driver.words(), IsEmpty());
  driver.gone(kWorker0);
  EXPECT_THAT(driver.words(), ElementsAre("create worker:0#2"));
  driver.created(kWorker0, "a2", 2);
  driver.place(kWorker0);
  EXPECT_THAT(driver.words(), ElementsAre("allocated worker:0"));
}

// Its peers failed before it had ended, and were taken for the cause.
TEST(PodBookAgents, AnEvictionIsNobodysFaultAndIsKnownBeforeItsEnd) {
  const std::string eviction = "was evicted: pod j-worker-1, by the eviction API: \"a drain\"";
  BookDriver driver(with_agents());
  complete(driver);
  driver.pod(kWorker1).disruption = "EvictionByEvictionAPI";
  driver.pod(kWorker1).disruption_message = "a drain";
  driver.show(kWorker1);
  EXPECT_THAT(driver.words(), ElementsAre("notice worker:1"));
  driver.deleted(kWorker1);
  EXPECT_THAT(driver.words(), ElementsAre("notice worker:1: " + eviction));
  driver.show(kWorker1);
  EXPECT_THAT(driver.words(), IsEmpty());
  driver.exit(kWorker1, 143);
  driver.gone(kWorker1);
  EXPECT_THAT(driver.words(), Contains("ended worker:1: " + eviction));
  EXPECT_THAT(driver.words(), IsEmpty());
}

TEST(PodBookAgents, ANoticeSaysWhenThePodHasToEnd) {
  BookDriver driver(with_agents());
  complete(driver);
  driver.pod(kWorker1).disruption = "PreemptionByScheduler";
  driver.deleted(kWorker1, seconds(12));
  const auto actions = driver.book().take_actions();
  ASSERT_EQ(actions.size(), 1U);
  const auto& notice = std::get<cluster::PreemptionNotice>(std::get<PodEvent>(actions.front()));
  EXPECT_EQ(notice.task, kWorker1);
  EXPECT_EQ(notice.attempt, 1);
  EXPECT_EQ(notice.deadline, driver.now() + seconds(12));
  ASSERT_TRUE(notice.loss.has_value());
  EXPECT_EQ(notice.loss->reason, job::Reason::kPreempted);
}

// All may be going with their owner.
TEST(PodBookAgents, ADeletionWithoutAReasonIsToldWhenTheOwnerIsThere) {
  BookDriver driver(with_agents());
  complete(driver);
  driver.deleted(kWorker0);
  EXPECT_THAT(driver.words(), ElementsAre("look at owner"));
  driver.book().on_owner_there(driver.now());
  EXPECT_THAT(
      driver.words(),
      ElementsAre("notice worker:0: lost its container: pod j-worker-0: somebody deleted it"));
}

TEST(PodBookAgents, WhatIsAskedToEndGetsNoNotice) {
  BookDriver driver(with_agents());
  complete(driver);
  driver.stop(kWorker0, 30);
  driver.pod(kWorker0).disruption = "EvictionByEvictionAPI";
  driver.deleted(kWorker0);
  EXPECT_THAT(driver.words(), ElementsAre("delete worker:0 a1 30s"));
}

// The end of the first was told when a peer failed. It may still save its work.
TEST(PodBookAgents, TheNextOneWaitsForTheTimeThatSomebodyGaveTheLast) {
  BookDriver driver(with_agents());
  complete(driver);
  driver.pod(kWorker0).disruption = "EvictionByEvictionAPI";
  driver.deleted(kWorker0, seconds(30));
  (void)driver.words();
  driver.book().start(kWorker0, 2, driver.now());
  driver.run(kWorker0, 2);
  driver.pass(seconds(29));
  EXPECT_THAT(driver.words(), IsEmpty());
  driver.gone(kWorker0);
  EXPECT_THAT(driver.words(), ElementsAre("create worker:0#2"));
  driver.created(kWorker0, "a2", 2);
  driver.place(kWorker0);
  EXPECT_THAT(driver.words(), ElementsAre("allocated worker:0"));
}

// Its pod stayed for six minutes, and a minute more.
TEST(PodBookAgents, ALostNodeIsToldAtOnceAndItsPodIsForcedWhenTheAgentIsDead) {
  BookDriver driver(with_agents());
  complete(driver);
  driver.book().on_agent_silent(kWorker0, driver.now() + seconds(64), driver.now());
  driver.pass(seconds(40));
  EXPECT_THAT(driver.words(), IsEmpty());
  driver.pod(kWorker0).is_node_lost = true;
  driver.show(kWorker0);
  EXPECT_THAT(driver.words(),
              ElementsAre("ended worker:0: was lost with its node: pod j-worker-0: the node is "
                          "not ready, and the agent is silent",
                          "delete worker:0 a1 5s"));
  driver.book().start(kWorker0, 2, driver.now());
  driver.run(kWorker0, 2);
  driver.pass(seconds(23));
  EXPECT_THAT(driver.words(), IsEmpty());
  driver.pass(seconds(1));
  EXPECT_THAT(driver.words(),
              ElementsAre("delete worker:0 a1 0s",
                          "warn: the pod j-worker-0 did not end on n1: it was deleted by force",
                          "create worker:0#2"));
}

// Only its kubelet may be gone.
TEST(PodBookAgents, AnAgentThatIsHeardOfIsNotLost) {
  BookDriver driver(with_agents());
  complete(driver);
  driver.book().on_agent_silent(kWorker0, driver.now() + seconds(64), driver.now());
  driver.book().on_agent_heard(kWorker0, driver.now());
  driver.pod(kWorker0).is_node_lost = true;
  driver.show(kWorker0);
  driver.pass(minutes(5));
  EXPECT_THAT(driver.words(), IsEmpty());
}

TEST(PodBookAgents, WhatIsAskedToEndOnALostNodeIsForced) {
  BookDriver driver(with_agents());
  complete(driver);
  driver.stop(kWorker0, 30);
  driver.book().on_agent_silent(kWorker0, driver.now() + seconds(64), driver.now());
  driver.pod(kWorker0).is_node_lost = true;
  driver.deleted(kWorker0);
  driver.pass(seconds(63));
  EXPECT_THAT(driver.words(), ElementsAre("delete worker:0 a1 30s"));
  driver.pass(seconds(1));
  EXPECT_THAT(driver.words(), Contains("ended worker:0: was stopped"));
}

TEST(PodBookAgents, OneThatIsStoppedEndsWhenItsPodIsGone) {
  BookDriver driver(with_agents());
  complete(driver);
  driver.stop(kWorker0, 30);
  EXPECT_THAT(driver.words(), ElementsAre("delete worker:0 a1 30s"));
  driver.pod(kWorker0).is_deleting = true;
  driver.exit(kWorker0, 0);
  EXPECT_THAT(driver.words(), ElementsAre("delete worker:0 a1 0s"));
  driver.gone(kWorker0);
  EXPECT_THAT(driver.words(), ElementsAre("ended worker:0: was stopped"));
}

TEST(PodBookAgents, TheGangWaitsForThem) {
  BookDriver driver(with_agents());
  driver.begin({kWorker0, kWorker1});
  driver.created(kWorker0, "a1");
  driver.created(kWorker1, "b1");
  driver.pod(kWorker0).unschedulable = "no node";
  driver.show(kWorker0);
  (void)driver.words();
  driver.pass(minutes(60));
  for (const std::string& word : driver.words()) EXPECT_THAT(word, testing::StartsWith("events"));
  EXPECT_THAT(driver.book().waiting_for(driver.now()), HasSubstr("no node"));
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
