#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubernetes/pods/pod_book.h"
#include "kubernetes/pods/pod_book_driver.h"

// Pods that somebody deletes, and those that are to end in a shorter time than they were given.
namespace gangrun::kubernetes::pods {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

void run_both(BookDriver& driver) {
  driver.begin({kWorker0, kWorker1});
  for (const job::TaskId& task : {kWorker0, kWorker1}) {
    driver.created(task, "u" + std::to_string(task.index));
    driver.start(task);
  }
  (void)driver.words();
}

// It made the pods again, 50 times in 6 s, each run "lost with its node".
TEST(PodBookDeletion, WithTheOwnerTheJobEndsAtOnceAndNothingIsMadeAgain) {
  BookDriver driver;
  run_both(driver);
  driver.deleted(kWorker0);
  EXPECT_THAT(driver.words(), ElementsAre("look at owner"));
  driver.book().on_owner_deleted("somebody deleted Job j", driver.now());
  EXPECT_THAT(driver.words(), ElementsAre("gone (cluster_gone): somebody deleted Job j"));
  driver.gone(kWorker0);
  EXPECT_THAT(driver.words(), IsEmpty());
  // Their pods have their time to end, which nobody waits for.
  driver.stop(kWorker0, 30);
  driver.stop(kWorker1, 30);
  EXPECT_THAT(driver.words(), ElementsAre("drop worker:0", "ended worker:0: was stopped",
                                          "drop worker:1", "ended worker:1: was stopped"));
}

TEST(PodBookDeletion, APodThatIsGoneBeforeItIsKnownThatAllAreIsNoLoss) {
  BookDriver driver;
  run_both(driver);
  driver.deleted(kWorker0);
  driver.exit(kWorker0, 143);
  driver.log_ended(kWorker0);
  driver.gone(kWorker0);
  driver.book().on_owner_deleted("somebody deleted Job j", driver.now());
  EXPECT_THAT(driver.words(), ElementsAre("look at owner", "delete worker:0 u0 0s",
                                          "gone (cluster_gone): somebody deleted Job j"));
  driver.stop(kWorker0, 30);
  EXPECT_THAT(driver.words(), ElementsAre("ended worker:0: was stopped"));
}

// `kubectl delete pods,jobs`: the pods go first.
TEST(PodBookDeletion, TheOwnerIsLookedAtAgainWhileAPodIsBeingDeleted) {
  BookDriver driver;
  run_both(driver);
  driver.deleted(kWorker0);
  driver.deleted(kWorker1);
  driver.book().on_owner_there(driver.now());
  EXPECT_THAT(driver.words(), ElementsAre("look at owner"));
  driver.pass(seconds(1));
  driver.book().on_owner_there(driver.now());
  driver.pass(milliseconds(1500));
  EXPECT_THAT(driver.words(), ElementsAre("look at owner", "look at owner"));
}

// `kubectl delete job --cascade=orphan` was seen only when the lease was to be renewed.
TEST(PodBookDeletion, PodsThatLostTheirOwnerMakeItBeLookedFor) {
  BookDriver driver;
  run_both(driver);
  for (int i = 0; i < 3; ++i) driver.book().on_stranger(driver.now());
  EXPECT_THAT(driver.words(), ElementsAre("look at owner"));
}

TEST(PodBookDeletion, NoPodIsMadeWhileTheOwnerIsInQuestion) {
  BookDriver driver;
  run_both(driver);
  driver.exit(kWorker1, 1);
  driver.log_ended(kWorker1);
  driver.deleted(kWorker0);
  driver.run(kWorker1, 2);
  driver.gone(kWorker1);
  EXPECT_THAT(driver.words(), Not(Contains(HasSubstr("create"))));
  driver.book().on_owner_there(driver.now());
  EXPECT_THAT(driver.words(), ElementsAre("create worker:1#2"));
}

TEST(PodBookDeletion, WhatKubernetesGivesAReasonForAsksForNoOwner) {
  BookDriver driver;
  run_both(driver);
  driver.pod(kWorker0).disruption = "PreemptionByScheduler";
  driver.deleted(kWorker0);
  driver.gone(kWorker0);
  EXPECT_THAT(driver.words(), Not(Contains("look at owner")));
}

// A second Ctrl-C waited 30 s for a node that keeps to the first time that it was told.
TEST(PodBookDeletion, WhoIsToEndAtOnceAfterAllIsNotWaitedFor) {
  BookDriver driver;
  run_both(driver);
  driver.stop(kWorker0, 30);
  driver.pass(seconds(1));
  EXPECT_THAT(driver.words(), ElementsAre("delete worker:0 u0 30s"));
  driver.stop(kWorker0, 0);
  EXPECT_THAT(driver.words(), ElementsAre("delete worker:0 u0 1s"));
  driver.pass(seconds(2));
  EXPECT_THAT(driver.words(), IsEmpty());
  driver.pass(seconds(1));
  EXPECT_THAT(driver.words(),
              ElementsAre("delete worker:0 u0 0s",
                          "warn: the pod j-worker-0 was deleted at once, but n1 gives its "
                          "processes the time to end that they were given first: up to 26 s more",
                          "drop worker:0", "ended worker:0: was stopped"));
}

// Both orders went to a server that was away: nodes heard of the longer time first, and it was told
// that they had been given it.
TEST(PodBookDeletion, WhatIsAskedForWhileTheServerIsSilentBeginsWhenItAnswers) {
  BookDriver driver;
  run_both(driver);
  driver.book().on_trouble(base::unavailable("connection refused"), false, driver.now());
  driver.stop(kWorker0, 30);
  driver.stop(kWorker0, 0);
  driver.pass(seconds(20));
  EXPECT_THAT(driver.words(), ElementsAre("delete worker:0 u0 30s", "delete worker:0 u0 1s",
                                          HasSubstr("has not answered for")));
  driver.book().on_heard(driver.now());
  driver.pass(seconds(20));
  EXPECT_THAT(driver.words(), ElementsAre(HasSubstr("answers again"), "delete worker:0 u0 1s"));
}

TEST(PodBookDeletion, ByAnotherCommandItIsTheSame) {
  BookDriver driver;
  run_both(driver);
  driver.deleted(kWorker0, seconds(60));
  driver.stop(kWorker0, 0);
  driver.pass(seconds(3));
  EXPECT_THAT(driver.words(), Contains(HasSubstr("up to 57 s more")));
}

// Whoever had no longer time is told once: a node that does not answer may come back.
TEST(PodBookDeletion, WhoWasGivenNoOtherTimeHasIt) {
  BookDriver driver;
  run_both(driver);
  driver.stop(kWorker0, 0);
  driver.pass(seconds(60));
  EXPECT_THAT(driver.words(), ElementsAre("delete worker:0 u0 1s"));
  driver.pass(seconds(1));
  EXPECT_THAT(driver.words(), Contains(HasSubstr("did not end on n1: it was deleted by force")));
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
