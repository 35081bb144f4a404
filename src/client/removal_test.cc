#include "client/removal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/test_context.h"

namespace gangrun::client {
namespace {

using testing::HasSubstr;

job::JobStatus status_in(job::JobState state) {
  job::JobStatus status;
  status.id = "hello-1";
  status.state = state;
  return status;
}

struct GoesOnTest : testing::Test {
  GoesOnTest() {
    job::JobSpec spec;
    spec.name = "hello";
    spec.tasks.resize(1);
    spec.tasks[0].type = "worker";
    spec.command.words = {"true"};
    auto made = host::JobFolder::create(test.folder(), spec, base::WallTime());
    EXPECT_TRUE(made.ok()) << made.error().message;
    folder.emplace(*std::move(made));
  }
  base::Result<bool> ask(job::JobState state, base::Duration limit) {
    return goes_on(test.context(), folder->paths(), status_in(state), limit);
  }

  TestContext test;
  std::optional<host::JobFolder> folder;  // as its master has it
};

// `rm` said that the job had not ended, and `fetch` that there was nothing.
TEST_F(GoesOnTest, AnEndThatIsStillRecordedIsWaitedForOnlySoLong) {
  const auto late = ask(job::JobState::kSucceeded, std::chrono::milliseconds(1));
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().code, base::Code::kUnavailable);
  EXPECT_THAT(late.error().message, HasSubstr("hello-1 has ended, and its master still records"));
}

TEST_F(GoesOnTest, AJobIsOverWhenItsMasterHasLeft) {
  folder->release();
  const auto over = ask(job::JobState::kFailed, kMasterLeaves);
  ASSERT_TRUE(over.ok()) << over.error().message;
  EXPECT_FALSE(*over);
  EXPECT_EQ(test.err(), "");
}

TEST_F(GoesOnTest, AJobThatHasNotEndedIsNotWaitedFor) {
  for (const bool has_master : {true, false}) {
    if (!has_master) folder->release();
    const auto on = ask(job::JobState::kRunning, kMasterLeaves);
    ASSERT_TRUE(on.ok()) << on.error().message;
    EXPECT_TRUE(*on);
  }
}

}  // namespace
}  // namespace gangrun::client
