#include "kubernetes/commands/unled_jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/format.h"
#include "base/json.h"
#include "base/test_folder.h"
#include "client/test_job.h"
#include "job/described.h"

namespace gangrun::kubernetes::commands {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kTea = "tea-20260131-120000-3fa1";

struct TeaJob final : client::TestJob {
  [[nodiscard]] std::string id() const override { return kTea; }
};

// The jobs of this machine as their folders alone tell: nothing of these has begun.
class Folders final : public cluster::Site {
 public:
  base::Result<std::vector<cluster::ListedJob>> list() override {
    cluster::ListedJob job;
    job.status.id = kTea;
    job.status.state = job::JobState::kFailed;
    return std::vector<cluster::ListedJob>{job};
  }
  base::Result<std::unique_ptr<cluster::Job>> find(std::string_view) override {
    return std::unique_ptr<cluster::Job>(std::make_unique<TeaJob>());
  }
};

struct UnledJobsTest : testing::Test {
  UnledJobsTest() { std::filesystem::create_directories(home / base::format("jobs/{}", kTea)); }

  void write(const std::string& text) const {
    std::ofstream(home / base::format("jobs/{}/kubernetes.json", kTea)) << text;
  }
  // As earlier versions wrote it.
  void write_seen(job::JobState state, job::TaskState task_state) const {
    job::TaskStatus task;
    task.task = {"worker", 0};
    task.state = task_state;
    job::JobStatus seen;
    seen.id = kTea;
    seen.name = "tea";
    seen.state = state;
    seen.submitted = "2026-01-31T12:00:00.000Z";
    seen.elapsed_ms = 60000;
    seen.notes = {"gangrun kill tea ends what is left of the job"};
    seen.tasks = {task};
    const base::Json record = {{"namespace", "lab"},   {"kubeconfig", ""},
                               {"context", "c"},       {"server", "https://10.0.0.1:6443"},
                               {"lease_s", 604800},    {"stopped_by", ""},
                               {"has_settled", false}, {"last_seen", base::to_json(seen)}};
    write(base::dump_json_indented(record) + "\n");
  }

  base::TestFolder home;
  UnledJobs site{home.path(), std::make_unique<Folders>()};
};

TEST_F(UnledJobsTest, AreLostWhereTheirEndWasNotSeen) {
  write_seen(job::JobState::kRunning, job::TaskState::kRunning);
  const auto jobs = site.list();
  ASSERT_TRUE(jobs.ok()) << jobs.error().message;
  ASSERT_EQ(jobs->size(), 1U);
  EXPECT_EQ(jobs->front().unreadable, "");
  const job::JobStatus& status = jobs->front().status;
  EXPECT_EQ(status.state, job::JobState::kLost);
  EXPECT_EQ(status.tasks.at(0).state, job::TaskState::kLost);
  EXPECT_EQ(status.elapsed_ms, 60000);
  EXPECT_THAT(status.cause->why.detail, HasSubstr("an earlier version started it without agents"));
  ASSERT_EQ(status.notes.size(), 1U);
  EXPECT_THAT(status.notes.at(0),
              HasSubstr(base::format("kubectl -n lab delete job {}-owner", kTea)));
  const auto job = site.find("tea");
  ASSERT_TRUE(job.ok()) << job.error().message;
  EXPECT_EQ((*job)->id(), kTea);
  EXPECT_EQ((*job)->status().value(), status);
}

TEST_F(UnledJobsTest, HaveEndedAsWasSeen) {
  write_seen(job::JobState::kSucceeded, job::TaskState::kSucceeded);
  const auto jobs = site.list();
  ASSERT_TRUE(jobs.ok()) << jobs.error().message;
  EXPECT_EQ(jobs->at(0).status.state, job::JobState::kSucceeded);
  EXPECT_FALSE(jobs->at(0).status.cause.has_value());
}

// "has ended already" was wrong: its pods may run.
TEST_F(UnledJobsTest, AreEndedByNoCommandOfOurs) {
  write_seen(job::JobState::kRunning, job::TaskState::kRunning);
  const auto job = site.find("tea");
  ASSERT_TRUE(job.ok()) << job.error().message;
  const auto stopped = (*job)->stop(false, "gangrun kill by alice");
  EXPECT_EQ(stopped.error().code, base::Code::kFailedPrecondition);
  EXPECT_THAT(stopped.error().message, HasSubstr("kubectl -n lab delete job"));
  EXPECT_THAT((*job)->logs({}).error().message, HasSubstr("kubectl -n lab get pods"));
  EXPECT_THAT(*(*job)->results(), IsEmpty());
}

TEST_F(UnledJobsTest, OthersAreLeftAsTheyAre) {
  EXPECT_EQ(site.list()->at(0).status.state, job::JobState::kFailed);
  EXPECT_EQ((*site.find("tea"))->status().error().code, base::Code::kNotFound);
}

TEST_F(UnledJobsTest, ADamagedRecordIsNamedAndKeepsNoListBack) {
  for (const char* text : {"", "[]", "{}", R"({"namespace": 1})", R"({"namespace": "lab"})"}) {
    write(text);
    const auto jobs = site.list();
    ASSERT_TRUE(jobs.ok()) << text;
    EXPECT_THAT(jobs->at(0).unreadable, HasSubstr("kubernetes.json")) << text;
    EXPECT_EQ(site.find("tea").error().code, base::Code::kDataLoss) << text;
  }
}

}  // namespace
}  // namespace gangrun::kubernetes::commands
