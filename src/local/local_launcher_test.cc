#include "local/local_launcher.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/test_deadline.h"
#include "job/last_words.h"

namespace gangrun::local {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

// Agents that are shell scripts: each does what its configuration says.
struct LocalLauncherTest : testing::Test {
  static constexpr const char* kAgent =
      "#!/bin/sh\n"
      "eval \"$(sed 's/.*\"run\":\"\\([^\"]*\\)\".*/\\1/' /dev/fd/3)\"\n";

  LocalLauncherTest() {
    std::string name = "/tmp/gangrun-local-cluster-XXXXXX";
    folder = ::mkdtemp(name.data());
    EXPECT_TRUE(base::write_file_atomically(folder + "/agent", kAgent, 0700).ok());
  }
  ~LocalLauncherTest() override { std::filesystem::remove_all(folder); }

  LocalLauncher::Options options() const {
    LocalLauncher::Options options;
    options.agent_program = folder + "/agent";
    options.host = "here";
    options.agent_log = folder + "/log";
    options.job_id = base::format("job-{}", ::getpid());
    return options;
  }
  static cluster::Launch launch(const std::string& run) {
    cluster::Launch launch;
    launch.agent_config = {{"run", run}};
    return launch;
  }
  void listen(LocalLauncher& cluster) {
    cluster.on_event([this](cluster::LaunchEvent event) { events.push_back(std::move(event)); });
  }
  // Checks again and again, as it happens outside of the loop.
  bool until(const std::function<bool()>& condition) {
    net::Timer timer;
    const std::function<void()> look = [&] {
      timer = loop.after(std::chrono::milliseconds(5), look);
    };
    look();
    return loop.run_until(condition, base::soon());
  }
  // The next event, which has to be of this type.
  template <typename Wanted>
  Wanted next() {
    EXPECT_TRUE(loop.run_until([&] { return events.size() > seen; }, base::soon()));
    const Wanted* event = seen < events.size() ? std::get_if<Wanted>(&events[seen]) : nullptr;
    ++seen;
    EXPECT_NE(event, nullptr);
    return event != nullptr ? *event : Wanted{};
  }

  const job::TaskId worker{"worker", 0};
  net::EventLoop loop;
  std::string folder;
  std::vector<cluster::LaunchEvent> events;
  std::size_t seen = 0;
};

TEST_F(LocalLauncherTest, TellsWhereAnAgentIsAndThatItHasEnded) {
  LocalLauncher cluster(loop, options());
  listen(cluster);
  cluster.start(worker, 3, launch("echo because >&5"));
  const auto allocated = next<cluster::AgentAllocated>();
  EXPECT_EQ(allocated.task, worker);
  EXPECT_EQ(allocated.attempt, 3);
  EXPECT_EQ(allocated.host, "here");
  const auto ended = next<job::AgentEnded>();
  EXPECT_EQ(ended.task, worker);
  EXPECT_EQ(ended.attempt, 3);
  EXPECT_THAT(to_words(ended.why), HasSubstr("because"));
}

TEST_F(LocalLauncherTest, WithoutAProgramThereIsNoAgent) {
  LocalLauncher::Options other = options();
  other.agent_program = folder + "/none";
  LocalLauncher cluster(loop, other);
  listen(cluster);
  cluster.start(worker, 1, launch("exit"));
  EXPECT_THAT(to_words(next<job::AgentEnded>().why), HasSubstr("/none"));
}

TEST_F(LocalLauncherTest, AStopAsksTheAgent) {
  LocalLauncher cluster(loop, options());
  listen(cluster);
  // It says that it can be asked, by a file: a signal before that would end it, too.
  cluster.start(worker, 1,
                launch("trap 'echo asked >&5; kill $!; exit' TERM; sleep 60 6>&- & : >" + folder +
                       "/ready; wait"));
  next<cluster::AgentAllocated>();
  ASSERT_TRUE(until([&] { return std::filesystem::exists(folder + "/ready"); }));
  cluster.stop(worker, 1, seconds(20));
  EXPECT_THAT(to_words(next<job::AgentEnded>().why), HasSubstr("asked"));
}

TEST_F(LocalLauncherTest, AStopWithoutGraceEndsWhatTheGuardianHasStarted) {
  LocalLauncher cluster(loop, options());
  listen(cluster);
  cluster.start(worker, 1,
                launch(": >" + folder + "/ready; sleep 60; echo the child has ended >&5"));
  next<cluster::AgentAllocated>();
  ASSERT_TRUE(until([&] {
    if (!std::filesystem::exists(folder + "/ready")) return false;
    cluster.stop(worker, 1, seconds(0));  // may be asked before there is a child
    return !events.empty() && std::holds_alternative<job::AgentEnded>(events.back());
  }));
  EXPECT_THAT(to_words(next<job::AgentEnded>().why), HasSubstr("the child has ended"));
}

// The guardian was told as the end of its task while the agent was still killing it.
TEST_F(LocalLauncherTest, WhereTheGuardianWasKilledTheAgentsEndIsAwaited) {
  LocalLauncher cluster(loop, options());
  listen(cluster);
  cluster.start(
      worker, 1,
      launch(base::format("mkfifo {0}/go; (: >{0}/ready; read line <{0}/go; : >{0}/agent-ends) & "
                          "wait",
                          folder)));
  const auto guardian = base::json_member<pid_t>(next<cluster::AgentAllocated>().handle, "pid");
  ASSERT_TRUE(guardian.ok());
  ASSERT_TRUE(until([&] { return std::filesystem::exists(folder + "/ready"); }));
  ::kill(*guardian, SIGKILL);
  ASSERT_TRUE(until([&] { return ::kill(*guardian, 0) != 0; }));
  const base::UniqueFd go(::open((folder + "/go").c_str(), O_WRONLY | O_CLOEXEC));
  ASSERT_EQ(::write(go.get(), "\n", 1), 1);
  next<job::AgentEnded>();
  EXPECT_TRUE(std::filesystem::exists(folder + "/agent-ends"));
}

TEST_F(LocalLauncherTest, AnotherMasterTakesOverByTheHandle) {
  LocalLauncher first(loop, options());
  std::vector<cluster::AgentAllocated> started;
  first.on_event([&](cluster::LaunchEvent event) {
    if (const auto* allocated = std::get_if<cluster::AgentAllocated>(&event))
      started.push_back(*allocated);
  });
  first.start(worker, 1, launch("exec sleep 60"));
  first.start({"worker", 1}, 1, launch("exit"));
  ASSERT_TRUE(loop.run_until([&] { return started.size() == 2; }, base::soon()));
  LocalLauncher second(loop, options());
  listen(second);
  second.adopt(worker, 1, started[0].handle);
  second.stop(worker, 1, seconds(20));
  EXPECT_EQ(next<job::AgentEnded>().task, worker);
  // It has ended by now, and so has its handle.
  second.adopt(worker, 1, started[0].handle);
  EXPECT_EQ(next<job::AgentEnded>().task, worker);
}

// The words to the earlier master went with it: a task that had ended was told as lost.
TEST_F(LocalLauncherTest, AnotherMasterHearsTheLastWordsFromTheirFile) {
  LocalLauncher::Options lasting = options();
  lasting.agents_outlive_us = true;
  LocalLauncher first(loop, lasting);
  cluster::Launch with_log = launch("exec sleep 60");
  with_log.agent_config["log_prefix"] = folder + "/worker-0";
  std::optional<cluster::AgentAllocated> started;
  first.on_event([&](cluster::LaunchEvent event) {
    if (const auto* allocated = std::get_if<cluster::AgentAllocated>(&event)) started = *allocated;
  });
  first.start(worker, 2, std::move(with_log));
  ASSERT_TRUE(loop.run_until([&] { return started.has_value(); }, base::soon()));
  const job::LastWords words{
      .why = "no answer from the master", .lost_master = true, .run = job::RunEnd{4, {}}};
  ASSERT_TRUE(
      base::write_file_atomically(folder + "/worker-0.2.words", job::to_text(words), 0600).ok());
  LocalLauncher second(loop, lasting);
  listen(second);
  // While it lives, and after that.
  for (int i = 0; i < 2; ++i) {
    second.adopt(worker, 2, started->handle);
    if (i == 0) second.stop(worker, 2, seconds(20));
    const auto ended = next<job::AgentEnded>();
    EXPECT_EQ(ended.why.reason, job::Reason::kMasterLost);
    EXPECT_EQ(ended.why.detail, words.why);
    EXPECT_EQ(ended.run, words.run);
  }
}

TEST_F(LocalLauncherTest, ReleasesAgentsOfTheJobThatNobodyAdopted) {
  LocalLauncher first(loop, options());
  std::vector<cluster::AgentAllocated> started;
  std::vector<job::TaskId> ended;
  first.on_event([&](cluster::LaunchEvent event) {
    if (const auto* allocated = std::get_if<cluster::AgentAllocated>(&event))
      started.push_back(*allocated);
    if (const auto* end = std::get_if<job::AgentEnded>(&event)) ended.push_back(end->task);
  });
  // `read` waits in the shell itself, which has no child from then on: that would pass for an
  // agent.
  for (int index = 0; index < 2; ++index) {
    const std::string path = base::format("{}/{}", folder, index);
    first.start({"worker", index}, 1,
                launch(base::format("mkfifo {0}.fifo; : >{0}; read line <>{0}.fifo", path)));
  }
  ASSERT_TRUE(until([&] {
    return started.size() == 2 && std::filesystem::exists(folder + "/0") &&
           std::filesystem::exists(folder + "/1");
  }));
  LocalLauncher second(loop, options());
  listen(second);
  second.adopt(worker, 1, started[0].handle);
  second.release_others();
  ASSERT_TRUE(loop.run_until([&] { return !ended.empty(); }, base::soon()));
  EXPECT_EQ(ended.front(), (job::TaskId{"worker", 1}));
  second.stop(worker, 1, seconds(20));
  EXPECT_EQ(next<job::AgentEnded>().task, worker);
}

}  // namespace
}  // namespace gangrun::local
