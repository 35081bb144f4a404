#include "job/gpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job/described.h"

namespace gangrun::job {
namespace {

TEST(Gpus, AreReadAsTheyWereWritten) {
  const Gpus gpus{GpuMaker::kAmd,
                  {{"GPU-1", "GPU-1", "", "dri/renderD128"}, {"1", "gpu-3", "", ""}}};
  const auto read = base::from_json<Gpus>(base::to_json(gpus));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, gpus);
  EXPECT_EQ(names_of(*read), "GPU-1,1");
}

TEST(Gpus, OfAnUnknownMakerAreRefused) {
  const auto read = base::from_json<Gpus>({{"maker", "another"}, {"list", base::Json::array()}});
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.error().message, testing::HasSubstr("must be nvidia or amd"));
  EXPECT_FALSE(base::from_json<Gpus>(base::Json()).ok());
}

TEST(Gpus, AreAskedForByAnyTask) {
  JobSpec spec;
  spec.tasks.resize(2);
  spec.tasks[0].type = "ps";
  spec.tasks[1].type = "worker";
  EXPECT_FALSE(asks_for_gpus(spec));
  spec.tasks[1].instances = 2;
  spec.tasks[1].overrides[1].gpus = 1;
  EXPECT_TRUE(asks_for_gpus(spec));
  spec.tasks[1].instances = 1;
  EXPECT_FALSE(asks_for_gpus(spec));
  spec.tasks[1].spares = 1;
  EXPECT_TRUE(asks_for_gpus(spec));
}

}  // namespace
}  // namespace gangrun::job
