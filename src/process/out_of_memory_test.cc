#include "process/out_of_memory.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>

#include "base/format.h"
#include "process/cgroup.h"
#include "process/process_handle.h"
#include "process/wait_for.h"

namespace gangrun::process {
namespace {

using std::chrono::seconds;

Exit killed_by(int signal) {
  Exit exit;
  exit.signal = signal;
  return exit;
}

TEST(OutOfMemory, ReadsTheCountersOfBothVersionsAndTheHost) {
  EXPECT_EQ(parse_count("low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 9\n", "oom_kill"),
            2U);
  EXPECT_EQ(parse_count("oom_kill_disable 0\nunder_oom 1\noom_kill 7\n", "oom_kill"), 7U);
  EXPECT_EQ(parse_count("nr_free_pages 1\noom_kill 5", "oom_kill"), 5U);
  EXPECT_EQ(parse_count("oom_kill_disable 1\n", "oom_kill"), std::nullopt);
  EXPECT_EQ(parse_count("oom_kill x\n", "oom_kill"), std::nullopt);
  EXPECT_EQ(parse_count("oom_kill -1\n", "oom_kill"), std::nullopt);
  EXPECT_EQ(parse_count("", "oom_kill"), std::nullopt);
}

TEST(OutOfMemory, ReadsTheKernelsRecordOfAKill) {
  EXPECT_EQ(parse_killed_process("3,1234,5678,-;Out of memory: Killed process 4711 (python3) "
                                 "total-vm:1kB, anon-rss:1kB"),
            4711);
  EXPECT_EQ(parse_killed_process("3,1,2,-;Memory cgroup out of memory: Killed process 12 (a b)"),
            12);
  EXPECT_EQ(parse_killed_process("6,1,2,-;oom-kill:constraint=CONSTRAINT_MEMCG,task=x,pid=12"),
            std::nullopt);
}

TEST(OutOfMemory, BelievesOnlyTheKernel) {
  // Lines that a program writes to /dev/kmsg have another sender.
  EXPECT_EQ(parse_killed_process("12,1,2,-;Out of memory: Killed process 4711 (x)"), std::nullopt);
  EXPECT_EQ(parse_killed_process("Killed process 4711"), std::nullopt);
  EXPECT_EQ(parse_killed_process("3,1,2,-;Killed process "), std::nullopt);
  EXPECT_EQ(parse_killed_process("3,1,2,-;Killed process -5"), std::nullopt);
  EXPECT_EQ(parse_killed_process("3;"), std::nullopt);
  EXPECT_EQ(parse_killed_process(""), std::nullopt);
}

TEST(OutOfMemory, TheOwnCgroupsWordCountsBeforeTheHosts) {
  const auto counts = [](std::optional<std::uint64_t> two, std::optional<std::uint64_t> one,
                         std::optional<std::uint64_t> host) {
    return OutOfMemoryCounts{.cgroup_2 = two, .cgroup_1 = one, .host = host};
  };
  EXPECT_TRUE(counts_increased(counts(1, {}, 5), counts(2, {}, 6)));
  EXPECT_FALSE(counts_increased(counts(1, {}, 5), counts(1, {}, 6))) << "a stranger's";
  EXPECT_TRUE(counts_increased(counts({}, 0, 5), counts({}, 1, 6)));
  EXPECT_FALSE(counts_increased(counts({}, 0, 5), counts({}, 0, 6)));
  EXPECT_TRUE(counts_increased(counts({}, {}, 5), counts({}, {}, 6)));
  EXPECT_FALSE(counts_increased(counts({}, {}, 5), counts({}, {}, 5)));
  EXPECT_FALSE(counts_increased(counts({}, {}, {}), counts({}, {}, 5)));
}

TEST(OutOfMemory, AnOrdinaryKillIsNone) {
  OutOfMemoryWatch watch = OutOfMemoryWatch::start();
  const pid_t pid = ::fork();
  if (pid == 0) {
    while (true) ::pause();
  }
  ::kill(pid, SIGKILL);
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_FALSE(watch.killed(pid, exit_from_wait(status)));
  EXPECT_FALSE(watch.killed(pid, killed_by(SIGSEGV)));
  EXPECT_FALSE(watch.killed(pid, Exit{}));
}

bool write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text << std::flush;
  return file.good();
}

// Takes memory until it is killed.
[[noreturn]] void be_greedy(std::size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED) std::memset(memory, 1, bytes);
  ::_exit(77);
}

enum Answer { kCannotLimit = 10, kNotKilled, kNotRecognised, kNotForgotten, kRecognised };

// In a group of its own below ours, with a limit: a watch, a greedy child, and what the watch says.
int watch_a_greedy_child(const std::string& group, bool with_log) {
  constexpr std::size_t kLimit = std::size_t{64} << 20U;
  if (!write_text(group + "/memory.limit_in_bytes", std::to_string(kLimit)) ||
      !write_text(group + "/cgroup.procs", "0")) {
    return kCannotLimit;
  }
  // Swap would only make it slower; not every kernel counts it.
  write_text(group + "/memory.memsw.limit_in_bytes", std::to_string(kLimit));
  if (!with_log && ::setresuid(65534, 65534, 65534) != 0) return kCannotLimit;
  OutOfMemoryWatch watch = OutOfMemoryWatch::start();
  const pid_t child = ::fork();
  if (child == 0) be_greedy(kLimit * 4);
  int status = 0;
  ::waitpid(child, &status, 0);
  const Exit exit = exit_from_wait(status);
  if (exit.signal != SIGKILL) return kNotKilled;
  // A process that gives back much memory ends some time after the kernel has told of its kill.
  const base::Instant now = std::chrono::steady_clock::now();
  watch.refresh(now);
  if (!watch.killed(child, exit)) return kNotRecognised;
  // The next one that has its number is another one.
  watch.refresh(now + std::chrono::hours(1));
  watch.refresh(now + std::chrono::hours(2));
  return watch.killed(child, exit) ? kNotForgotten : kRecognised;
}

// Root can make such a group where the memory controller is one of version 1; elsewhere the attempt
// must end without a false alarm.
TEST(OutOfMemory, ARealKillIsRecognisedByTheLogAndByTheCounters) {
  const auto own = own_cgroup_folder("memory");
  for (const bool with_log : {true, false}) {
    const std::string group =
        fmt::format("{}/gangrun-test-{}", own.ok() ? *own : "/proc", ::getpid());
    const bool made = ::mkdir(group.c_str(), 0755) == 0;
    const pid_t pid = ::fork();
    if (pid == 0) ::_exit(watch_a_greedy_child(group, with_log));
    const auto ended = ProcessHandle::open(pid);
    EXPECT_TRUE(wait_readable(ended.end_fd(), std::chrono::steady_clock::now() + seconds(60)));
    int status = 0;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    ASSERT_TRUE(WIFEXITED(status));
    if (made) {
      EXPECT_EQ(::rmdir(group.c_str()), 0);
      EXPECT_THAT(WEXITSTATUS(status), testing::AnyOf(kRecognised, kCannotLimit, kNotKilled));
    } else {
      EXPECT_EQ(WEXITSTATUS(status), kCannotLimit);
    }
    RecordProperty(with_log ? "with_log" : "without_log", WEXITSTATUS(status));
  }
}

}  // namespace
}  // namespace gangrun::process
