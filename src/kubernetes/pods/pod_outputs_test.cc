#include "kubernetes/pods/pod_outputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gangrun::kubernetes::pods {
namespace {

using testing::ElementsAre;

TEST(OutputsCommand, HasTheFolderAndThePathsAsWordsOfTheirOwn) {
  const auto command = outputs_command("/gangrun/work", {"model/", "a b;rm -r *"});
  ASSERT_EQ(command.size(), 6U);
  EXPECT_EQ(command[0], "sh");
  EXPECT_EQ(command[3], "/gangrun/work");
  EXPECT_EQ(command[5], "a b;rm -r *");
}

TEST(OutputsErrors, TellsWhatIsMissingFromOtherTrouble) {
  const OutputsErrors errors =
      outputs_errors("gangrun-missing:model/\ntar: x: Permission denied\ngangrun-missing:log\n");
  EXPECT_THAT(errors.missing, ElementsAre("model/", "log"));
  EXPECT_EQ(errors.others, "tar: x: Permission denied");
}

// A program named tar may be anything: one that ended well without a byte was taken for a task
// without outputs.
TEST(CheckOutputs, WhatEndsWellHasSentWhatIsThere) {
  EXPECT_TRUE(check_outputs(0, {}, false, 1).ok());
  EXPECT_TRUE(check_outputs(0, {{"a", "b"}, ""}, true, 2).ok());
  EXPECT_EQ(check_outputs(0, {{"a"}, ""}, true, 2).error().message,
            "tar in the pod ended with status 0 and sent nothing");
}

TEST(CheckOutputs, ItsWordsAreQuotedAndBrief) {
  EXPECT_EQ(check_outputs(127, {}, true, 1).error().message,
            "tar in the pod ended with status 127");
  EXPECT_EQ(check_outputs(2, {{}, "\x1b[2Jno\nsuch"}, false, 1).error().message,
            "tar in the pod ended with status 2: \"no such\"");
  EXPECT_LT(check_outputs(2, {{}, std::string(16000, 'x')}, false, 1).error().message.size(), 400U);
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
