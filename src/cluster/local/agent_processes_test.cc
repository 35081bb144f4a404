#include "cluster/local/agent_processes.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>

#include "base/format.h"
#include "process/proc_fs.h"
#include "process/spawn.h"
#include "process/wait_for.h"

namespace gangrun::cluster {

namespace {

base::Instant soon() { return std::chrono::steady_clock::now() + std::chrono::seconds(20); }

// A shell with the command line of an agent, and (the guardian) one with that command line below.
base::Result<process::Child> shell(const std::string& script, const std::string& name) {
  process::SpawnOptions options;
  options.argv = {"/bin/sh", "-c", script, "task", "--name", name};
  return process::spawn(options);
}

TEST(AgentProcesses, AreThoseOfTheJobOnly) {
  const std::string job = base::format("job-{}", ::getpid());
  const job::TaskId task{"worker", 3};
  // exec keeps nothing of the shell's arguments, so the alone one stays a shell that waits.
  auto alone = shell("sleep 60 & wait", agent_name(job, task));
  auto pair = shell("(sleep 60; true) & wait", agent_name(job, {"ps", 0}));
  auto other = shell("sleep 60 & wait", agent_name(job + "x", task));
  ASSERT_TRUE(alone.ok() && pair.ok() && other.ok());
  std::vector<AgentProcesses> found;
  const auto complete = [&] {
    found = agent_processes(job);
    bool forked = false;
    for (const AgentProcesses& processes : found) forked = forked || processes.guardian != 0;
    return forked && found.size() == 2;
  };
  const base::Instant deadline = soon();
  while (!complete() && std::chrono::steady_clock::now() < deadline) {
    (void)process::wait_any_readable(
        {}, std::chrono::steady_clock::now() + std::chrono::milliseconds(5));
  }
  ASSERT_EQ(found.size(), 2U);
  for (const AgentProcesses& processes : found) {
    EXPECT_EQ(processes.guardian, processes.agent == alone->pid() ? 0 : pair->pid());
  }
  for (auto* child : {&alone, &pair, &other}) {
    for (const pid_t pid : process::descendants_of((*child)->pid())) (void)::kill(pid, SIGKILL);
    ASSERT_TRUE((*child)->signal(SIGKILL).ok());
    ASSERT_TRUE((*child)->wait(soon()).ok());
  }
  EXPECT_TRUE(agent_processes(job).empty());
}

}  // namespace

}  // namespace gangrun::cluster
