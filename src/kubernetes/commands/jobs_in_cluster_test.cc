#include "kubernetes/commands/jobs_in_cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "kubernetes/commands/test_namespace_internal.h"

namespace gangrun::kubernetes::commands {
namespace {

using base::Code;
using base::Result;
using testing::ElementsAre;
using testing::HasSubstr;

// The jobs of this machine's own folder: none, and one that is found by any name.
class OwnJobs final : public cluster::Site {
 public:
  Result<std::vector<cluster::ListedJob>> list() override {
    return std::vector<cluster::ListedJob>();
  }
  Result<std::unique_ptr<cluster::Job>> find(std::string_view) override {
    return base::not_found("not here");
  }
};

struct JobsInClusterTest : testing::Test {
  std::vector<std::string> ids(const Result<std::vector<cluster::ListedJob>>& jobs) {
    std::vector<std::string> ids;
    EXPECT_TRUE(jobs.ok()) << jobs.error().message;
    for (const cluster::ListedJob& job : *jobs) ids.push_back(job.status.id);
    return ids;
  }
  // A job in this machine's own folder.
  void make_local(const std::string& id) const {
    std::filesystem::create_directories(lab.folder / ("jobs/" + id));
  }

  TestNamespace lab;
};

TEST_F(JobsInClusterTest, AreListedFromTheirHeadsAndKnownByTheirIdsThen) {
  lab.put(running_head());
  records::Head later = running_head("tea-20260201-120000-3fa1");
  later.summary.submitted = "2026-02-01T12:00:00.000Z";
  lab.put(later);
  lab.heads["odd-head"] = {
      {"metadata", {{"name", "odd-head"}, {"labels", {{"gangrun/job", "odd"}}}}}};
  JobsInCluster site(lab.here());
  const auto jobs = site.list();
  EXPECT_THAT(ids(jobs), ElementsAre("tea-20260201-120000-3fa1", kWine, "odd"));
  EXPECT_EQ(jobs->at(1).status.state, job::JobState::kRunning);
  EXPECT_THAT(jobs->at(2).unreadable, HasSubstr("is not the head of a job"));
  const auto found = site.find("tea");
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ((*found)->id(), "tea-20260201-120000-3fa1");
  // One that is gone is forgotten, but for what was submitted from here.
  lab.remember(lab.record());
  lab.heads.clear();
  EXPECT_THAT(ids(site.list()), ElementsAre());
  EXPECT_FALSE(lab.remembered("tea-20260201-120000-3fa1").has_value());
  EXPECT_TRUE(lab.remembered().has_value());
}

TEST_F(JobsInClusterTest, ANewerHeadIsNamed) {
  lab.put(running_head());
  base::Json& map = lab.heads.begin()->second;
  map["data"]["head"] = R"({"version": 99, "job": "wine"})";
  const auto jobs = JobsInCluster(lab.here()).list();
  ASSERT_TRUE(jobs.ok()) << jobs.error().message;
  EXPECT_EQ(jobs->at(0).status.id, kWine);
  EXPECT_THAT(jobs->at(0).unreadable, HasSubstr("a newer gangrun"));
}

TEST_F(JobsInClusterTest, AnIdThatIsNoNameOfAFileIsTold) {
  lab.put(running_head());
  lab.heads.begin()->second["data"] = records::head_map({}, running_head("../tea")).at("data");
  const auto jobs = JobsInCluster(lab.here()).list();
  ASSERT_TRUE(jobs.ok()) << jobs.error().message;
  EXPECT_THAT(jobs->at(0).unreadable, HasSubstr("'../tea' is no id of a job"));
}

TEST_F(JobsInClusterTest, AnotherJobWithItsIdDoesNotTakeTheRecordOfOneFromHere) {
  ClusterRecord own = lab.record();
  own.name_space = "elsewhere";
  lab.remember(own);
  lab.put(running_head());
  const auto found = JobsInCluster(lab.here()).find_job(base::format("lab/{}", kWine));
  EXPECT_EQ(found.error().code, Code::kFailedPrecondition);
  EXPECT_EQ(lab.remembered()->name_space, "elsewhere");
  EXPECT_FALSE(lab.remembered()->secret.empty());
}

TEST_F(JobsInClusterTest, OneIsFoundByNamespaceAndId) {
  lab.put(ended_head(succeeded()));
  EXPECT_TRUE(is_in_cluster(lab.folder.path(), base::format("lab/{}", kWine)));
  EXPECT_FALSE(is_in_cluster(lab.folder.path(), kWine));
  EXPECT_FALSE(is_in_cluster(lab.folder.path(), "examples/job.yaml"));
  JobsInCluster site(lab.here());
  const auto found = site.find_job(base::format("lab/{}", kWine));
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ((*found)->id(), kWine);
  EXPECT_TRUE(is_in_cluster(lab.folder.path(), kWine));
  EXPECT_EQ(lab.remembered()->owner_uid, base::format("u-{}", kWine));
  EXPECT_EQ(site.find_job("lab/tea").error().code, Code::kNotFound);
  EXPECT_THAT(site.find_job("tea").error().message, HasSubstr("gangrun ps --on kubernetes"));
}

TEST_F(JobsInClusterTest, AJobHereIsMeantBeforeTheBeginningOfOneThere) {
  lab.remember(lab.record());
  EXPECT_TRUE(is_in_cluster(lab.folder.path(), "wine"));
  make_local("wine-20260301-120000-3fa1");
  EXPECT_FALSE(is_in_cluster(lab.folder.path(), "wine"));
  EXPECT_TRUE(is_in_cluster(lab.folder.path(), kWine));
  RecordedJobs jobs(lab.here(), std::make_unique<OwnJobs>());
  EXPECT_THAT(jobs.find("wine").error().message, HasSubstr(kWine));
}

TEST_F(JobsInClusterTest, LastIsNoBeginningOfAnId) {
  lab.remember(lab.record("last-try-20260131-120000-3fa1"));
  EXPECT_FALSE(is_in_cluster(lab.folder.path(), "last"));
  EXPECT_TRUE(is_in_cluster(lab.folder.path(), "last-try"));
}

TEST_F(JobsInClusterTest, WhatWasSubmittedFromHereIsAmongTheJobsOfThisMachine) {
  lab.put(ended_head(succeeded()));
  lab.remember(lab.record());
  ClusterRecord listed = lab.record("tea-20260201-120000-3fa1");
  listed.secret = {};
  lab.remember(listed);
  RecordedJobs jobs(lab.here(), std::make_unique<OwnJobs>());
  const auto list = jobs.list();
  EXPECT_THAT(ids(list), ElementsAre(kWine));
  EXPECT_EQ(list->at(0).status, succeeded());
}

}  // namespace
}  // namespace gangrun::kubernetes::commands
