#include "gang/hosts.h"

#include <gmock/gmock.h>

namespace gangrun::gang {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const job::TaskId kTask{"worker", 0};
const base::Instant kStart{base::Duration(1'000'000'000)};

Hosts three_hosts() {
  Hosts hosts;
  for (const char* host : {"a", "b", "c"}) hosts.saw(host);
  return hosts;
}

bool ruin(Hosts& hosts, const std::string& host, base::Instant now) {
  for (std::size_t i = 1; i < Hosts::kFailures; ++i) hosts.failed_on(host, kTask, now);
  return hosts.failed_on(host, kTask, now);
}

TEST(Hosts, ThreeFailuresWithinTenMinutesAreAvoidedForTen) {
  Hosts hosts = three_hosts();
  EXPECT_FALSE(hosts.failed_on("b", kTask, kStart));
  EXPECT_FALSE(hosts.failed_on("b", kTask, kStart + minutes(5)));
  EXPECT_THAT(hosts.to_avoid(kStart + minutes(5)), IsEmpty());
  const base::Instant third = kStart + minutes(10) - seconds(1);
  EXPECT_TRUE(hosts.failed_on("b", kTask, third));
  EXPECT_THAT(hosts.to_avoid(third), ElementsAre("b"));
  EXPECT_TRUE(hosts.avoids("b", third + minutes(10) - seconds(1)));
  EXPECT_FALSE(hosts.avoids("b", third + minutes(10)));
}

// Four tasks that were lost with their host made it a bad one.
TEST(Hosts, WhatBefallsSeveralTasksAtOnceIsOneFailure) {
  Hosts hosts = three_hosts();
  for (int index = 0; index < 4; ++index) {
    EXPECT_FALSE(hosts.failed_on("b", {"worker", index}, kStart + seconds(index)));
  }
  EXPECT_FALSE(hosts.failed_on("b", {"worker", 0}, kStart + minutes(1)));
  EXPECT_FALSE(hosts.failed_on("b", {"worker", 1}, kStart + minutes(1) + seconds(4)));
  EXPECT_TRUE(hosts.failed_on("b", {"worker", 2}, kStart + minutes(1) + seconds(5)));
}

TEST(Hosts, TheSameTaskThriceAtOnceIsThreeFailures) {
  Hosts hosts = three_hosts();
  EXPECT_FALSE(hosts.failed_on("b", kTask, kStart));
  EXPECT_FALSE(hosts.failed_on("b", kTask, kStart + seconds(1)));
  EXPECT_TRUE(hosts.failed_on("b", kTask, kStart + seconds(2)));
}

TEST(Hosts, FailuresThatAreLongAgoDoNotCount) {
  Hosts hosts = three_hosts();
  hosts.failed_on("b", kTask, kStart);
  hosts.failed_on("b", kTask, kStart + minutes(9));
  EXPECT_FALSE(hosts.failed_on("b", kTask, kStart + minutes(10)));
  EXPECT_TRUE(hosts.failed_on("b", kTask, kStart + minutes(11)));
}

TEST(Hosts, AfterACoolDownItBeginsAnew) {
  Hosts hosts = three_hosts();
  EXPECT_TRUE(ruin(hosts, "a", kStart));
  EXPECT_FALSE(hosts.failed_on("a", kTask, kStart + minutes(10)));
  EXPECT_FALSE(hosts.avoids("a", kStart + minutes(10)));
}

TEST(Hosts, NeverAllThatAreKnown) {
  Hosts hosts;
  hosts.saw("a");
  EXPECT_TRUE(ruin(hosts, "a", kStart));
  EXPECT_THAT(hosts.to_avoid(kStart), IsEmpty());
  hosts.saw("b");
  EXPECT_THAT(hosts.to_avoid(kStart), ElementsAre("a"));
  ruin(hosts, "b", kStart + seconds(1));
  EXPECT_THAT(hosts.to_avoid(kStart + seconds(1)), ElementsAre("b"));  // a, for longer
  hosts.saw("c");
  EXPECT_THAT(hosts.to_avoid(kStart + seconds(1)), ElementsAre("a", "b"));
}

}  // namespace
}  // namespace gangrun::gang
