#include "yarn/submission_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "yarn/yarn_options.h"

namespace gangrun::yarn {
namespace {

using testing::HasSubstr;

ClusterFacts facts() {
  ClusterFacts facts;
  facts.user = "ana";
  facts.largest = {.memory_mib = 4096, .vcores = 4, .others = {{"yarn.io/gpu", 2}}};
  facts.resource_types = {{"memory-mb", "Mi"}, {"vcores", ""}, {"yarn.io/gpu", ""}};
  facts.labels = {"gpu", "fast"};
  facts.queue.name = "default";
  facts.queue.path = "root.default";
  facts.queue.labels = {"gpu"};
  facts.own_queues = {"default", "ml"};
  return facts;
}

job::JobSpec checked_spec() {
  job::JobSpec spec;
  job::TaskSpec worker;
  worker.type = "worker";
  worker.instances = 2;
  worker.resources.memory_mib = 1024;
  spec.tasks.push_back(worker);
  return spec;
}

std::string refusal(const ClusterFacts& facts, const job::JobSpec& spec) {
  const auto checked = check_against(facts, spec);
  return checked.ok() ? std::string() : checked.error().message;
}

TEST(SubmissionChecks, WhatFitsIsTaken) { EXPECT_EQ(refusal(facts(), checked_spec()), ""); }

TEST(SubmissionChecks, TooMuchIsToldWithBothNumbers) {
  job::JobSpec big = checked_spec();
  big.tasks[0].overrides[1].memory_mib = 5000;
  EXPECT_EQ(refusal(facts(), big),
            "worker:1: memory 5000 MiB is more than the cluster gives to one container; allowed: "
            "up to 4096 MiB");
  big = checked_spec();
  big.tasks[0].resources.vcores = 9;
  EXPECT_THAT(refusal(facts(), big), HasSubstr("worker:0: vcores 9"));
  big = checked_spec();
  big.tasks[0].resources.gpus = 3;
  EXPECT_THAT(refusal(facts(), big), HasSubstr("yarn.io/gpu 3"));
  big = checked_spec();
  edit_yarn(big).master.memory_mib = 9999;
  EXPECT_THAT(refusal(facts(), big), HasSubstr("yarn.master: memory 9999 MiB"));
}

TEST(SubmissionChecks, AResourceThatYarnWouldDropIsRefused) {
  job::JobSpec asking = checked_spec();
  asking.tasks[0].resources.others["fpga"] = 1;
  EXPECT_EQ(refusal(facts(), asking),
            "worker:0: resource fpga is not known to the cluster; allowed: memory-mb, vcores, "
            "yarn.io/gpu");
}

TEST(SubmissionChecks, Labels) {
  job::JobSpec labelled = checked_spec();
  labelled.tasks[0].label = "gpu";
  EXPECT_EQ(refusal(facts(), labelled), "");
  labelled.tasks[0].label = "fast";
  EXPECT_EQ(refusal(facts(), labelled),
            "worker: label fast is not open to queue default; allowed there: gpu");
  labelled.tasks[0].label = "none";
  EXPECT_EQ(refusal(facts(), labelled),
            "worker: label none is not known to the cluster; allowed: gpu, fast");
  labelled.tasks[0].label = "";
  EXPECT_EQ(refusal(facts(), labelled), "");
}

TEST(SubmissionChecks, AnOldReleaseIsToldWithWhatIsNeeded) {
  EXPECT_TRUE(check_release(std::nullopt).ok());
  EXPECT_TRUE(check_release(hadoop::parse_release("3.3.6")).ok());
  EXPECT_TRUE(check_release(hadoop::parse_release("2.10.2")).ok());
  const auto refused = check_release(hadoop::parse_release("2.7.3"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "the cluster runs Hadoop 2.7.3; gangrun needs 2.10 or newer");
}

TEST(SubmissionChecks, OnlyQueuesThatTakeJobsAreOffered) {
  using testing::ElementsAre;
  EXPECT_THAT(leaves_of({"root", "root.a", "root.a.b", "root.ab"}),
              ElementsAre("root.a.b", "root.ab"));
  EXPECT_THAT(leaves_of({"root", "default"}), ElementsAre("default"));
}

TEST(SubmissionChecks, Queues) {
  ClusterFacts of_others = facts();
  of_others.own_queues = {"ml"};
  EXPECT_EQ(refusal(of_others, checked_spec()),
            "yarn.queue: ana may not submit to default; allowed: ml");
  of_others.own_queues = {};
  EXPECT_EQ(refusal(of_others, checked_spec()),
            "yarn.queue: ana may not submit to default; allowed: none");
  ClusterFacts old = facts();
  old.queue.path = "";
  old.own_queues = {"root.default", "root.ml"};
  EXPECT_EQ(refusal(old, checked_spec()), "");
  old.own_queues = {"root.ml", "root.notdefault"};
  EXPECT_THAT(refusal(old, checked_spec()), HasSubstr("may not submit to default"));
  ClusterFacts stopped = facts();
  stopped.queue.is_running = false;
  EXPECT_THAT(refusal(stopped, checked_spec()), HasSubstr("stopped"));
  ClusterFacts parent = facts();
  hadoop::QueueInfo leaf;
  leaf.name = "leaf";
  parent.queue.children.push_back(leaf);
  EXPECT_THAT(refusal(parent, checked_spec()), HasSubstr("allowed: leaf"));
}

TEST(SubmissionChecks, OnePerNodeNeedsAClusterThatKnowsConstraints) {
  job::JobSpec apart = checked_spec();
  apart.tasks[0].one_per_node = true;
  EXPECT_THAT(refusal(facts(), apart), HasSubstr("placement-constraints.handler"));
  ClusterFacts able = facts();
  able.places_by_constraints = true;
  EXPECT_EQ(refusal(able, apart), "");
  able.release = hadoop::parse_release("3.1.4");
  EXPECT_EQ(refusal(able, apart), "");
  // It would take the setting, and drop the constraints.
  able.release = hadoop::parse_release("2.10.2");
  EXPECT_EQ(refusal(able, apart),
            "worker: one_per_node needs Hadoop 3.1 or newer; the cluster runs Hadoop 2.10.2");
}

TEST(SubmissionChecks, MountsThatYarnWouldDropAreRefused) {
  job::JobSpec mounting = checked_spec();
  mounting.mounts.push_back({.path = "/data", .read_only = true});
  ClusterFacts old = facts();
  old.release = hadoop::parse_release("2.10.2");
  EXPECT_EQ(refusal(old, mounting), "");
  old.runs_images = true;
  EXPECT_EQ(refusal(old, mounting),
            "mounts: in YARN's container runtime they need Hadoop 3.1 or newer; the cluster runs "
            "Hadoop 2.10.2");
  old.release = hadoop::parse_release("3.2.4");
  EXPECT_EQ(refusal(old, mounting), "");
}

}  // namespace
}  // namespace gangrun::yarn
