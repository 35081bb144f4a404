#include "kubernetes/pods/detached_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/format.h"
#include "kubernetes/pods/manifests_for_tests.h"
#include "kubernetes/pods/names.h"

namespace gangrun::kubernetes::pods {
namespace {

using base::Json;
using job::JobState;
using job::TaskState;
using testing::HasSubstr;
using testing::IsEmpty;

Manifests manifests_of(ManifestInput input) { return *Manifests::make(std::move(input)); }

// The task's pod as it is listed. `state` is that of its container.
Json pod(const Manifests& manifests, const job::TaskId& task, const std::string& phase,
         const Json& state) {
  const Json owner = {{"kind", "Job"}, {"name", owner_name(manifests.input())}, {"uid", "u-1"}};
  Json made = {
      {"metadata", {{"name", manifests.pod_name(task)}, {"ownerReferences", Json::array({owner})}}},
      {"spec", {{"nodeName", "n1"}}},
      {"status", {{"phase", phase}}}};
  if (!state.is_null()) {
    made["status"]["containerStatuses"] = Json::array({{{"name", "task"}, {"state", state}}});
  }
  return made;
}

Json running(const Manifests& manifests, const job::TaskId& task) {
  return pod(manifests, task, "Running", {{"running", Json::object()}});
}

// Ended in this second of a minute.
Json ended_pod(const Manifests& manifests, const job::TaskId& task, int status, int second) {
  return pod(
      manifests, task, status == 0 ? "Succeeded" : "Failed",
      {{"terminated",
        {{"exitCode", status}, {"finishedAt", base::format("2026-01-31T12:00:{:02}Z", second)}}}});
}

Json unscheduled(const Manifests& manifests, const job::TaskId& task) {
  Json made = pod(manifests, task, "Pending", nullptr);
  made["spec"].erase("nodeName");
  made["status"]["conditions"] = Json::array(
      {{{"type", "PodScheduled"}, {"status", "False"}, {"message", "0/2 nodes are available"}}});
  return made;
}

class DetachedStatusTest : public testing::Test {
 protected:
  job::JobStatus status(const std::vector<Json>& pods) const {
    return detached_status(manifests_, pods_by_task(manifests_, pods));
  }

  Manifests manifests_ = manifests_of(wine());
  const job::TaskId first_{"worker", 0};
  const job::TaskId second_{"worker", 1};

 private:
  static ManifestInput wine() { return test::wine_job(); }
};

// Anybody who may make pods may name one like a task's, with a job's labels.
TEST_F(DetachedStatusTest, APodWithoutTheJobsOwnerIsNoneOfItsTasks) {
  Json theirs = ended_pod(manifests_, first_, 0, 1);
  theirs["metadata"].erase("ownerReferences");
  EXPECT_TRUE(pods_by_task(manifests_, {theirs}).empty());
  EXPECT_EQ(pods_by_task(manifests_, {theirs, running(manifests_, second_)}).size(), 1U);
}

TEST_F(DetachedStatusTest, WaitsForWhatItsPodsWaitFor) {
  const job::JobStatus seen =
      status({running(manifests_, first_), unscheduled(manifests_, second_)});
  EXPECT_EQ(seen.state, JobState::kAllocating);
  EXPECT_EQ(seen.waiting_for, "worker:1: the scheduler finds no node: \"0/2 nodes are available\"");
  EXPECT_EQ(seen.tasks[0].state, TaskState::kRunning);
  EXPECT_EQ(seen.tasks[1].state, TaskState::kWaiting);
  EXPECT_EQ(seen.tasks[1].address, job::to_string(manifests_.address_of(second_)));
  const job::JobStatus placed =
      status({running(manifests_, first_), pod(manifests_, second_, "Pending", nullptr)});
  EXPECT_EQ(placed.state, JobState::kRollCall);
  EXPECT_EQ(placed.tasks[1].state, TaskState::kAllocated);
}

TEST_F(DetachedStatusTest, RunsUntilAllHaveEnded) {
  const job::JobStatus some =
      status({ended_pod(manifests_, first_, 0, 1), running(manifests_, second_)});
  EXPECT_EQ(some.state, JobState::kRunning);
  EXPECT_THAT(some.notes, IsEmpty());
  const job::JobStatus all =
      status({ended_pod(manifests_, first_, 0, 9), ended_pod(manifests_, second_, 0, 5)});
  EXPECT_EQ(all.state, JobState::kSucceeded);
  EXPECT_EQ(all.ended, "2026-01-31T12:00:09.000Z");
  EXPECT_TRUE(has_settled(all));
}

TEST_F(DetachedStatusTest, TheFirstFailureIsTheCause) {
  const job::JobStatus seen =
      status({ended_pod(manifests_, first_, 3, 7), ended_pod(manifests_, second_, 137, 4)});
  EXPECT_EQ(seen.state, JobState::kFailed);
  EXPECT_EQ(seen.cause->task, second_);
  EXPECT_EQ(seen.cause->host, "n1");
  EXPECT_EQ(to_words(*seen.cause), "worker:1 on n1 was killed by signal 9 (kill)");
  EXPECT_EQ(seen.ended, "2026-01-31T12:00:04.000Z");
}

TEST_F(DetachedStatusTest, WhatRunsOnAfterAFailureIsTold) {
  const job::JobStatus seen =
      status({ended_pod(manifests_, first_, 3, 7), running(manifests_, second_)});
  EXPECT_EQ(seen.state, JobState::kFailed);
  EXPECT_FALSE(has_settled(seen));
  ASSERT_EQ(seen.notes.size(), 1U);
  EXPECT_THAT(seen.notes[0], HasSubstr("worker:1; gangrun kill wine-20260131-120000-3fa1"));
}

TEST_F(DetachedStatusTest, APodThatIsGoneIsALossAndAllOfThemAreTheJobs) {
  const job::JobStatus one = status({running(manifests_, first_)});
  EXPECT_EQ(one.state, JobState::kFailed);
  EXPECT_EQ(one.tasks[1].state, TaskState::kLost);
  EXPECT_EQ(to_words(*one.cause), "worker:1 lost its container: its pod is gone");
  EXPECT_EQ(status({}).state, JobState::kLost);
}

TEST_F(DetachedStatusTest, WhatCanNeverStartHasFailed) {
  const Json never = pod(manifests_, second_, "Pending",
                         {{"waiting", {{"reason", "InvalidImageName"}, {"message", "no name"}}}});
  const job::JobStatus seen = status({running(manifests_, first_), never});
  EXPECT_EQ(seen.state, JobState::kFailed);
  EXPECT_THAT(to_words(*seen.cause), HasSubstr("could not be started"));
}

TEST_F(DetachedStatusTest, ServicesMayRunOnAfterSuccessOrFailAfterIt) {
  ManifestInput input = test::wine_job();
  input.spec.tasks.push_back(test::tasks_of("ps", 1));
  manifests_ = manifests_of(std::move(input));
  const job::TaskId ps{"ps", 0};
  std::vector<Json> pods = {ended_pod(manifests_, first_, 0, 5),
                            ended_pod(manifests_, second_, 0, 6), running(manifests_, ps)};
  EXPECT_EQ(status(pods).state, JobState::kSucceeded);
  EXPECT_EQ(status(pods).notes.size(), 1U);
  pods[2] = ended_pod(manifests_, ps, 1, 8);
  EXPECT_EQ(status(pods).state, JobState::kSucceeded);
  pods[2] = ended_pod(manifests_, ps, 1, 2);
  EXPECT_EQ(status(pods).state, JobState::kFailed);
}

TEST_F(DetachedStatusTest, OneTypeMayDecideTheSuccess) {
  ManifestInput input = test::wine_job();
  input.spec.tasks.push_back(test::tasks_of("chief", 1));
  input.spec.success = "chief";
  manifests_ = manifests_of(std::move(input));
  const Json chief = ended_pod(manifests_, {"chief", 0}, 0, 5);
  const std::vector<Json> pods = {running(manifests_, first_), running(manifests_, second_), chief};
  EXPECT_EQ(status(pods).state, JobState::kSucceeded);
}

TEST_F(DetachedStatusTest, AVerdictStaysWhateverBecomesOfThePods) {
  const job::JobStatus failed =
      status({ended_pod(manifests_, first_, 3, 7), running(manifests_, second_)});
  const auto later = pods_by_task(manifests_, {ended_pod(manifests_, second_, 4, 1)});
  const job::JobStatus ended_too = after_verdict(failed, manifests_, later);
  EXPECT_EQ(ended_too.cause, failed.cause);
  EXPECT_EQ(ended_too.tasks[1].state, TaskState::kFailed);
  EXPECT_THAT(ended_too.notes, IsEmpty());
  const job::JobStatus gone = after_verdict(failed, manifests_, {});
  EXPECT_EQ(gone.state, JobState::kFailed);
  EXPECT_EQ(gone.tasks[0].state, TaskState::kFailed);
  EXPECT_EQ(gone.tasks[1].state, TaskState::kStopped);
}

TEST_F(DetachedStatusTest, IsStoppingUntilNoPodIsLeft) {
  const std::vector<Json> pods = {running(manifests_, first_), running(manifests_, second_)};
  const job::JobStatus last = status(pods);
  const auto left = pods_by_task(manifests_, {ended_pod(manifests_, first_, 143, 3)});
  const job::JobStatus stopping = after_stop(last, "gangrun kill by me", manifests_, left);
  EXPECT_EQ(stopping.state, JobState::kStopping);
  EXPECT_FALSE(stopping.cause);
  const job::JobStatus killed = after_stop(stopping, "gangrun kill by me", manifests_, {});
  EXPECT_EQ(killed.state, JobState::kKilled);
  EXPECT_EQ(to_words(*killed.cause), "stopped by gangrun kill by me");
  EXPECT_TRUE(has_settled(killed));
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
