#include "hadoop/records.h"

#include <gtest/gtest.h>

namespace gangrun::hadoop {
namespace {

constexpr ApplicationId kApplication{.cluster_timestamp = 1700000000000, .id = 7};

TEST(Records, IdsAreWrittenAsYarnWritesThem) {
  const AttemptId attempt{.application = kApplication, .attempt = 2};
  EXPECT_EQ(to_string(kApplication), "application_1700000000000_0007");
  EXPECT_EQ(to_string(ApplicationId{.cluster_timestamp = 1, .id = 12345}), "application_1_12345");
  EXPECT_EQ(to_string(attempt), "appattempt_1700000000000_0007_000002");
  EXPECT_EQ(to_string(ContainerId{.attempt = attempt, .id = 3}),
            "container_1700000000000_0007_02_000003");
  EXPECT_EQ(to_string(ContainerId{.attempt = attempt, .id = (std::int64_t{17} << 40U) + 3}),
            "container_e17_1700000000000_0007_02_000003");
}

TEST(Records, IdsAreReadAsTheyWereWritten) {
  EXPECT_EQ(application_id_from(to_string(kApplication)), kApplication);
  for (const std::int64_t id : {std::int64_t{3}, (std::int64_t{2} << 40U) + 1234567}) {
    const ContainerId container{.attempt = {.application = kApplication, .attempt = 12}, .id = id};
    EXPECT_EQ(container_id_from(to_string(container)), container);
  }
}

TEST(Records, WhatIsNoIdIsRefused) {
  for (const char* text :
       {"", "application", "application_1", "application_1_2_3", "job_1_2", "application_1_x",
        "application_1_-2", "application_1_99999999999", "application_-1_1"}) {
    EXPECT_FALSE(application_id_from(text).ok()) << text;
  }
  for (const char* text : {"", "container", "container_1_2_3", "container_e1_1_2_3",
                           "container_ex_1_2_3_4", "container_1_2_3_4_5", "container_1_2_3_x",
                           "container_1_2_3_9999999999999999", "container_e_1_2_3_4"}) {
    EXPECT_FALSE(container_id_from(text).ok()) << text;
  }
}

TEST(Records, ThreeStatesOfAnApplicationAreFinal) {
  EXPECT_TRUE(is_final(ApplicationState::kFinished));
  EXPECT_TRUE(is_final(ApplicationState::kFailed));
  EXPECT_TRUE(is_final(ApplicationState::kKilled));
  EXPECT_FALSE(is_final(ApplicationState::kAccepted));
  EXPECT_FALSE(is_final(ApplicationState::kRunning));
}

}  // namespace
}  // namespace gangrun::hadoop
