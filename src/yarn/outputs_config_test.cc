#include "yarn/outputs_config.h"

#include <gtest/gtest.h>

#include "job/described.h"

namespace gangrun::yarn {

namespace {

OutputsConfig sample() {
  return {.folder = "/user/ann/.gangrun/history/application_1_0001/outputs",
          .user = "ann",
          .hadoop = {{"fs.defaultFS", "hdfs://nn"}},
          .token_service = "ha-hdfs:nn",
          .limit_bytes = 1 << 20};
}

TEST(OutputsConfig, ComesBackFromItsJson) {
  for (OutputsConfig config : {sample(), OutputsConfig{.folder = "/o", .user = "b"}}) {
    const auto again = base::from_json<OutputsConfig>(base::to_json(config));
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ(*again, config);
  }
}

TEST(OutputsConfig, WhatIsMissingOrWrongIsNamed) {
  const base::Json whole = base::to_json(sample());
  for (const auto& [key, value] : whole.items()) {
    base::Json wrong = whole;
    wrong[key] = true;
    const auto read = base::from_json<OutputsConfig>(wrong);
    ASSERT_FALSE(read.ok()) << key;
    EXPECT_NE(read.error().message.find(key), std::string::npos) << read.error().message;
    if (key == "limit_bytes") continue;
    wrong.erase(key);
    EXPECT_FALSE(base::from_json<OutputsConfig>(wrong).ok()) << key;
  }
}

}  // namespace

}  // namespace gangrun::yarn
