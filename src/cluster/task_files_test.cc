#include "cluster/task_files.h"

#include <gmock/gmock.h>

namespace gangrun::cluster {
namespace {

TEST(ResultNames, ANameLeadsBackToItsTask) {
  for (const job::TaskId& task : {job::TaskId{"worker", 0}, job::TaskId{"big-worker", 17}}) {
    EXPECT_EQ(task_of_result(result_name(task)), task);
  }
}

TEST(ResultNames, WhatIsNotWholeIsNoResult) {
  for (const char* name : {"worker-0.part", ".worker-0", "worker", "worker-", "worker-x", ""}) {
    EXPECT_EQ(task_of_result(name), std::nullopt) << name;
  }
}

using testing::ElementsAre;

job::JobSpec spec_of(int processes, const std::string& image) {
  job::JobSpec spec;
  spec.image = image;
  spec.tasks.emplace_back();
  spec.tasks.back().type = "worker";
  spec.tasks.back().processes = processes;
  return spec;
}

TEST(ContainerNames, NameJobTaskAttemptAndProcess) {
  EXPECT_THAT(containers(spec_of(1, "tf:2"), "wine-20260131-120000-3fa1", {"worker", 3}, 2),
              ElementsAre("gangrun-wine-20260131-120000-3fa1-worker-3-2"));
  EXPECT_THAT(
      containers(spec_of(2, "tf:2"), "application_1_2", {"worker", 0}, 1),
      ElementsAre("gangrun-application_1_2-worker-0-1-0", "gangrun-application_1_2-worker-0-1-1"));
}

TEST(ContainerNames, AreNoneWithoutAnImage) {
  EXPECT_THAT(containers(spec_of(1, ""), "j", {"worker", 0}, 1), testing::IsEmpty());
  EXPECT_THAT(containers(spec_of(1, "tf:2"), "j", {"ps", 0}, 1), testing::IsEmpty());
  job::JobSpec spec = spec_of(1, "tf:2");
  spec.tasks.front().image = "";
  EXPECT_THAT(containers(spec, "j", {"worker", 0}, 1), testing::IsEmpty());
}

}  // namespace
}  // namespace gangrun::cluster
