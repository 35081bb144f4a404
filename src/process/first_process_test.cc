#include "process/first_process.h"

#include <gmock/gmock.h>

#include <string>

namespace gangrun::process {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(FirstProcess, PutsTheVariablesOfTheTaskOverThoseOfTheImage) {
  const std::string text("A=task\0TWO=a\nb=c\0", 17);
  EXPECT_THAT(merge_environment({"PATH=/image", "A=image"}, text),
              ElementsAre("A=task", "PATH=/image", "TWO=a\nb=c"));
  EXPECT_THAT(merge_environment({"A=1", "=odd", "odd"}, ""), ElementsAre("A=1"));
}

// Its work as the first process: tests/integration/test_images.py.
TEST(FirstProcess, IsNothingElse) {
  const auto refused =
      run_first_process({.environment_file = "", .report_file = "", .stop = {}, .argv = {"true"}});
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("first process of a container"));
}

}  // namespace
}  // namespace gangrun::process
