#include "kubernetes/pods/pod_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubernetes/pods/pod_book_driver.h"

namespace gangrun::kubernetes::pods {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Its only worker runs.
void run_worker(BookDriver& driver) {
  driver.begin({kWorker0});
  driver.created(kWorker0, "u1");
  driver.start(kWorker0);
  (void)driver.words();
}

TEST(PodBook, ASlotIsThereAtOnceAndItsPodWhenItsRunIsAskedFor) {
  BookDriver driver;
  driver.begin({kWorker0});
  EXPECT_THAT(driver.words(), ElementsAre("allocated worker:0", "create worker:0#1"));
  driver.created(kWorker0, "u1");
  driver.place(kWorker0);
  EXPECT_THAT(driver.words(), IsEmpty());
  driver.start(kWorker0);
  EXPECT_THAT(driver.words(), ElementsAre("follow worker:0 u1", "started worker:0#1 on n1"));
  EXPECT_EQ(driver.book().waiting_for(driver.now()), "");
}

TEST(PodBook, NothingIsMadeBeforeObjectsAndListAreThere) {
  BookDriver driver;
  driver.book().start(kWorker0, 1, driver.now());
  driver.run(kWorker0, 1);
  EXPECT_THAT(driver.words(), ElementsAre("allocated worker:0"));
  driver.book().on_ready(driver.now());
  EXPECT_THAT(driver.words(), IsEmpty());
  EXPECT_EQ(driver.book().waiting_for(driver.now()),
            "worker:0: the job's objects are being created");
  driver.book().on_list({}, driver.now());
  EXPECT_THAT(driver.words(), ElementsAre("create worker:0#1"));
}

TEST(PodBook, AFailedRunIsToldAfterItsLogAndItsPodIsUsedAgainWhenItIsGone) {
  BookDriver driver;
  run_worker(driver);
  driver.exit(kWorker0, 3);
  EXPECT_THAT(driver.words(), ElementsAre("rest worker:0"));
  driver.log_ended(kWorker0);
  EXPECT_THAT(driver.words(),
              ElementsAre("run ended worker:0#1: exited with status 3", "delete worker:0 u1 0s"));
  driver.run(kWorker0, 2);
  EXPECT_THAT(driver.words(), IsEmpty());
  driver.gone(kWorker0);
  EXPECT_THAT(driver.words(), ElementsAre("create worker:0#2"));
  driver.created(kWorker0, "u2", 2);
  driver.start(kWorker0);
  EXPECT_THAT(driver.words(), ElementsAre("follow worker:0 u2", "started worker:0#2 on n1"));
}

TEST(PodBook, ARunThatIsOverWhenItIsSeenWasStartedToo) {
  BookDriver driver;
  driver.begin({kWorker0});
  driver.created(kWorker0, "u1");
  (void)driver.words();
  driver.pod(kWorker0).task.has_run = true;
  driver.pod(kWorker0).node = "n1";
  driver.exit(kWorker0, 0);
  EXPECT_THAT(driver.words(),
              ElementsAre("follow worker:0 u1", "started worker:0#1 on n1", "rest worker:0"));
  driver.log_ended(kWorker0);
  EXPECT_THAT(driver.words(),
              ElementsAre("run ended worker:0#1: exited with status 0", "delete worker:0 u1 0s"));
}

TEST(PodBook, TheEndOfALogIsNotWaitedForForEver) {
  BookDriver driver;
  run_worker(driver);
  driver.exit(kWorker0, 1);
  (void)driver.words();
  driver.pass(seconds(9));
  driver.book().on_line(kWorker0, "u1", std::nullopt, driver.now());
  driver.pass(seconds(9));
  EXPECT_THAT(driver.words(), IsEmpty());
  driver.pass(seconds(2));
  EXPECT_THAT(driver.words(),
              ElementsAre("drop worker:0", HasSubstr("warn: the log of worker:0"),
                          "run ended worker:0#1: exited with status 1", "delete worker:0 u1 0s"));
}

TEST(PodBook, ALogThatBreaksOffIsReadAgain) {
  BookDriver driver;
  run_worker(driver);
  driver.log_ended(kWorker0, base::unavailable("connection reset"));
  EXPECT_THAT(driver.words(), IsEmpty());
  driver.pass(seconds(1));
  EXPECT_THAT(driver.words(), ElementsAre("follow worker:0 u1"));
  driver.exit(kWorker0, 0);
  driver.log_ended(kWorker0, base::unavailable("connection reset"));
  EXPECT_THAT(driver.words(), ElementsAre("rest worker:0"));
  driver.pass(seconds(1));
  EXPECT_THAT(driver.words(), ElementsAre("rest worker:0"));
  driver.log_ended(kWorker0);
  EXPECT_THAT(driver.words(), Contains("run ended worker:0#1: exited with status 0"));
}

TEST(PodBook, OutputsAreFetchedBeforeTheEndIsTold) {
  PodBook::Options options = BookDriver::options();
  options.with_outputs = {kWorker0};
  BookDriver driver(options);
  run_worker(driver);
  driver.exit(kWorker0, 0);
  driver.pod(kWorker0).phase = "Running";  // the container that keeps them
  EXPECT_THAT(driver.words(), ElementsAre("rest worker:0", "fetch worker:0"));
  driver.log_ended(kWorker0);
  EXPECT_THAT(driver.words(), IsEmpty());
  EXPECT_EQ(driver.book().waiting_for(driver.now()), "the outputs of worker:0 to be fetched");
  driver.book().on_outputs(kWorker0, "u1", {}, driver.now());
  EXPECT_THAT(driver.words(),
              ElementsAre("run ended worker:0#1: exited with status 0", "delete worker:0 u1 0s"));
}

TEST(PodBook, OutputsThatDoNotComeAreAWarning) {
  PodBook::Options options = BookDriver::options();
  options.with_outputs = {kWorker0};
  for (const bool is_stopped : {false, true}) {
    BookDriver driver(options);
    run_worker(driver);
    driver.exit(kWorker0, 0);
    driver.log_ended(kWorker0);
    if (is_stopped) driver.stop(kWorker0, 5);
    (void)driver.words();
    driver.pass(is_stopped ? base::Duration(seconds(5)) : minutes(10));
    EXPECT_THAT(driver.words(),
                ElementsAre(HasSubstr("warn: the outputs of worker:0 could not be fetched"),
                            "run ended worker:0#1: exited with status 0", "delete worker:0 u1 0s"));
  }
}

TEST(PodBook, AnEvictionIsNobodysFaultAndTakesTheSlot) {
  BookDriver driver;
  run_worker(driver);
  driver.pod(kWorker0).reason = "Evicted";
  driver.pod(kWorker0).message = "The node was low on resource: memory.";
  driver.exit(kWorker0, 137);
  driver.log_ended(kWorker0);
  EXPECT_THAT(driver.words(), ElementsAre("rest worker:0", "delete worker:0 u1 0s"));
  driver.gone(kWorker0);
  EXPECT_THAT(driver.words(),
              ElementsAre("ended worker:0: was evicted on n1: \"The node was low on "
                          "resource: memory.\""));
  driver.book().start(kWorker0, 2, driver.now());
  driver.run(kWorker0, 2);
  EXPECT_THAT(driver.words(), ElementsAre("allocated worker:0", "create worker:0#2"));
}

TEST(PodBook, ADeletionByHandIsNobodysFault) {
  BookDriver driver;
  run_worker(driver);
  driver.pod(kWorker0).is_deleting = true;
  driver.pod(kWorker0).deletion_grace = seconds(30);
  driver.show(kWorker0);
  driver.exit(kWorker0, 143);
  driver.log_ended(kWorker0);
  driver.gone(kWorker0);
  // Not before it is known that all the others are not being deleted, too.
  EXPECT_THAT(driver.words(), Not(Contains(HasSubstr("ended"))));
  driver.book().on_owner_there(driver.now());
  driver.pass(seconds(1));
  driver.book().on_owner_there(driver.now());
  const auto words = driver.words();
  EXPECT_THAT(words,
              Contains("ended worker:0: lost its container on n1: somebody deleted its pod"));
  EXPECT_THAT(words, Not(Contains(HasSubstr("run ended"))));
}

TEST(PodBook, APodWhoseNodeIsLostIsDeletedByForce) {
  BookDriver driver;
  run_worker(driver);
  driver.pod(kWorker0).is_deleting = true;
  driver.pod(kWorker0).deletion_grace = seconds(30);
  driver.pod(kWorker0).disruption = "DeletionByTaintManager";
  driver.show(kWorker0);
  driver.pass(seconds(89));
  EXPECT_THAT(driver.words(), IsEmpty());
  driver.pass(seconds(12));
  EXPECT_THAT(driver.words(),
              ElementsAre("delete worker:0 u1 0s", HasSubstr("warn: the pod j-worker-0 did not"),
                          "drop worker:0", HasSubstr("warn: the log"),
                          "ended worker:0: was lost with its node n1"));
  // The watch tells of it later.
  driver.gone(kWorker0);
  EXPECT_THAT(driver.words(), IsEmpty());
}

TEST(PodBook, StopEndsSlotAndRun) {
  BookDriver driver;
  run_worker(driver);
  driver.stop(kWorker0, 30, 7);
  EXPECT_THAT(driver.words(), IsEmpty());
  driver.stop(kWorker0, 30);
  EXPECT_THAT(driver.words(), ElementsAre("delete worker:0 u1 30s"));
  driver.stop(kWorker0, 0);
  EXPECT_THAT(driver.words(), ElementsAre("delete worker:0 u1 1s"));
  driver.pod(kWorker0).is_deleting = true;
  driver.exit(kWorker0, 143);
  driver.gone(kWorker0);
  EXPECT_THAT(driver.words(), IsEmpty());
  driver.log_ended(kWorker0);
  EXPECT_THAT(driver.words(),
              ElementsAre("run ended worker:0#1: was killed by signal 15 (termination request)",
                          "ended worker:0: was stopped"));
}

TEST(PodBook, ARunThatIsEndedKeepsItsSlot) {
  BookDriver driver;
  run_worker(driver);
  driver.end_run(kWorker0, 30);
  driver.log_ended(kWorker0, base::not_found("no pod"));
  EXPECT_THAT(driver.words(), ElementsAre("delete worker:0 u1 30s"));
  driver.gone(kWorker0);
  EXPECT_THAT(driver.words(), ElementsAre("run ended worker:0#1: was stopped"));
  driver.run(kWorker0, 2);
  EXPECT_THAT(driver.words(), ElementsAre("create worker:0#2"));
}

TEST(PodBook, AStopBeforeThereIsAPodMakesNone) {
  BookDriver driver;
  driver.book().start(kWorker0, 1, driver.now());
  driver.run(kWorker0, 1);
  driver.stop(kWorker0, 30);
  EXPECT_THAT(driver.words(), ElementsAre("allocated worker:0", "ended worker:0: was stopped"));
}

TEST(PodBook, AStopWhileItIsMadeDeletesItAfterwards) {
  BookDriver driver;
  driver.begin({kWorker0});
  driver.stop(kWorker0, 30);
  (void)driver.words();
  driver.created(kWorker0, "u1");
  EXPECT_THAT(driver.words(), ElementsAre("delete worker:0 u1 0s"));
  driver.gone(kWorker0);
  EXPECT_THAT(driver.words(), ElementsAre("ended worker:0: was stopped"));
}

TEST(PodBook, AnAnswerThatIsLostIsLookedAfter) {
  BookDriver driver;
  driver.begin({kWorker0});
  driver.refuse(kWorker0, base::Code::kUnavailable, "connection reset");
  driver.stop(kWorker0, 30);
  (void)driver.words();
  driver.pass(milliseconds(500));
  EXPECT_THAT(driver.words(), ElementsAre("look worker:0"));
  driver.book().on_looked_for(kWorker0, driver.make(kWorker0, "u1"), driver.now());
  EXPECT_THAT(driver.words(), ElementsAre("delete worker:0 u1 0s"));
  driver.book().on_deleted(kWorker0, "u1", base::not_found("gone"), driver.now());
  EXPECT_THAT(driver.words(), ElementsAre("ended worker:0: was stopped"));
}

TEST(PodBook, ANameThatIsTaken) {
  BookDriver driver;
  driver.begin({kWorker0});
  driver.refuse(kWorker0, base::Code::kAlreadyExists, "pods \"j-worker-0\" already exists");
  EXPECT_THAT(driver.words(), Contains("look worker:0"));
  PodFacts foreign = driver.make(kWorker0, "x");
  foreign.job = "other";
  driver.book().on_looked_for(kWorker0, foreign, driver.now());
  EXPECT_THAT(driver.words(), ElementsAre("gone (cluster_gone): the pod j-worker-0 does not belong "
                                          "to this job: its name is taken"));
}

TEST(PodBook, APodOfAnEarlierAttemptMakesRoom) {
  BookDriver driver;
  driver.begin({kWorker0});
  driver.refuse(kWorker0, base::Code::kAlreadyExists, "exists");
  (void)driver.words();
  driver.book().on_looked_for(kWorker0, driver.make(kWorker0, "old", 9), driver.now());
  EXPECT_THAT(driver.words(), ElementsAre("delete worker:0 old 0s"));
  driver.gone(kWorker0);
  EXPECT_THAT(driver.words(), ElementsAre("create worker:0#1"));
}

TEST(PodBook, QuotaIsWaitedFor) {
  BookDriver driver;
  driver.begin({kWorker0});
  driver.refuse(kWorker0, base::Code::kResourceExhausted, "exceeded quota: small");
  (void)driver.words();
  EXPECT_EQ(driver.book().waiting_for(driver.now()), "worker:0: exceeded quota: small");
  driver.pass(seconds(1));
  EXPECT_THAT(driver.words(), ElementsAre("create worker:0#1"));
  driver.refuse(kWorker0, base::Code::kResourceExhausted, "exceeded quota: small");
  driver.pass(minutes(10));
  EXPECT_THAT(
      driver.words(),
      ElementsAre(
          "create worker:0#1",
          "gone (allocation_timeout): no node for all pods within 10 min (timeouts.allocation): "
          "worker:0: exceeded quota: small"));
}

TEST(PodBook, ARefusalIsFinal) {
  BookDriver driver;
  driver.begin({kWorker0});
  driver.refuse(kWorker0, base::Code::kInvalidArgument, "spec.containers: Required value");
  EXPECT_THAT(driver.words(), Contains("gone (api_server): the pod j-worker-0 cannot be created: "
                                       "spec.containers: Required value"));
  driver.stop(kWorker0, 0);
  EXPECT_THAT(driver.words(), ElementsAre("ended worker:0: was stopped"));
}

TEST(PodBook, AnImageThatCannotBePulled) {
  BookDriver driver;
  driver.begin({kWorker0});
  driver.created(kWorker0, "u1");
  PodFacts& pod = driver.pod(kWorker0);
  pod.node = "n1";
  pod.task.state = ContainerFacts::State::kWaiting;
  pod.task.image = "tf:9";
  pod.task.reason = "ErrImagePull";
  pod.task.message = "not found";
  driver.show(kWorker0);
  EXPECT_EQ(driver.book().waiting_for(driver.now()),
            "worker:0: its image tf:9 cannot be pulled (ErrImagePull): \"not found\"");
  (void)driver.words();
  driver.pass(minutes(2));
  EXPECT_THAT(driver.words(),
              Contains("run ended worker:0#1: could not be started: its image tf:9 cannot be "
                       "pulled (ErrImagePull): \"not found\""));
  EXPECT_THAT(driver.words(), IsEmpty());
}

TEST(PodBook, AnImageThatIsNoneIsToldAtOnce) {
  BookDriver driver;
  driver.begin({kWorker0});
  driver.created(kWorker0, "u1");
  driver.pod(kWorker0).node = "n1";
  driver.pod(kWorker0).task.state = ContainerFacts::State::kWaiting;
  driver.pod(kWorker0).task.reason = "InvalidImageName";
  driver.show(kWorker0);
  EXPECT_THAT(driver.words(), Contains(HasSubstr("run ended worker:0#1: could not be started")));
}

TEST(PodBook, WhatOthersNeverSeeIsAskedOfTheEvents) {
  BookDriver driver;
  driver.begin({kWorker0});
  driver.created(kWorker0, "u1");
  driver.place(kWorker0);
  (void)driver.words();
  driver.pass(seconds(2));
  EXPECT_THAT(driver.words(), ElementsAre("events worker:0"));
  driver.book().on_events(kWorker0, "u1", "MountVolume.SetUp failed");
  EXPECT_EQ(driver.book().waiting_for(driver.now()),
            "worker:0: it is being started on n1: \"MountVolume.SetUp failed\"");
  driver.pass(seconds(9));
  EXPECT_THAT(driver.words(), IsEmpty());
  driver.pass(seconds(1));
  EXPECT_THAT(driver.words(), ElementsAre("events worker:0"));
}

TEST(PodBook, PodsOfAnEarlierClient) {
  BookDriver driver;
  driver.book().adopt(kWorker0, 1, driver.now());
  driver.book().adopt(kWorker1, 1, driver.now());
  driver.book().release_others(driver.now());
  PodFacts& pod = driver.make(kWorker0, "u1", 3);
  pod.node = "n1";
  pod.task.has_run = true;
  pod.task.state = ContainerFacts::State::kRunning;
  driver.book().on_list({pod, driver.make(kBoard, "b1")}, driver.now());
  EXPECT_THAT(driver.words(),
              testing::UnorderedElementsAre("ended worker:1: lost its container: its pod is gone",
                                            "delete tensorboard:0 b1 0s", "follow worker:0 u1",
                                            "started worker:0#3 on n1"));
  driver.exit(kWorker0, 0);
  driver.log_ended(kWorker0);
  EXPECT_THAT(driver.words(), Contains("run ended worker:0#3: exited with status 0"));
}

TEST(PodBook, AListWithoutItIsOlderThanItOrItIsGone) {
  BookDriver driver;
  driver.begin({kWorker0});
  driver.created(kWorker0, "u1");
  driver.book().on_list({}, driver.now());
  EXPECT_THAT(driver.words(), Contains("look worker:0"));
  driver.show(kWorker0);
  driver.book().on_looked_for(kWorker0, std::optional<PodFacts>(), driver.now());
  EXPECT_THAT(driver.words(), IsEmpty());
  driver.book().on_list({}, driver.now());
  EXPECT_THAT(driver.words(), ElementsAre("look at owner"));
  driver.book().on_owner_there(driver.now());
  EXPECT_THAT(driver.words(),
              ElementsAre("ended worker:0: lost its container: somebody deleted its pod"));
}

TEST(PodBook, ASilentServerIsToldAndNothingIsTakenForGoneMeanwhile) {
  BookDriver driver;
  run_worker(driver);
  driver.stop(kWorker0, 10);
  (void)driver.words();
  driver.book().on_trouble(base::unavailable("connection refused"), false, driver.now());
  driver.pass(seconds(4));
  EXPECT_EQ(driver.book().waiting_for(driver.now()), "");
  EXPECT_THAT(driver.words(), IsEmpty());
  driver.pass(seconds(96));
  EXPECT_EQ(driver.book().waiting_for(driver.now()),
            "the API server, which has not answered for 1 min 40 s: connection refused");
  EXPECT_EQ(driver.book().silence(driver.now()), driver.book().waiting_for(driver.now()));
  EXPECT_THAT(driver.words(),
              ElementsAre("warn: the API server has not answered for 5.0 s: connection refused; "
                          "what runs goes on"));
  driver.gone(kWorker0);
  driver.log_ended(kWorker0);
  EXPECT_THAT(driver.words(), ElementsAre("warn: the API server answers again, after 1 min 40 s",
                                          "ended worker:0: was stopped"));
  EXPECT_EQ(driver.book().silence(driver.now()), "");
  driver.book().on_trouble({base::Code::kPermissionDenied, "no right to watch pods"}, true,
                           driver.now());
  EXPECT_THAT(driver.words(), ElementsAre("gone (api_server): no right to watch pods"));
}

TEST(PodBook, ADeletionThatIsRefusedIsToldOnceAndAskedAgain) {
  BookDriver driver;
  run_worker(driver);
  driver.stop(kWorker0, 10);
  (void)driver.words();
  const base::Error refusal{base::Code::kPermissionDenied, "no right to delete pods"};
  driver.book().on_deleted(kWorker0, "u1", refusal, driver.now());
  EXPECT_THAT(driver.words(), ElementsAre("warn: the pod j-worker-0 cannot be deleted: no right "
                                          "to delete pods"));
  driver.pass(seconds(1));
  EXPECT_THAT(driver.words(), ElementsAre("delete worker:0 u1 10s"));
  driver.book().on_deleted(kWorker0, "u1", refusal, driver.now());
  EXPECT_THAT(driver.words(), IsEmpty());
}

// Its last line is nearer to its end than the second that its node tells.
TEST(PodBook, TheFirstToFailIsToldAsTheFirst) {
  BookDriver driver;
  run_worker(driver);
  const base::WallTime there{seconds(5000)};
  driver.book().on_line(kWorker0, "u1", there + milliseconds(300), driver.now());
  driver.pod(kWorker0).task.finished_at = there;
  driver.pass(seconds(1));
  driver.exit(kWorker0, 1);
  driver.log_ended(kWorker0);
  for (const PodAction& action : driver.book().take_actions()) {
    const auto* event = std::get_if<PodEvent>(&action);
    const auto* ended = event == nullptr ? nullptr : std::get_if<job::Exited>(event);
    if (ended == nullptr) continue;
    EXPECT_EQ(ended->ended_at, driver.now() - seconds(1));
  }
}

TEST(PodBook, WhoseCommandRunsCanBeToldSomething) {
  BookDriver driver;
  const auto running = [&driver] { return driver.book().running(); };
  driver.begin({kWorker0, kWorker1});
  driver.created(kWorker0, "u1");
  driver.place(kWorker0);
  EXPECT_THAT(running(), IsEmpty());
  driver.start(kWorker0);
  EXPECT_THAT(running(), ElementsAre(kWorker0));
  driver.created(kWorker1, "u2");
  driver.start(kWorker1);
  EXPECT_THAT(running(), ElementsAre(kWorker0, kWorker1));
  driver.exit(kWorker1, 0);
  EXPECT_THAT(running(), ElementsAre(kWorker0));
  driver.end_run(kWorker0, 5);
  EXPECT_THAT(running(), IsEmpty());
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
