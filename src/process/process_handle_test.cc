#include "process/process_handle.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <thread>

#include "base/test_deadline.h"
#include "process/proc_fs.h"
#include "process/spawn.h"
#include "process/wait_for.h"

namespace gangrun::process {

namespace {

base::Result<Child> sleeper() {
  SpawnOptions options;
  options.argv = {"/bin/sleep", "60"};
  return spawn(options);
}

TEST(ProcessHandle, TellsTheEndAndSignalsNobodyAfterIt) {
  auto child = sleeper();
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

TEST(ProcessHandle, OfAKnownStartIsSignalledAndItsEndIsSeen) {
  auto child = sleeper();
  ASSERT_TRUE(child.ok());
  const auto stat = read_stat(child->pid());
  ASSERT_TRUE(stat);
  const auto process = ProcessHandle::open(child->pid(), stat->start_ticks);
  ASSERT_TRUE(process.ok()) << process.error().message;
  EXPECT_EQ(process->pid(), child->pid());
  ASSERT_TRUE(process->signal(SIGKILL));
  EXPECT_TRUE(wait_readable(process->end_fd(), base::soon()));
  ASSERT_TRUE(child->wait(base::soon()).ok());
  EXPECT_FALSE(process->signal(SIGKILL));
  EXPECT_EQ(errno, ESRCH);
}

TEST(ProcessHandle, AnotherProcessOfThatNumberIsNone) {
  const auto stat = read_stat(::getpid());
  ASSERT_TRUE(stat);
  EXPECT_TRUE(ProcessHandle::open(::getpid(), stat->start_ticks).ok());
  const auto other = ProcessHandle::open(::getpid(), stat->start_ticks + 1);
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, base::Code::kNotFound);
}

TEST(ProcessHandle, WhatHasEndedAndIsNotReapedIsGone) {
  auto child = sleeper();
  ASSERT_TRUE(child.ok());
  const auto stat = read_stat(child->pid());
  ASSERT_TRUE(stat);
  ASSERT_TRUE(child->signal(SIGKILL).ok());
  ASSERT_TRUE(wait_readable(child->end_fd(), base::soon()));
  EXPECT_EQ(ProcessHandle::open(child->pid(), stat->start_ticks).error().code,
            base::Code::kNotFound);
  EXPECT_TRUE(child->wait(base::soon()).ok());
}

TEST(ProcessHandle, OfNobodyIsInvalid) {
  EXPECT_FALSE(ProcessHandle().valid());
  EXPECT_FALSE(ProcessHandle::open(-1).valid());
}

class EndPollerTest : public testing::Test {
 protected:
  static Child start_sleeper() {
    SpawnOptions options;
    options.argv = {"/bin/sleep", "60"};
    return *spawn(options);
  }
  static bool is_readable(const base::UniqueFd& fd) {
    return wait_readable(fd.get(), std::chrono::steady_clock::now());
  }
};

TEST_F(EndPollerTest, TellsTheEndOfEachAlsoBeforeItIsReaped) {
  Child first = start_sleeper();
  Child second = start_sleeper();
  const auto of_first = poll_for_end(first.pid(), read_stat(first.pid())->start_ticks);
  const auto of_second = poll_for_end(second.pid(), read_stat(second.pid())->start_ticks);
  ASSERT_TRUE(of_first.valid() && of_second.valid());
  ASSERT_TRUE(first.signal(SIGKILL).ok());
  EXPECT_TRUE(wait_readable(of_first.get(), base::soon()));
  EXPECT_FALSE(is_readable(of_second));
  ASSERT_TRUE(second.signal(SIGKILL).ok());
  EXPECT_TRUE(wait_readable(of_second.get(), base::soon()));
  EXPECT_TRUE(first.wait(base::soon()).ok());
  EXPECT_TRUE(second.wait(base::soon()).ok());
}

TEST_F(EndPollerTest, AnotherProcessOfThatNumberIsNotTheOne) {
  const auto earlier = poll_for_end(::getpid(), read_stat(::getpid())->start_ticks - 1);
  EXPECT_TRUE(wait_readable(earlier.get(), base::soon()));
}

// Its thread ends when nobody waits any more; the next one starts another.
TEST_F(EndPollerTest, WaitsAgainAfterAllWereForgotten) {
  Child child = start_sleeper();
  const std::uint64_t start = read_stat(child.pid())->start_ticks;
  const auto threads = [] { return read_stat(::getpid())->threads; };
  std::thread([] {}).join();  // a sanitizer's own comes with the first
  const auto before = threads();
  poll_for_end(child.pid(), start).reset();
  const auto deadline = base::soon();
  while (threads() > before && std::chrono::steady_clock::now() < deadline) {
    wait_any_readable({}, std::chrono::steady_clock::now() + std::chrono::milliseconds(1));
  }
  EXPECT_EQ(threads(), before);
  const auto end = poll_for_end(child.pid(), start);
  ASSERT_TRUE(child.signal(SIGKILL).ok());
  EXPECT_TRUE(wait_readable(end.get(), base::soon()));
  EXPECT_TRUE(child.wait(base::soon()).ok());
}

}  // namespace

}  // namespace gangrun::process
