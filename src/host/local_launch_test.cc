#include "host/local_launch.h"

#include <gtest/gtest.h>

namespace gangrun::host {

namespace {

LocalLaunch sample() {
  return {.agent_program = "/opt/gangrun-agent",
          .working_folder = "/home/ana/wine",
          .host = "node1",
          .host_reason = "as --host says",
          .gpus = {job::GpuMaker::kNvidia, {{"0", "gpu-3", "", ""}}},
          .containment = job::Containment::kCgroup,
          .serve_tls = true,
          .verbose = true};
}

TEST(LocalLaunch, ComesBackFromItsJson) {
  const auto again = local_launch_from_json(to_json(sample()));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(*again, sample());
}

TEST(LocalLaunch, WhatIsMissingIsNamed) {
  const base::Json whole = to_json(sample());
  for (const auto& [key, value] : whole.items()) {
    base::Json less = whole;
    less.erase(key);
    const auto read = local_launch_from_json(less);
    ASSERT_FALSE(read.ok()) << key;
    EXPECT_NE(read.error().message.find(key), std::string::npos) << read.error().message;
  }
}

}  // namespace

}  // namespace gangrun::host
