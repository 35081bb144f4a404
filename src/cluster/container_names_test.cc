#include "cluster/container_names.h"

#include <gmock/gmock.h>

namespace gangrun::cluster {
namespace {

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
