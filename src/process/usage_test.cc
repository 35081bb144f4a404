#include "process/usage.h"

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>

namespace gangrun::process {
namespace {

TEST(Usage, CountsNothingForNobody) {
  EXPECT_EQ(usage_of({}).memory_bytes, 0U);
  EXPECT_EQ(usage_of({-1}).cpu_seconds, 0.0);
}

// A child that holds memory and has used CPU time, in itself and in a child that it has reaped.
TEST(Usage, CountsMemoryAndTimeOfAProcessAndOfTheChildrenItReaped) {
  constexpr std::size_t kBytes = std::size_t{32} << 20U;
  constexpr clock_t kBurn = CLOCKS_PER_SEC / 5;
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    void* memory =
        ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) std::memset(memory, 1, kBytes);
    const auto burn = [] {
      const clock_t begin = std::clock();
      while (std::clock() - begin < kBurn) {
      }
    };
    const pid_t grandchild = ::fork();
    burn();
    if (grandchild == 0) ::_exit(0);
    ::waitpid(grandchild, nullptr, 0);
    if (::write(ready[1], "x", 1) != 1) ::_exit(1);
    while (true) ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  const Usage usage = usage_of({child});
  EXPECT_GE(usage.memory_bytes, kBytes);
  EXPECT_GE(usage.cpu_seconds, 0.35) << "0.2 s of its own and 0.2 s of its child";
  const Usage both = usage_of({child, ::getpid()});
  EXPECT_GT(both.memory_bytes, usage.memory_bytes);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(usage_of({child}).memory_bytes, 0U);
  ::close(ready[0]);
  ::close(ready[1]);
}

}  // namespace
}  // namespace gangrun::process
