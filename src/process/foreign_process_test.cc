#include "process/foreign_process.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

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

TEST(ForeignProcess, IsSignalledAndItsEndIsSeen) {
  auto child = sleeper();
  ASSERT_TRUE(child.ok());
  const auto stat = read_stat(child->pid());
  ASSERT_TRUE(stat);
  const auto process = ForeignProcess::open(child->pid(), stat->start_ticks);
  ASSERT_TRUE(process.ok()) << process.error().message;
  EXPECT_EQ(process->pid(), child->pid());
  ASSERT_TRUE(process->signal(SIGKILL).ok());
  EXPECT_TRUE(wait_readable(process->end_fd(), base::soon()));
  ASSERT_TRUE(child->wait(base::soon()).ok());
  EXPECT_EQ(process->signal(SIGKILL).error().code, base::Code::kNotFound);
}

TEST(ForeignProcess, AnotherProcessOfThatNumberIsNone) {
  const auto stat = read_stat(::getpid());
  ASSERT_TRUE(stat);
  EXPECT_TRUE(ForeignProcess::open(::getpid(), stat->start_ticks).ok());
  const auto other = ForeignProcess::open(::getpid(), stat->start_ticks + 1);
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, base::Code::kNotFound);
}

TEST(ForeignProcess, WhatHasEndedAndIsNotReapedIsGone) {
  auto child = sleeper();
  ASSERT_TRUE(child.ok());
  const auto stat = read_stat(child->pid());
  ASSERT_TRUE(stat);
  ASSERT_TRUE(child->signal(SIGKILL).ok());
  ASSERT_TRUE(wait_readable(child->end_fd(), base::soon()));
  EXPECT_EQ(ForeignProcess::open(child->pid(), stat->start_ticks).error().code,
            base::Code::kNotFound);
  EXPECT_TRUE(child->wait(base::soon()).ok());
}

}  // namespace

}  // namespace gangrun::process
