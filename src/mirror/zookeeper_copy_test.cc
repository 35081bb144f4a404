#include "mirror/zookeeper_copy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/test_log.h"

namespace gangrun::mirror {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

job::JobSpec wine() {
  job::JobSpec job;
  job.name = "wine";
  job.success = "all";
  job.command.words = {"true"};
  job.zookeeper = job::ZooKeeper{.hosts = {"zk1:2181"}, .root = "", .readable_by_all = false};
  for (const char* type : {"worker", "evaluator"}) {
    job::TaskSpec task;
    task.type = type;
    task.instances = 1;
    task.policy = job::default_policy(type);
    job.tasks.push_back(task);
  }
  return job;
}

ZooKeeperCopyOptions of_user(std::string user) {
  ZooKeeperCopyOptions options;
  options.job_id = "application_1_0001";
  options.user = std::move(user);
  return options;
}

TEST(ZooKeeperCopy, ThePlaceIsTheUsersAndTheJobs) {
  const auto place = zookeeper_place_of(wine(), of_user("Alice"));
  ASSERT_TRUE(place.ok());
  EXPECT_EQ(*place,
            (ZooKeeperPlace{"/registry", "alice", "wine", "application_1_0001", false, false}));
}

TEST(ZooKeeperCopy, ANameThatCannotStandThereIsTold) {
  const auto place = zookeeper_place_of(wine(), of_user("J\xc3\xb6rg"));
  ASSERT_FALSE(place.ok());
  EXPECT_THAT(place.error().message, HasSubstr("ZooKeeper does not show the job's registry"));
}

TEST(ZooKeeperCopy, WithoutAPlaceTheJobGoesOnAndTheUserIsTold) {
  net::EventLoop loop;
  base::LogRecorder log;
  std::vector<std::string> told;
  const auto begin = [&](const job::JobSpec& job, std::string user) {
    return ZooKeeperCopy::begin(
        loop, log, job, of_user(std::move(user)), gang::Gang(job, {}),
        [](const job::TaskId&) { return std::string(); },
        [&](std::string_view sentence) { told.emplace_back(sentence); });
  };
  EXPECT_EQ(begin(wine(), "J\xc3\xb6rg"), nullptr);
  EXPECT_THAT(told, ElementsAre(HasSubstr("printable ASCII")));
  job::JobSpec not_asked = wine();
  not_asked.zookeeper.reset();
  EXPECT_EQ(begin(not_asked, "alice"), nullptr);
  EXPECT_EQ(told.size(), 1U);
}

TEST(ZooKeeperCopy, AnObserverIsInNoOthersClusterSpec) {
  const job::ClusterSpec spec{.generation = 1,
                              .tasks = {{"worker", {{"h1", 1}}}, {"evaluator", {{"h2", 2}}}}};
  EXPECT_THAT(without_observers(spec, wine()).tasks,
              ElementsAre(testing::Pair("worker", ElementsAre(job::Address{"h1", 1}))));
}

TEST(ZooKeeperCopy, ATaskIsShownFromItsReportToItsEnd) {
  const base::Instant now{};
  gang::Gang gang(wine(), {});
  const auto container_of = [](const job::TaskId&) { return "container_1_0001_01_000002"; };
  const job::TaskId worker{"worker", 0};
  (void)gang.step(gang::Begin{}, now);
  EXPECT_THAT(tasks_that_have_reported(gang, container_of), IsEmpty());
  (void)gang.step(gang::Allocated{worker, 1, "h1"}, now);
  EXPECT_THAT(tasks_that_have_reported(gang, container_of), IsEmpty());
  (void)gang.step(gang::Reported{worker, 1, {"h1", 4000}}, now);
  EXPECT_THAT(tasks_that_have_reported(gang, container_of),
              ElementsAre(ZooKeeperTask{worker, {"h1", 4000}, "container_1_0001_01_000002"}));
  (void)gang.step(
      job::AgentEnded{worker, 1, {.reason = job::Reason::kAgentEnded, .detail = "ended"}, now},
      now);
  EXPECT_THAT(tasks_that_have_reported(gang, container_of), IsEmpty());
}

}  // namespace
}  // namespace gangrun::mirror
