#include "process/starter.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>

#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "base/strings.h"
#include "base/test_deadline.h"
#include "process/containment.h"
#include "process/levels.h"
#include "process/packet_socket.h"
#include "process/pid_namespace.h"
#include "process/proc_fs.h"
#include "process/process_handle.h"
#include "process/spawn.h"
#include "process/test_family.h"
#include "process/wait_for.h"

namespace gangrun::process {
namespace {

using testing::HasSubstr;

constexpr int kOutput = 5;

// An agent of these tests runs the script that it gets, whose descriptor 3 is the agent's 5.
// OUTER is its number in the /proc of the namespace outside.
int script_agent(const std::vector<std::string>& arguments, base::UniqueFd outer_proc) {
  const auto contained = contain_in_starter(std::move(outer_proc));
  if (!contained.ok()) ::_exit(kAgentCannotContain);
  SpawnOptions user;
  user.argv = {"/bin/sh", "-c", arguments.at(1)};
  char own[16] = {};
  (void)!::readlinkat(contained->outer_proc_fd(), "self", own, sizeof own - 1);
  user.environment = {"PATH=/usr/bin:/bin", base::format("OUTER={}", own)};
  user.inherited = {{.fd = kOutput, .as = 3}};
  contained->confine(user);
  auto child = spawn(user);
  if (!child.ok()) ::_exit(kAgentCannotSpawn);
  const auto exit = child->wait(family_deadline());
  if (!contained->kill_all(family_deadline(), {child->pid()}).ok()) ::_exit(kAgentCannotKill);
  ::_exit(exit.ok() ? exit->shell_status() : kAgentCannotKill);
}

struct StarterTest : testing::Test {
  StarterTest() {
    std::string name = "/tmp/gangrun-starter-XXXXXX";
    folder = ::mkdtemp(name.data());
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    lines.reset(ends[0]);
    output.reset(ends[1]);
  }
  ~StarterTest() override {
    cluster.reset();
    if (guardian > 0) {
      ::kill(guardian, SIGKILL);
      ::waitpid(guardian, nullptr, 0);
    }
    std::filesystem::remove_all(folder);
  }
  // False where this machine has no PID namespaces: levels_test wants the reason.
  bool start_starter(const std::string& path = "") {
    if (!probe_level(Level::kPidNamespace).possible) return false;
    auto ends = PacketSocket::pair();
    EXPECT_TRUE(ends.ok());
    guardian = ::fork();
    if (guardian == 0) {
      ends->first.reset();
      lines.reset();
      (void)run_starter({.socket = ends->second.release(), .path = path}, script_agent);
      ::_exit(1);
    }
    cluster.emplace(std::move(ends->first));
    return true;
  }
  void connect_to(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, path.size());
    base::UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    ASSERT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    cluster.emplace(std::move(fd));
  }
  void start_agent(const std::string& key, const std::string& script) {
    Packet packet{
        base::dump_json(
            {{"what", "start"}, {"key", key}, {"arguments", {"task", script}}, {"fds", {kOutput}}}),
        {},
        0};
    packet.fds.emplace_back(::dup(output.get()));
    ASSERT_TRUE(cluster->send(std::move(packet)).ok());
  }
  void order(const std::string& what, const std::string& key) {
    ASSERT_TRUE(cluster->send({base::dump_json({{"what", what}, {"key", key}}), {}, 0}).ok());
  }
  // The next that the starter tells, as "started a"; its numbers are kept.
  std::string next() {
    const base::Instant deadline = base::soon();
    while (wait_readable(cluster->fd(), deadline)) {
      auto packet = cluster->receive();
      if (!packet.ok()) return "gone";
      if (!*packet) continue;
      told = *base::parse_json((*packet)->text, kMaxPacketBytes);
      about = (*packet)->pid;
      return base::format("{} {}", told["what"].get<std::string>(), told["key"].get<std::string>());
    }
    return "nothing";
  }
  // The next line of a script.
  std::string line() {
    std::string got;
    char letter = 0;
    while (wait_readable(lines.get(), base::soon()) && ::read(lines.get(), &letter, 1) == 1) {
      if (letter == '\n') return got;
      got += letter;
    }
    return got + " and no end";
  }
  // How often a process has given its processor up by itself.
  static std::int64_t sleeps_of(pid_t pid) {
    const auto text = base::read_file(base::format("/proc/{}/status", pid), 1U << 16U);
    const std::string_view words = "\nvoluntary_ctxt_switches:\t";
    const std::size_t at = text.ok() ? text->find(words) : std::string::npos;
    if (at == std::string::npos) return -1;
    return std::strtoll(text->c_str() + at + words.size(), nullptr, 10);
  }
  static bool ends(pid_t pid) {
    const auto stat = read_stat(pid);
    if (!stat) return true;
    const auto process = ProcessHandle::open(pid, stat->start_ticks);
    return !process.ok() || wait_readable(process->end_fd(), base::soon());
  }

  std::string folder;
  base::UniqueFd lines;
  base::UniqueFd output;
  pid_t guardian = 0;
  std::optional<PacketSocket> cluster;
  base::Json told;
  pid_t about = 0;
};

TEST_F(StarterTest, AgentsAreInOneNamespaceAndTheirProcessesHaveNumbersOfTheirOwn) {
  if (!start_starter()) return;
  start_agent("a", "echo $$ >&3; readlink /proc/self/ns/pid >&3; read none </dev/null; exit 3");
  ASSERT_EQ(next(), "started a");
  const std::string first = line();
  const std::string name_space = line();
  ASSERT_EQ(next(), "ended a");
  EXPECT_EQ(WEXITSTATUS(told["status"].get<int>()), 3);
  start_agent("b", "echo $$ >&3; readlink /proc/self/ns/pid >&3");
  ASSERT_EQ(next(), "started b");
  EXPECT_NE(line(), first);
  EXPECT_EQ(line(), name_space);
  EXPECT_NE(name_space, std::filesystem::read_symlink("/proc/self/ns/pid").string());
}

TEST_F(StarterTest, NumbersInsideBeginFarFromThoseOfOtherJobs) {
  // Else they begin at 2.
  if (::access("/proc/sys/kernel/ns_last_pid", W_OK) != 0) return;
  if (!start_starter()) return;
  start_agent("a", "echo $PPID >&3; cat /proc/sys/kernel/pid_max >&3");
  ASSERT_EQ(next(), "started a");
  const pid_t starter = read_stat(about)->parent;
  const auto number = base::parse_integer(line());
  const auto end = base::parse_integer(line());
  EXPECT_EQ(*number, pid_namespace::first_number(starter, static_cast<pid_t>(*end)));
}

TEST_F(StarterTest, WhatItTellsOfAnAgentNamesItsProcessOutside) {
  if (!start_starter()) return;
  start_agent("a", "echo up >&3; exec sleep 1000");
  ASSERT_EQ(next(), "started a");
  ASSERT_EQ(line(), "up");
  const auto words = base::read_file(base::format("/proc/{}/cmdline", about), 1 << 16U);
  ASSERT_TRUE(words.ok());
  EXPECT_EQ(children_of(about).size(), 1U);
  order("end", "a");
  EXPECT_EQ(next(), "ended a");
  EXPECT_EQ(WTERMSIG(told["status"].get<int>()), SIGTERM);
}

TEST_F(StarterTest, AnAgentHasTheProcOfTheNamespaceOutside) {
  if (!start_starter()) return;
  start_agent("a", "echo $OUTER >&3");
  ASSERT_EQ(next(), "started a");
  EXPECT_EQ(line(), std::to_string(about));
}

TEST_F(StarterTest, TheEndOfAKilledAgentIsToldWhenAllOfItsTaskIsDead) {
  if (!start_starter()) return;
  start_agent("a", "echo up >&3; exec sleep 1000");
  ASSERT_EQ(next(), "started a");
  const pid_t other = about;
  ASSERT_EQ(line(), "up");
  start_agent("b", stubborn_then("exec sleep 1000"));
  ASSERT_EQ(next(), "started b");
  for (int i = 0; i < kStubbornProcesses; ++i) ASSERT_EQ(line(), "r");
  const auto doomed = descendants_of(about);
  ASSERT_GE(doomed.size(), static_cast<std::size_t>(kStubbornProcesses));
  order("kill", "b");
  ASSERT_EQ(next(), "ended b");
  EXPECT_EQ(WTERMSIG(told["status"].get<int>()), SIGKILL);
  EXPECT_EQ(told["survivors"], 0);
  for (const pid_t pid : doomed) {
    const auto stat = read_stat(pid);
    EXPECT_TRUE(!stat || !stat->alive()) << pid;
  }
  EXPECT_TRUE(read_stat(other)->alive());
}

TEST_F(StarterTest, WithoutItsClusterItEndsWithEverything) {
  if (!start_starter()) return;
  start_agent("a", stubborn_then("exec sleep 1000"));
  ASSERT_EQ(next(), "started a");
  for (int i = 0; i < kStubbornProcesses; ++i) ASSERT_EQ(line(), "r");
  const auto doomed = descendants_of(about);
  cluster.reset();
  for (const pid_t pid : doomed) EXPECT_TRUE(ends(pid)) << pid;
  EXPECT_TRUE(ends(guardian));
}

TEST_F(StarterTest, ItsDeathAndItsGuardiansTakeEverything) {
  for (const bool kill_guardian : {false, true}) {
    if (!start_starter()) return;
    start_agent("a", stubborn_then("exec sleep 1000"));
    ASSERT_EQ(next(), "started a");
    for (int i = 0; i < kStubbornProcesses; ++i) ASSERT_EQ(line(), "r");
    const auto doomed = descendants_of(about);
    const auto starters = children_of(guardian);
    ASSERT_EQ(starters.size(), 1U);
    ::kill(kill_guardian ? guardian : starters[0], SIGKILL);
    for (const pid_t pid : doomed) EXPECT_TRUE(ends(pid)) << pid;
    EXPECT_EQ(next(), "gone");
    ::waitpid(guardian, nullptr, 0);
    guardian = 0;
  }
}

TEST_F(StarterTest, ItWaitsForTheNextClusterAsLongAsItHasAgents) {
  const std::string path = folder + "/agents.sock";
  if (!start_starter(path)) return;
  start_agent("a", "echo up >&3; exec sleep 1000");
  ASSERT_EQ(next(), "started a");
  const pid_t agent = about;
  ASSERT_EQ(line(), "up");
  cluster.reset();
  connect_to(path);
  order("watch", "a");
  EXPECT_EQ(next(), "started a");
  EXPECT_EQ(about, agent);
  order("watch", "other");
  EXPECT_EQ(next(), "unknown other");
  cluster.reset();
  ::kill(agent, SIGKILL);
  EXPECT_TRUE(ends(guardian));
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(StarterTest, TheNewestClusterHasTheJob) {
  const std::string path = folder + "/agents.sock";
  if (!start_starter(path)) return;
  start_agent("a", "echo up >&3; exec sleep 1000");
  ASSERT_EQ(next(), "started a");
  ASSERT_EQ(line(), "up");
  auto older = std::move(cluster);
  connect_to(path);
  order("watch", "a");
  EXPECT_EQ(next(), "started a");
  std::swap(cluster, older);
  EXPECT_EQ(next(), "replaced ");
  EXPECT_EQ(next(), "gone");
}

// It looked again and again, as fast as it could.
TEST_F(StarterTest, AConnectionForWhichThereIsNoDescriptorIsTriedAgainAfterAPause) {
  const std::string path = folder + "/agents.sock";
  if (!start_starter(path)) return;
  start_agent("a", "echo up >&3; exec sleep 1000");
  ASSERT_EQ(next(), "started a");
  ASSERT_EQ(line(), "up");
  const pid_t starter = read_stat(about)->parent;
  rlimit before{};
  ASSERT_EQ(::prlimit(starter, RLIMIT_NOFILE, nullptr, &before), 0);
  // As many as poll() has to do with, which are in use.
  const rlimit none{STDERR_FILENO + 1, before.rlim_max};
  ASSERT_EQ(::prlimit(starter, RLIMIT_NOFILE, &none, nullptr), 0);
  auto older = std::move(cluster);
  connect_to(path);
  order("watch", "a");
  // It sleeps between two tries.
  const std::int64_t slept = sleeps_of(starter);
  const base::Instant deadline = base::soon();
  while (sleeps_of(starter) < slept + 3 && std::chrono::steady_clock::now() < deadline) {
    (void)wait_readable(cluster->fd(), std::chrono::steady_clock::now() + base::milliseconds(10));
  }
  EXPECT_GE(sleeps_of(starter), slept + 3);
  ASSERT_EQ(::prlimit(starter, RLIMIT_NOFILE, &before, nullptr), 0);
  EXPECT_EQ(next(), "started a");
}

TEST_F(StarterTest, WhoSpeaksSomethingElseIsNotHeard) {
  if (!start_starter()) return;
  ASSERT_TRUE(cluster->send({"no JSON", {}, 0}).ok());
  EXPECT_EQ(next(), "gone");
}

TEST_F(StarterTest, PassesSignalsOfItsGuardianOnToAgents) {
  if (!start_starter()) return;
  start_agent("a", "echo up >&3; exec sleep 1000");
  ASSERT_EQ(next(), "started a");
  ASSERT_EQ(line(), "up");
  ::kill(guardian, SIGTERM);
  EXPECT_EQ(next(), "ended a");
}

TEST_F(StarterTest, GivesUpWhenItIsToldTo) {
  if (!start_starter()) return;
  start_agent("a", "echo up >&3; exec sleep 1000");
  ASSERT_EQ(next(), "started a");
  ASSERT_EQ(line(), "up");
  order("give_up", "a");
  EXPECT_EQ(next(), "ended a");
  EXPECT_EQ(WTERMSIG(told["status"].get<int>()), SIGKILL);
}

}  // namespace
}  // namespace gangrun::process
