#include "yarn/container_resource.h"

#include <gtest/gtest.h>

namespace gangrun::yarn {
namespace {

TEST(ContainerResource, WhatATaskAsksForIsItsContainer) {
  const hadoop::Resource resource =
      resource_of({.memory_mib = 2048, .vcores = 2, .gpus = 1, .others = {{"fpga", 3}}});
  EXPECT_EQ(resource,
            (hadoop::Resource{
                .memory_mib = 2048, .vcores = 2, .others = {{"fpga", 3}, {"yarn.io/gpu", 1}}}));
  EXPECT_EQ(resource_of({}).memory_mib, kDefaultMemoryMib);
}

}  // namespace
}  // namespace gangrun::yarn
