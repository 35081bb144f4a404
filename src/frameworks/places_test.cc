#include "frameworks/places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string_view>

#include "frameworks/jobs_for_tests.h"

namespace gangrun::frameworks {
namespace {

using test::cluster_of;
using test::job_of;
using test::task_of;
using ::testing::ElementsAre;

std::vector<std::string> types_of(const std::vector<Group>& groups) {
  std::vector<std::string> types;
  for (const Group& group : groups) types.push_back(group.spec->type);
  return types;
}

TEST(Groups, ChiefAndMasterComeFirstThenTheOrderOfTheSpec) {
  const auto job = job_of({task_of("worker", 1), task_of("actor", 1), task_of("master", 1),
                           task_of("ps", 1), task_of("chief", 1)});
  const auto groups = groups_of(job, cluster_of(job));
  ASSERT_TRUE(groups.ok());
  EXPECT_THAT(types_of(*groups), ElementsAre("chief", "master", "worker", "actor", "ps"));
}

TEST(Groups, AreThoseOfTheClusterSpecWithItsSizes) {
  const auto job = job_of({task_of("worker", 4), task_of("ps", 1)});
  const job::ClusterSpec cluster{.generation = 2, .tasks = {{"worker", {{"a", 1}, {"b", 2}}}}};
  const auto groups = groups_of(job, cluster);
  ASSERT_TRUE(groups.ok());
  ASSERT_THAT(types_of(*groups), ElementsAre("worker"));
  EXPECT_EQ(groups->front().addresses->size(), 2U);
}

TEST(Groups, ATypeThatTheJobDoesNotHaveIsAnError) {
  const auto job = job_of({task_of("worker", 1)});
  const job::ClusterSpec cluster{.generation = 1, .tasks = {{"wroker", {{"a", 1}}}}};
  const auto groups = groups_of(job, cluster);
  ASSERT_FALSE(groups.ok());
  EXPECT_EQ(groups.error().message, "the cluster spec has the task type 'wroker', the job has not");
}

TEST(Visible, ByPolicy) {
  auto job = job_of({task_of("worker", 1), task_of("ps", 1), task_of("evaluator", 1),
                     task_of("tensorboard", 1), task_of("critic", 1)});
  job.tasks[4].policy = job::Policy::kObserver;
  const auto cluster = cluster_of(job);
  const auto groups = *groups_of(job, cluster);
  EXPECT_THAT(types_of(visible_to({"worker", 0}, groups)), ElementsAre("worker", "ps"));
  EXPECT_THAT(types_of(visible_to({"ps", 0}, groups)), ElementsAre("worker", "ps"));
  EXPECT_THAT(types_of(visible_to({"tensorboard", 0}, groups)), ElementsAre("worker", "ps"));
  EXPECT_THAT(types_of(visible_to({"evaluator", 0}, groups)),
              ElementsAre("worker", "ps", "evaluator"));
  EXPECT_THAT(types_of(visible_to({"critic", 0}, groups)), ElementsAre("worker", "ps", "critic"));
}

TEST(Visible, ObserversAloneSeeEachOther) {
  const auto job = job_of({task_of("evaluator", 2), task_of("tensorboard", 1)});
  const auto cluster = cluster_of(job);
  EXPECT_EQ(json_of(visible_to({"tensorboard", 0}, *groups_of(job, cluster))),
            R"({"evaluator":["h1:1000","h1:1001"]})");
}

struct RankCase {
  std::string_view task;
  int process;
  std::array<int, 8> numbers;
};

TEST(RanksOf, EveryTaskOfAMixedJob) {
  const auto job = job_of({task_of("worker", 2, 3), task_of("ps", 1), task_of("chief", 1, 2),
                           task_of("evaluator", 1), task_of("tensorboard", 1)});
  const auto cluster = cluster_of(job);
  const auto groups = *groups_of(job, cluster);
  // rank of world, local of, group of, role of
  const std::vector<RankCase> cases{
      {"chief:0", 0, {0, 8, 0, 2, 0, 3, 0, 2}},  {"chief:0", 1, {1, 8, 1, 2, 0, 3, 1, 2}},
      {"worker:0", 0, {2, 8, 0, 3, 1, 3, 0, 6}}, {"worker:0", 1, {3, 8, 1, 3, 1, 3, 1, 6}},
      {"worker:0", 2, {4, 8, 2, 3, 1, 3, 2, 6}}, {"worker:1", 0, {5, 8, 0, 3, 2, 3, 3, 6}},
      {"worker:1", 1, {6, 8, 1, 3, 2, 3, 4, 6}}, {"worker:1", 2, {7, 8, 2, 3, 2, 3, 5, 6}},
  };
  for (const auto& [task, process, n] : cases) {
    const Ranks expected{n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], {"h3", 3000}};
    EXPECT_EQ(ranks_of(*job::parse_task_id(task), process, groups), expected)
        << task << " process " << process;
  }
  for (const std::string_view task : {"ps:0", "evaluator:0", "tensorboard:0"}) {
    EXPECT_EQ(ranks_of(*job::parse_task_id(task), 0, groups), std::nullopt) << task;
  }
}

TEST(RanksOf, EachRankIsGivenOnce) {
  const auto job = job_of({task_of("b", 3, 2), task_of("a", 2, 5), task_of("chief", 1)});
  const auto cluster = cluster_of(job);
  const auto groups = *groups_of(job, cluster);
  std::set<int> seen;
  int processes = 0;
  for (const job::TaskId& task : job.task_ids()) {
    for (int p = 0; p < job.find(task.type)->processes; ++p, ++processes) {
      const auto ranks = ranks_of(task, p, groups);
      ASSERT_TRUE(ranks.has_value());
      EXPECT_EQ(ranks->world_size, 17);
      seen.insert(ranks->rank);
    }
  }
  EXPECT_EQ(processes, 17);
  EXPECT_EQ(seen.size(), 17U);
  EXPECT_EQ(*seen.begin(), 0);
  EXPECT_EQ(*seen.rbegin(), 16);
}

}  // namespace
}  // namespace gangrun::frameworks
