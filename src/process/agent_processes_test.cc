#include "process/agent_processes.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>

#include "base/format.h"
#include "process/spawn.h"
#include "process/wait_for.h"

namespace gangrun::process {

namespace {

base::Instant soon() { return std::chrono::steady_clock::now() + std::chrono::seconds(20); }

// A shell with the command line of an agent, and (the guardian) one with that command line below.
base::Result<Child> shell(const std::string& script, const std::string& name) {
  SpawnOptions options;
  options.argv = {"/bin/sh", "-c", script, "task", "--name", name};
  return spawn(options);
}

void wait_until(const std::function<bool()>& condition) {
  const base::Instant deadline = soon();
  while (!condition() && std::chrono::steady_clock::now() < deadline) {
    (void)wait_any_readable({}, std::chrono::steady_clock::now() + std::chrono::milliseconds(5));
  }
}

TEST(AgentProcesses, AreThoseOfTheJobOnly) {
  const std::string job = base::format("job-{}", ::getpid());
  // exec keeps nothing of the shell's arguments, so the alone one stays a shell that waits.
  auto alone = shell("sleep 60 & wait", agent_name(job, "worker", 3));
  auto pair = shell("(sleep 60; true) & wait", agent_name(job, "ps", 0));
  auto other = shell("sleep 60 & wait", agent_name(job + "x", "worker", 3));
  ASSERT_TRUE(alone.ok() && pair.ok() && other.ok());
  std::vector<AgentProcesses> found;
  // Not only until there are two: a shell's `sleep`, too, has the shell's command line until it is
  // executed.
  wait_until([&] {
    found = agent_processes(job);
    return found.size() == 2 && std::all_of(found.begin(), found.end(), [&](const auto& processes) {
             return processes.guardian == (processes.agent == alone->pid() ? 0 : pair->pid());
           });
  });
  ASSERT_EQ(found.size(), 2U);
  for (const AgentProcesses& processes : found) {
    EXPECT_EQ(processes.guardian, processes.agent == alone->pid() ? 0 : pair->pid());
  }
  for (auto* child : {&alone, &pair, &other}) {
    // The group, as a list of processes lacks the one that is being forked.
    ASSERT_TRUE((*child)->signal_group(SIGKILL).ok());
    ASSERT_TRUE((*child)->wait(soon()).ok());
  }
  wait_until([&] { return agent_processes(job).empty(); });
  EXPECT_TRUE(agent_processes(job).empty());
}

// Another user's process with the name of an agent kept the job's folder on its host forever.
TEST(AgentProcesses, AreOfThisUserOnly) {
  const std::string job = base::format("job-{}-users", ::getpid());
  auto others = shell("sleep 60 & wait", agent_name(job, "worker", 0));
  ASSERT_TRUE(others.ok());
  wait_until([&] { return !agent_processes(job).empty(); });
  const pid_t looks = ::fork();
  if (looks == 0) {
    // Only root becomes another user; who cannot still sees his own.
    constexpr uid_t kNobody = 65534;
    const bool is_other = ::setresuid(kNobody, kNobody, kNobody) == 0;
    ::_exit(agent_processes(job).empty() == is_other ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(looks, &status, 0), looks);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  ASSERT_TRUE(others->signal_group(SIGKILL).ok());
  ASSERT_TRUE(others->wait(soon()).ok());
}

TEST(AgentProcesses, OfOthersAreThoseOfWhichWeHaveNeitherProcess) {
  // Ours: by its guardian, which we started, and by itself, which lost its guardian.
  const std::vector<AgentProcesses> all{{10, 11}, {0, 20}, {30, 31}, {0, 40}};
  EXPECT_EQ(agents_of_others(all, {10, 20}), (std::vector<pid_t>{31, 40}));
  EXPECT_EQ(agents_of_others(all, {}), (std::vector<pid_t>{11, 20, 31, 40}));
  // Without an agent there is nobody to kill: process 0 would be all of our own group.
  EXPECT_TRUE(agents_of_others({{50, 0}}, {}).empty());
}

}  // namespace

}  // namespace gangrun::process
