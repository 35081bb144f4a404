#include "ssh/node/nvidia_smi.h"

#include <gtest/gtest.h>

namespace gangrun::ssh::node {
namespace {

TEST(NvidiaSmi, ListsGpusAndTheirParts) {
  const auto gpus = gpus_in_list(
      "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5d5ba0d6)\n"
      "  MIG 3g.20gb     Device  0: (UUID: MIG-1)\n"
      "  MIG 1g.5gb      Device  1: (UUID: MIG-2)\n"
      "GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-7)\n");
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_EQ(gpus[0].uuid, "GPU-5d5ba0d6");
  EXPECT_EQ(gpus[0].parts, (std::vector<std::string>{"MIG-1", "MIG-2"}));
  EXPECT_EQ(gpus[1].uuid, "GPU-7");
  EXPECT_TRUE(gpus[1].parts.empty());
}

TEST(NvidiaSmi, ListsNoneWhereNothingIsSaid) {
  EXPECT_TRUE(gpus_in_list("").empty());
  EXPECT_TRUE(gpus_in_list("No devices were found\n").empty());
}

}  // namespace
}  // namespace gangrun::ssh::node
