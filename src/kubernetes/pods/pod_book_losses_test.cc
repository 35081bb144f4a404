#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubernetes/pods/pod_book.h"
#include "kubernetes/pods/pod_book_driver.h"

// Pods of agents that others take away.
namespace gangrun::kubernetes::pods {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

const std::string kDeletion = "lost its container: pod j-worker-1: somebody deleted it";

class PodBookLosses : public testing::Test {
 protected:
  // Both workers have a node, and run.
  PodBookLosses() : driver(options()) {
    driver.book().release_others(driver.now());
    driver.begin({kWorker0, kWorker1});
    driver.created(kWorker0, "a1");
    driver.created(kWorker1, "b1");
    driver.start(kWorker0);
    driver.start(kWorker1);
    (void)driver.words();
  }
  static PodBook::Options options() {
    PodBook::Options options = BookDriver::options();
    options.has_agents = true;
    return options;
  }
  void look() { driver.book().look_for_losses(driver.now()); }
  // Somebody has deleted it, and the watch has not told of that yet.
  void delete_unseen(const job::TaskId& task) {
    driver.pod(task).is_deleting = true;
    driver.pod(task).deletion_grace = seconds(30);
  }

  BookDriver driver;
};

TEST_F(PodBookLosses, ALookIsOverWithItsList) {
  look();
  EXPECT_THAT(driver.words(), ElementsAre("list"));
  // News of the watch is no answer.
  driver.show(kWorker0);
  EXPECT_THAT(driver.words(), IsEmpty());
  driver.list({kWorker0, kWorker1});
  EXPECT_THAT(driver.words(), ElementsAre("losses told"));
  driver.list({kWorker0, kWorker1});
  driver.pass(seconds(10));
  EXPECT_THAT(driver.words(), IsEmpty());
}

TEST_F(PodBookLosses, WhatTheListShowsIsToldBefore) {
  driver.pod(kWorker1).disruption = "EvictionByEvictionAPI";
  delete_unseen(kWorker1);
  look();
  driver.list({kWorker0, kWorker1});
  EXPECT_THAT(
      driver.words(),
      ElementsAre("list", "notice worker:1: was evicted: pod j-worker-1, by the eviction API",
                  "losses told"));
}

TEST_F(PodBookLosses, ADeletionWithoutAReasonIsToldBeforeWhenTheOwnerIsThere) {
  delete_unseen(kWorker1);
  look();
  driver.list({kWorker0, kWorker1});
  EXPECT_THAT(driver.words(), ElementsAre("list", "look at owner"));
  driver.book().on_owner_there(driver.now());
  EXPECT_THAT(driver.words(), ElementsAre("notice worker:1: " + kDeletion, "losses told"));
}

TEST_F(PodBookLosses, WithTheOwnerAllIsGone) {
  delete_unseen(kWorker1);
  look();
  driver.list({kWorker0, kWorker1});
  driver.book().on_owner_deleted("somebody deleted Job j", driver.now());
  EXPECT_THAT(driver.words(),
              ElementsAre("list", "look at owner", "gone (cluster_gone): somebody deleted Job j",
                          "losses told"));
}

// By force, or so quickly that nobody saw it end.
TEST_F(PodBookLosses, APodThatIsNotInTheListIsLost) {
  look();
  driver.list({kWorker0});
  EXPECT_THAT(driver.words(), ElementsAre("list", "look at owner"));
  driver.book().on_owner_there(driver.now());
  EXPECT_THAT(driver.words(), ElementsAre("ended worker:1: " + kDeletion, "losses told"));
}

// It was told to end, and did, before its deletion was known to be no part of the job's: then it
// was told when its name was free, which was after its peers had failed.
TEST_F(PodBookLosses, OneThatHasEndedIsToldWhileItStillHasItsName) {
  delete_unseen(kWorker1);
  driver.pod(kWorker1).phase = "Failed";
  driver.pod(kWorker1).task.state = ContainerFacts::State::kTerminated;
  driver.pod(kWorker1).task.exit_code = 143;
  look();
  driver.list({kWorker0, kWorker1});
  EXPECT_THAT(driver.words(), ElementsAre("list", "look at owner", "delete worker:1 b1 0s"));
  // Its end asks once more, a moment later.
  driver.book().on_owner_there(driver.now());
  EXPECT_THAT(driver.words(), IsEmpty());
  driver.pass(milliseconds(500));
  EXPECT_THAT(driver.words(), ElementsAre("look at owner"));
  driver.book().on_owner_there(driver.now());
  EXPECT_THAT(driver.words(), ElementsAre("notice worker:1: " + kDeletion, "losses told"));
  driver.gone(kWorker1);
  EXPECT_THAT(driver.words(), ElementsAre("ended worker:1: " + kDeletion));
}

TEST_F(PodBookLosses, AServerThatDoesNotAnswerIsWaitedForNoLongerThanTheLimit) {
  delete_unseen(kWorker1);
  look();
  driver.pass(kLookLimit - milliseconds(1));
  EXPECT_THAT(driver.words(), ElementsAre("list"));
  driver.pass(milliseconds(1));
  EXPECT_THAT(driver.words(), ElementsAre("losses told"));
  // The next one has its own time; the list that comes then answers it.
  look();
  driver.pass(kLookLimit - milliseconds(1));
  driver.list({kWorker0, kWorker1});
  EXPECT_THAT(driver.words(), ElementsAre("list", "look at owner"));
  driver.pass(milliseconds(1));
  EXPECT_THAT(driver.words(), ElementsAre("losses told"));
}

// Until then it is not known which there are.
TEST_F(PodBookLosses, NoPodIsMadeBeforeTheList) {
  driver.exit(kWorker0, 1);
  driver.gone(kWorker0);
  driver.book().start(kWorker0, 2, driver.now());
  (void)driver.words();
  look();
  driver.run(kWorker0, 2);
  EXPECT_THAT(driver.words(), ElementsAre("list"));
  driver.list({kWorker1});
  EXPECT_THAT(driver.words(), ElementsAre("create worker:0#2", "losses told"));
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
