#include "kubernetes/commands/pod_master_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubernetes/commands/test_namespace_internal.h"

namespace gangrun::kubernetes::commands {
namespace {

using base::Code;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

struct PodMasterJobTest : testing::Test {
  PodMasterJob job() { return {lab.here(), lab.record()}; }
  // How often this was requested.
  std::ptrdiff_t count(const std::string& request) const {
    return std::ranges::count(lab.asked, request);
  }

  TestNamespace lab;
  const std::string owner = base::format("{}/{}-owner", TestNamespace::kJobs, kWine);
};

TEST_F(PodMasterJobTest, ItsEndIsInTheHeadAndIsRememberedHere) {
  lab.put(ended_head(succeeded()));
  lab.remember(lab.record());
  auto first = job();
  const auto status = first.status();
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(*status, succeeded());
  EXPECT_TRUE(lab.remembered()->has_settled);
  // Also when the cluster has forgotten it.
  lab.heads.clear();
  const int before = lab.requests;
  auto later = job();
  EXPECT_EQ(*later.status(), succeeded());
  EXPECT_EQ(lab.requests, before);
}

TEST_F(PodMasterJobTest, BetweenTwoMastersItsTasksAreThereAndItSaysWhatItWaitsFor) {
  lab.put(running_head());
  lab.remember(lab.record());
  auto one = job();
  const auto status = one.status();
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(status->state, job::JobState::kRunning);
  EXPECT_THAT(status->tasks, SizeIs(2));
  EXPECT_THAT(status->waiting_for, HasSubstr("a master that answers"));
  EXPECT_THAT(status->waiting_for, HasSubstr("it has no pod"));
  EXPECT_FALSE(lab.remembered()->has_settled);
}

TEST_F(PodMasterJobTest, WhyTheNextMasterCannotLeadIsTold) {
  records::Head head = running_head();
  head.refusal = "it may not list events";
  lab.put(head);
  lab.remember(lab.record());
  auto one = job();
  const auto status = one.status();
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_THAT(status->waiting_for, HasSubstr("a master that answers (it may not list events; "));
}

TEST_F(PodMasterJobTest, IsLostWhereTheClusterMakesNoFurtherMaster) {
  lab.put(running_head());
  lab.owners.begin()->second["status"] = {
      {"conditions", {{{"type", "Failed"}, {"status", "True"}}}}};
  auto one = job();
  const auto status = one.status();
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(status->state, job::JobState::kLost);
  EXPECT_EQ(status->cause->why.reason, job::Reason::kMasterLost);
}

TEST_F(PodMasterJobTest, IsLostWithTheReasonOfAMasterThatEndedForGood) {
  records::Head head = running_head();
  head.address.reset();
  head.refusal = "the journal is not whole";
  head.refusal_code = "data_loss";
  lab.put(head);
  lab.owners.begin()->second["status"] = {
      {"conditions", {{{"type", "Complete"}, {"status", "True"}}}}};
  auto one = job();
  const auto status = one.status();
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(status->state, job::JobState::kLost);
  EXPECT_EQ(status->cause->why.detail,
            "the cluster makes no further master for it: the journal is not whole");
}

TEST_F(PodMasterJobTest, WhatALostOneHasOnAVolumeIsNamed) {
  records::Head head = running_head();
  head.folder = 2;
  lab.put(head);
  lab.owners.begin()->second["status"] = {
      {"conditions", {{{"type", "Failed"}, {"status", "True"}}}}};
  ClusterRecord record = lab.record();
  pods::edit_kubernetes(record.spec).journal = {.claim = "models", .path = "runs"};
  PodMasterJob one(lab.here(), record);
  const auto status = one.status();
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(status->state, job::JobState::kLost);
  EXPECT_THAT(status->notes,
              ElementsAre(HasSubstr(base::format("in the claim models, in runs/{}", kWine))));
}

TEST_F(PodMasterJobTest, WhatIsGoneIsAsItWasSeenLast) {
  ClusterRecord record = lab.record();
  record.last_seen = succeeded();
  record.last_seen->state = job::JobState::kRunning;
  record.stopped_by = "gangrun kill by alice";
  lab.remember(record);
  auto one = job();
  const auto status = one.status();
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(status->state, job::JobState::kKilled);
  EXPECT_EQ(status->cause->why.detail, "gangrun kill by alice");
  // A list has left a record of it, and knows nothing.
  record = lab.record("wine-2");
  record.secret = {};
  lab.remember(record);
  PodMasterJob other(lab.here(), record);
  EXPECT_EQ(other.status().error().code, Code::kNotFound);
  EXPECT_FALSE(lab.remembered("wine-2").has_value());
}

TEST_F(PodMasterJobTest, AStopThatNoMasterTakesIsWishedForAndThenAllGoes) {
  lab.put(running_head());
  lab.remember(lab.record());
  std::optional<records::StopWish> wish;
  lab.on_request = [&](TestTalk& talk) {
    if (talk.method == "DELETE") wish = lab.head(kWine).stop;
    lab.serve(talk);
  };
  auto one = job();
  const auto stopped = one.stop(false, "gangrun kill by alice");
  ASSERT_TRUE(stopped.ok()) << stopped.error().message;
  EXPECT_EQ(wish, (records::StopWish{.by = "gangrun kill by alice"}));
  EXPECT_EQ(count("DELETE " + owner), 1);
  EXPECT_EQ(lab.remembered()->stopped_by, "gangrun kill by alice");
  EXPECT_EQ(one.status()->state, job::JobState::kKilled);
}

TEST_F(PodMasterJobTest, AStopThatTheNextMasterFoundInTheHeadIsDone) {
  lab.put(running_head());
  lab.remember(lab.record());
  lab.on_request = [&](TestTalk& talk) {
    const bool is_wish = talk.method == "PATCH";
    lab.serve(talk);
    if (is_wish) lab.put(ended_head(succeeded()));
  };
  auto one = job();
  const auto stopped = one.stop(false, "gangrun kill by alice");
  EXPECT_TRUE(stopped.ok()) << stopped.error().message;
  EXPECT_EQ(count("DELETE " + owner), 0);
}

TEST_F(PodMasterJobTest, OneThatNeverHadAMasterEndsAtOnce) {
  records::Head head = running_head();
  head.master = 0;
  head.address.reset();
  lab.put(head);
  lab.remember(lab.record());
  auto one = job();
  EXPECT_TRUE(one.stop(false, "alice").ok());
  EXPECT_EQ(count("DELETE " + owner), 1);
  EXPECT_THAT(lab.asked, Not(Contains(HasSubstr("PATCH"))));
}

TEST_F(PodMasterJobTest, WhatHasEndedIsNotStoppedAndWhatHasNotIsNotRemoved) {
  lab.put(ended_head(succeeded()));
  auto ended = job();
  EXPECT_EQ(ended.stop(true, "alice").error().code, Code::kFailedPrecondition);
  EXPECT_TRUE(ended.remove().ok());
  EXPECT_EQ(count("DELETE " + owner), 1);
  lab.put(running_head());
  auto running = job();
  EXPECT_EQ(running.remove().error().message,
            base::format("{0} has not ended; gangrun kill {0} ends it", kWine));
  EXPECT_EQ(count("DELETE " + owner), 1);
}

TEST_F(PodMasterJobTest, WhoMayNotReadItsSecretSeesTheSummaryAlone) {
  lab.put(running_head());
  ClusterRecord record = lab.record();
  record.secret = {};
  PodMasterJob other(lab.here(), record);
  const auto status = other.status();
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(status->state, job::JobState::kRunning);
  EXPECT_THAT(status->notes, ElementsAre(HasSubstr("may get secrets in the namespace lab")));
  EXPECT_EQ(other.logs({}).error().code, Code::kPermissionDenied);
}

}  // namespace
}  // namespace gangrun::kubernetes::commands
