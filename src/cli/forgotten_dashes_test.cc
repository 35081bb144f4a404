#include "cli/forgotten_dashes.h"

#include <gtest/gtest.h>

namespace gangrun::cli {
namespace {

const client::Command kRun{
    .name = "run",
    .summary = "",
    .words = {{"JOB.yaml", {}}},
    .flags = {{"-r,--roles", {}, "TYPE:N", ""}, {"-d,--detach", {}, "", ""}}};

TEST(LineWithDashes, TheyStandBeforeTheFirstWordThatIsNoValueAndNoJobFile) {
  EXPECT_EQ(line_with_dashes(kRun, {"run", "-r", "worker:2", "python3", "x.py"}, "x.py"),
            "gangrun run -r worker:2 -- python3 x.py");
  EXPECT_EQ(line_with_dashes(kRun, {"run", "--roles=worker", "-d", "echo", "a b"}, "a b"),
            "gangrun run --roles=worker -d -- echo 'a b'");
  EXPECT_EQ(line_with_dashes(kRun, {"run", "job.yaml", "./train"}, "./train"),
            "gangrun run job.yaml -- ./train");
}

TEST(LineWithDashes, FlagsOfTheCommandAreItsOwn) {
  EXPECT_EQ(line_with_dashes(kRun, {"run", "python3", "x.py", "--steps", "5"}, "--steps"),
            "gangrun run -- python3 x.py --steps 5");
}

TEST(LineWithDashes, AFlagBeforeAllWordsAndASecondJobFileAreOtherMistakes) {
  EXPECT_FALSE(line_with_dashes(kRun, {"run", "--steps", "5", "python3", "x.py"}, "--steps"));
  EXPECT_FALSE(line_with_dashes(kRun, {"run", "job.yaml", "--steps", "5"}, "--steps"));
  EXPECT_FALSE(line_with_dashes(kRun, {"run", "job.yaml", "other.yml"}, "other.yml"));
  EXPECT_FALSE(line_with_dashes(kRun, {"run", "-d"}, "-d"));
}

}  // namespace
}  // namespace gangrun::cli
