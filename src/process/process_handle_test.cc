#include "process/process_handle.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "base/test_deadline.h"
#include "process/spawn.h"
#include "process/wait_for.h"

namespace gangrun::process {

namespace {

TEST(ProcessHandle, TellsTheEndAndSignalsNobodyAfterIt) {
  SpawnOptions options;
  options.argv = {"/bin/sleep", "60"};
  auto child = spawn(options);
  ASSERT_TRUE(child.ok());
  const auto handle = ProcessHandle::open(child->pid());
  ASSERT_TRUE(handle.valid());
  EXPECT_FALSE(wait_readable(handle.end_fd(), std::chrono::steady_clock::now()));
  EXPECT_TRUE(handle.signal(SIGKILL));
  EXPECT_TRUE(wait_readable(handle.end_fd(), base::soon()));
  ASSERT_TRUE(child->wait(base::soon()).ok());
  EXPECT_FALSE(handle.signal(SIGKILL));
  EXPECT_EQ(errno, ESRCH);
  EXPECT_FALSE(ProcessHandle::open(child->pid()).valid());
}

TEST(ProcessHandle, OfNobodyIsInvalid) {
  EXPECT_FALSE(ProcessHandle().valid());
  EXPECT_FALSE(ProcessHandle::open(-1).valid());
}

}  // namespace

}  // namespace gangrun::process
