#include "process/program_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/format.h"
#include "base/test_deadline.h"
#include "base/test_folder.h"

namespace gangrun::process {
namespace {

using testing::HasSubstr;

constexpr std::size_t kEnough = std::size_t{1} << 20U;

base::Result<std::string> of_shell(const std::string& script, std::size_t max_bytes = kEnough,
                                   base::Instant deadline = base::soon()) {
  return program_output({"/bin/sh", "-c", script}, deadline, max_bytes);
}

TEST(ProgramOutput, IsWhatTheProgramWritesUntilItEnds) {
  EXPECT_EQ(of_shell("echo one; echo two >&2; echo three").value_or("?"), "one\nthree\n");
}

TEST(ProgramOutput, NeitherStreamHoldsUpTheOther) {
  const auto output = of_shell("head -c 300000 /dev/zero >&2; head -c 300000 /dev/zero");
  ASSERT_TRUE(output.ok()) << output.error().message;
  EXPECT_EQ(output->size(), 300'000U);
}

TEST(ProgramOutput, AFailureHasTheLastLineOfItsWords) {
  const auto failed = of_shell("echo first >&2; echo no right >&2; exit 3");
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().message, "/bin/sh exited with status 3: no right");
}

TEST(ProgramOutput, WhatTakesTooLongIsKilledWithItsChildren) {
  const base::Instant begun = base::SystemClock().now();
  const auto late = of_shell("sleep 600 & wait", kEnough, begun + std::chrono::milliseconds(100));
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().message, "/bin/sh takes too long");
}

// A debugger lets its process go.
TEST(ProgramOutput, WhatTakesTooLongIsToldToEndBeforeItIsKilled) {
  const base::TestFolder folder;
  const std::string told = folder / "told";
  const auto late =
      of_shell(base::format("trap 'echo told >{}; exit' TERM; while :; do sleep 0.01; done", told),
               kEnough, base::SystemClock().now() + std::chrono::milliseconds(300));
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(base::read_file(told, kEnough).value_or(""), "told\n");
}

TEST(ProgramOutput, WhatIsTooLongIsAnError) {
  EXPECT_THAT(of_shell("echo 12345", 4).error().message, HasSubstr("more than 4 bytes"));
}

TEST(ProgramOutput, AProgramThatIsNotThereIsNamed) {
  const auto none = program_output({"no-such-program"}, base::soon(), kEnough);
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().message, HasSubstr("no-such-program"));
}

}  // namespace
}  // namespace gangrun::process
