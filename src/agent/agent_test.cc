#include "agent/agent.h"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <functional>
#include <memory>

#include "agents/server.h"
#include "base/files.h"
#include "base/test_deadline.h"
#include "process/containment.h"
#include "process/signals.h"
#include "process/test_family.h"

namespace gangrun::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Contains;
using testing::HasSubstr;

constexpr int kGaveUp = 70;
constexpr int kDidNotBegin = 71;
const job::TaskId kWorker{"worker", 0};

class Silent final : public base::Logger {
 public:
  void write(base::LogLevel, std::string_view) override {}
};

// As the program does it (agent/gangrun_agent_main.cc).
int run_agent(const process::Containment& containment, const wire::AgentConfig& config,
              const std::function<Outputs(net::EventLoop& loop)>& outputs) {
  Silent logger;
  net::EventLoop loop;
  Agent agent(loop, logger, containment, config, outputs ? outputs(loop) : Outputs());
  const auto endings = loop.watch_signals(process::ending_signals(),
                                          [&agent](int number) { agent.end_by_signal(number); });
  if (!endings.ok() || !agent.start().ok()) return kDidNotBegin;
  loop.run();
  return agent.last_words() ? kGaveUp : agent.exit_status();
}

// An agent in a process of its own, with its guardian, and the registry that it reports to.
class AgentTest : public testing::Test {
 protected:
  AgentTest() {
    std::string name = "/tmp/gangrun-agent-test-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    config_.job_id = "job-1";
    config_.task = kWorker;
    config_.socket_path = folder_ + "/socket";
    config_.secret = base::Secret("0123456789abcdef");
    config_.host = "127.0.0.1";
    config_.host_reason = "a test";
    config_.working_folder = folder_;
    config_.log_prefix = folder_ + "/worker-0";
    config_.spec.name = "test";
    config_.spec.tasks.emplace_back().type = "worker";
    config_.spec.timeouts.stop = seconds(20);
  }
  ~AgentTest() override {
    family_.reset();
    std::filesystem::remove_all(folder_);
  }

  // Before anything else, as the process splits.
  void begin(const std::string& script) { begin_with({"/bin/sh", "-c", script}); }
  void begin_with(std::vector<std::string> words) {
    config_.spec.tasks.front().command.words = std::move(words);
    process::Setting setting;
    setting.die_with_parent = true;
    setting.agent_body = [this](process::Containment& containment) {
      return run_agent(containment, config_, outputs_);
    };
    family_.emplace(std::move(setting));
    loop_.emplace();
    server_.emplace(
        *loop_, config_.secret, agents::DeskOptions{milliseconds(50), seconds(60)},
        agents::ServerCallbacks{[] { return job::JobStatus(); }, [](bool, const std::string&) {}},
        logger_);
    server_->serve_agents([this](agents::DeskEvent event) { events_.push_back(std::move(event)); });
    server_->expect(kWorker, 1);
    ASSERT_TRUE(server_->listen_unix(config_.socket_path).ok());
  }
  // The first event of this type that there was, or will be.
  template <typename Wanted>
  Wanted wait_for() {
    std::optional<Wanted> found;
    EXPECT_TRUE(loop_->run_until(
        [&] {
          for (const agents::DeskEvent& event : events_) {
            if (!found && std::holds_alternative<Wanted>(event)) found = std::get<Wanted>(event);
          }
          return found.has_value();
        },
        base::soon()));
    return found.value_or(Wanted());
  }
  // Starts the command, when the agent has reported.
  void start_run() {
    const auto reported = wait_for<agents::PlaceReported>();
    agent_pid_ = static_cast<pid_t>(reported.pid);
    server_->publish({1, {{"worker", {reported.address}}}});
    EXPECT_TRUE(server_->send_start(kWorker, 1, 0));
  }
  // The command's output so far.
  std::vector<std::string> lines() const {
    std::vector<std::string> all;
    for (const agents::DeskEvent& event : events_) {
      if (!std::holds_alternative<agents::LogLines>(event)) continue;
      const auto& told = std::get<agents::LogLines>(event).lines;
      all.insert(all.end(), told.begin(), told.end());
    }
    return all;
  }
  void wait_for_line(const std::string& line) {
    EXPECT_TRUE(loop_->run_until(
        [&] {
          const auto all = lines();
          return std::find(all.begin(), all.end(), line) != all.end();
        },
        base::soon()));
  }
  // The exit status of the agent, as its guardian ends with it. It takes leave of the registry
  // before.
  int exit_status() {
    wait_for<agents::SessionEnded>();
    const int status = family_->guardian_status();
    EXPECT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
    return WEXITSTATUS(status);
  }

  std::string folder_;
  // Made in the agent's process, which says "keeping" when it begins, and is cut short by a call.
  void keep_outputs_for_ever() {
    outputs_ = [this](net::EventLoop&) {
      const auto waiting = std::make_shared<Outputs::Done>();
      return Outputs{.keep =
                         [this, waiting](Outputs::Done done) {
                           *waiting = std::move(done);
                           std::filesystem::create_directory(folder_ + "/keeping");
                         },
                     .cut_short = [waiting] { (*waiting)("cut short: big", ""); }};
    };
  }
  // Another run may follow the one that has left them.
  void keep_outputs_that_can_wait() {
    config_.spec.restarts.max = 1;
    outputs_ = [this](net::EventLoop& loop) {
      return Outputs{.keep =
                         [this, &loop](Outputs::Done done) {
                           std::filesystem::create_directory(folder_ + "/kept");
                           loop.post([done = std::move(done)] { done("over the limit: big", ""); });
                         },
                     .can_wait = true};
    };
  }
  void wait_until_it_keeps() {
    const auto keeps = [this] { return std::filesystem::exists(folder_ + "/keeping"); };
    while (!keeps() && loop_->now() < base::soon()) {
      (void)loop_->run_until(keeps, loop_->now() + milliseconds(10));
    }
    EXPECT_TRUE(keeps());
  }

  wire::AgentConfig config_;
  std::function<Outputs(net::EventLoop& loop)> outputs_;
  Silent logger_;
  std::optional<process::Family> family_;
  std::optional<net::EventLoop> loop_;
  std::vector<agents::DeskEvent> events_;
  std::optional<agents::Server> server_;
  pid_t agent_pid_ = 0;
};

TEST_F(AgentTest, RunsTheCommandTellsItsEndAndEndsWhenItIsTold) {
  begin("echo hello; exit 3");
  start_run();
  const auto exited = wait_for<job::Exited>();
  EXPECT_EQ(exited.attempt, 1);
  EXPECT_EQ(exited.report.why.reason, job::Reason::kExitStatus);
  EXPECT_EQ(exited.report.why.code, 3);
  EXPECT_THAT(lines(), Contains("hello"));
  EXPECT_TRUE(server_->send_end(kWorker, seconds(20)));
  EXPECT_TRUE(wait_for<agents::SessionEnded>().farewell.has_value());
  EXPECT_EQ(exit_status(), 0);
}

TEST_F(AgentTest, ACommandThatIsNotThereCouldNotBeStarted) {
  begin_with({folder_ + "/none"});
  start_run();
  const auto exited = wait_for<job::Exited>();
  EXPECT_EQ(exited.report.why.reason, job::Reason::kCouldNotStart);
  EXPECT_THAT(to_words(exited.report.why), HasSubstr(folder_ + "/none"));
  // It waits for another start all the same.
  EXPECT_TRUE(server_->send_end(kWorker, seconds(20)));
  EXPECT_EQ(exit_status(), 0);
}

TEST_F(AgentTest, AnEndStopsTheRunAndTellsHowItEnded) {
  begin("trap 'exit 4' TERM; sleep 60 & echo ready; wait");
  start_run();
  wait_for_line("ready");
  EXPECT_TRUE(server_->send_end(kWorker, seconds(20)));
  EXPECT_EQ(wait_for<job::Exited>().report.why.code, 4);
  EXPECT_TRUE(wait_for<agents::SessionEnded>().farewell.has_value());
  EXPECT_EQ(exit_status(), 0);
}

// Whoever hears of the end finds them.
TEST_F(AgentTest, OutputsAreKeptBeforeTheEndIsTold) {
  outputs_ = [this](net::EventLoop& loop) {
    return Outputs{.keep = [this, &loop](Outputs::Done done) {
      std::filesystem::rename(folder_ + "/model", folder_ + "/kept");
      loop.post([done = std::move(done)] { done("over the limit: big", "it has written no log"); });
    }};
  };
  begin("mkdir model; exit 3");
  start_run();
  const auto exited = wait_for<job::Exited>();
  EXPECT_EQ(exited.report.why.code, 3);
  EXPECT_EQ(exited.report.lost_outputs, "over the limit: big");
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/kept"));
  wait_for_line("gangrun: outputs were not all kept: over the limit: big");
  wait_for_line("gangrun: outputs: it has written no log");
  EXPECT_TRUE(server_->send_end(kWorker, seconds(20)));
  EXPECT_EQ(exit_status(), 0);
}

// A gang that starts again does not wait for what its next run writes again.
TEST_F(AgentTest, OutputsOfARunThatMayBeFollowedWaitForTheEndOfTheAgent) {
  keep_outputs_that_can_wait();
  begin("exit 3");
  start_run();
  EXPECT_EQ(wait_for<job::Exited>().report.lost_outputs, "");
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/kept"));
  EXPECT_TRUE(server_->send_end(kWorker, seconds(20)));
  wait_for_line("gangrun: outputs were not all kept: over the limit: big");
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/kept"));
  EXPECT_TRUE(wait_for<agents::SessionEnded>().farewell.has_value());
  EXPECT_EQ(exit_status(), 0);
}

TEST_F(AgentTest, OutputsOfARunThatWaitAreKeptAtOnceWhereItHasSucceeded) {
  keep_outputs_that_can_wait();
  begin("exit 0");
  start_run();
  EXPECT_EQ(wait_for<job::Exited>().report.lost_outputs, "over the limit: big");
  EXPECT_TRUE(server_->send_end(kWorker, seconds(20)));
  EXPECT_EQ(exit_status(), 0);
}

// It was missing without a word.
TEST_F(AgentTest, AResultThatIsGivenUpWithTheAgentIsTold) {
  begin("echo 7 >\"$GANGRUN_RESULT_FILE\"");
  start_run();
  wait_for<agents::AgentAsked>();
  EXPECT_TRUE(server_->send_end(kWorker, milliseconds(0)));
  EXPECT_TRUE(wait_for<job::Exited>().report.success);
  EXPECT_THAT(lines(),
              Contains("gangrun: the result was not kept: the task was ended while it was sent"));
  EXPECT_EQ(exit_status(), 0);
}

TEST_F(AgentTest, AResultThatIsGivenUpWithItsPlaceStandsInTheLog) {
  config_.place_tells_end = true;
  begin("echo 7 >\"$GANGRUN_RESULT_FILE\"");
  start_run();
  wait_for<agents::AgentAsked>();
  ASSERT_EQ(::kill(agent_pid_, SIGTERM), 0);
  EXPECT_EQ(exit_status(), 128 + SIGTERM);
  EXPECT_THAT(*base::read_file(config_.log_prefix + ".err", 1000),
              HasSubstr("the result was not kept: the task was ended"));
}

TEST_F(AgentTest, OutputsAreCutShortWhenTheTimeToStopIsOver) {
  keep_outputs_for_ever();
  begin("exit 0");
  start_run();
  wait_until_it_keeps();
  EXPECT_TRUE(server_->send_end(kWorker, milliseconds(1)));
  EXPECT_EQ(wait_for<job::Exited>().report.lost_outputs, "cut short: big");
  EXPECT_EQ(exit_status(), 0);
}

TEST_F(AgentTest, OutputsAreGivenUpWithAnAgentThatIsToEndAtOnce) {
  keep_outputs_for_ever();
  begin("exit 0");
  start_run();
  wait_until_it_keeps();
  EXPECT_TRUE(server_->send_end(kWorker, milliseconds(0)));
  EXPECT_EQ(wait_for<job::Exited>().report.lost_outputs,
            "the task was ended while they were written");
  EXPECT_EQ(exit_status(), 0);
}

TEST_F(AgentTest, ASignalIsAnEndOfItsOwn) {
  begin("trap 'exit 4' TERM; sleep 60 & echo ready; wait");
  start_run();
  wait_for_line("ready");
  ASSERT_EQ(::kill(agent_pid_, SIGTERM), 0);
  EXPECT_EQ(wait_for<job::Exited>().report.why.code, 4);
  EXPECT_EQ(exit_status(), 0);
}

// `status` named only what the stream that was asked last had lost.
TEST_F(AgentTest, WhatALimitedLogLacksOfBothStreamsIsToldTogether) {
  config_.spec.log_limit_mib = 1;
  config_.sends_last_line_only = true;
  // So many lines of a KiB that they are a MiB, and for both streams more than is kept of an end.
  begin(
      "line=$(printf %01023d 0); yes $line | head -n 1024; yes $line | head -n 128 >&2; echo c "
      ">&2");
  start_run();
  std::vector<std::int64_t> missing;
  std::size_t seen = 0;
  const auto is_counted = [&] {
    for (; seen < events_.size(); ++seen) {
      if (!std::holds_alternative<agents::LogLines>(events_[seen])) continue;
      const auto& lines = std::get<agents::LogLines>(events_[seen]);
      if (lines.incomplete == "log_limit (1 MiB) is reached") missing.push_back(lines.lost);
    }
    return !missing.empty() && missing.back() > 0;
  };
  EXPECT_TRUE(loop_->run_until(is_counted, base::soon()));
  EXPECT_TRUE(wait_for<job::Exited>().report.success);
  std::int64_t kept = 0;
  for (const char* ending : {".out", ".err"}) {
    const std::string text = *base::read_file(config_.log_prefix + ending, 2U << 20U);
    for (std::size_t at = 0; (at = text.find("0\n", at)) != std::string::npos; ++at) ++kept;
    EXPECT_THAT(text, HasSubstr("log_limit (1 MiB) is reached\n"));
  }
  EXPECT_THAT(missing, testing::ElementsAre(0, 1024 + 128 - kept));
  EXPECT_THAT(*base::read_file(config_.log_prefix + ".err", 2U << 20U),
              testing::EndsWith("0\nc\n"));
}

// A command on YARN that said something when its container was ended brought its agent down, and
// was killed before its grace was over.
TEST_F(AgentTest, WhatIsSaidAfterThePlaceEndedTheTaskIsNoTrouble) {
  config_.place_tells_end = true;
  begin("trap 'echo saves; : >saved; exit 4' TERM; sleep 60 & echo ready; wait");
  start_run();
  wait_for_line("ready");
  ASSERT_EQ(::kill(agent_pid_, SIGTERM), 0);
  EXPECT_EQ(exit_status(), 128 + SIGTERM);
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/saved"));
  EXPECT_THAT(*base::read_file(config_.log_prefix + ".out", 1000), HasSubstr("saves"));
  // The master hears it from the place.
  EXPECT_FALSE(wait_for<agents::SessionEnded>().farewell.has_value());
  for (const agents::DeskEvent& event : events_) {
    EXPECT_FALSE(std::holds_alternative<job::Exited>(event));
  }
}

}  // namespace
}  // namespace gangrun::agent
