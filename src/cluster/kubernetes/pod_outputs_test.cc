#include "cluster/kubernetes/pod_outputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gangrun::cluster {
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

}  // namespace
}  // namespace gangrun::cluster
