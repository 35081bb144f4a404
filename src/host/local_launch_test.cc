#include "host/local_launch.h"

#include <gtest/gtest.h>

#include "job/described.h"

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
          .verbose = true,
          .remark = "tasks work elsewhere"};
}

TEST(LocalLaunch, ComesBackFromItsJson) {
  const auto again = base::from_json<LocalLaunch>(base::to_json(sample()));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(*again, sample());
}

TEST(LocalLaunch, WhatIsMissingIsNamed) {
  const base::Json whole = base::to_json(sample());
  for (const auto& [key, value] : whole.items()) {
    base::Json less = whole;
    less.erase(key);
    const auto read = base::from_json<LocalLaunch>(less);
    if (key == "remark") {
      EXPECT_TRUE(read.ok()) << "earlier versions had none";
      continue;
    }
    ASSERT_FALSE(read.ok()) << key;
    EXPECT_NE(read.error().message.find(key), std::string::npos) << read.error().message;
  }
}

TEST(LocalLaunch, TheRegistryIsServedAtTheAddressThatWasNamed) {
  LocalLaunch launch = sample();
  launch.host = "127.0.0.1";
  EXPECT_EQ(listen_address_of(launch, false), "127.0.0.1");
  EXPECT_EQ(listen_address_of(launch, true), "");
  launch.host = "fd00::1";
  EXPECT_EQ(listen_address_of(launch, false), "fd00::1");
  EXPECT_EQ(listen_address_of(launch, true), "fd00::1");
  launch.host = "node1";  // which may lead elsewhere on another host
  EXPECT_EQ(listen_address_of(launch, false), "");
  // Nobody has named one, and --serve-tls is for other hosts.
  launch.host = "127.0.0.1";
  launch.host_reason = kDefaultAddressReason;
  EXPECT_EQ(listen_address_of(launch, false), "");
  launch.serve_tls = false;
  EXPECT_EQ(listen_address_of(launch, false), "127.0.0.1");
}

}  // namespace

}  // namespace gangrun::host
