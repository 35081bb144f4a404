// A task that fails, perhaps for want of one that its place is taking away.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "agents/agents.h"
#include "base/format.h"
#include "base/overloaded.h"
#include "job/test_tasks.h"
#include "wire/agent_session.h"
#include "wire/test_registry.h"

namespace gangrun::agents {
namespace {

using job::kWorker0;
using job::kWorker1;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

// A place that hears late of what takes its agents away, if it is one.
class LookingLauncher final : public cluster::Launcher {
 public:
  explicit LookingLauncher(bool looks) : looks_(looks) {}
  void on_event(std::function<void(cluster::LaunchEvent)> listener) override {
    listener_ = std::move(listener);
  }
  void start(const job::TaskId&, int, cluster::Launch) override {}
  void adopt(const job::TaskId&, int, const base::Json&) override {}
  void release_others() override {}
  void stop(const job::TaskId&, int, milliseconds) override {}
  bool look_for_losses() override {
    ++looks;
    return looks_;
  }
  [[nodiscard]] std::int64_t pid_here(const job::TaskId&, std::int64_t pid) const override {
    return pid;
  }
  void tell(const cluster::LaunchEvent& event) { listener_(event); }

  int looks = 0;

 private:
  const bool looks_;
  std::function<void(cluster::LaunchEvent)> listener_;
};

class AgentsLossesTest : public testing::Test {
 protected:
  AgentsLossesTest() {
    spec_.generation = 1;
    for (const job::TaskId& task : {kWorker0, kWorker1}) {
      spec_.tasks["worker"].push_back(address_of(task));
    }
  }

  static job::Address address_of(const job::TaskId& task) {
    return {"10.0.0.7", static_cast<std::uint16_t>(4711 + task.index)};
  }

  // A master, which may follow another one.
  void begin_master(bool looks = true) {
    agents_.reset();
    server_.reset();
    std::filesystem::remove(folder_ / "socket");
    server_.emplace(
        loop_, base::Secret("secret"), DeskOptions{milliseconds(300), seconds(60)},
        ServerCallbacks{[] { return job::JobStatus{}; }, [](bool, const std::string&) {}}, log_);
    AgentsOptions options;
    options.launch.spec.name = "wine";
    options.launch.spec.success = "all";
    options.launch.spec.command.words = {"true"};
    options.launch.spec.tasks.emplace_back().type = "worker";
    options.launch.spec.tasks.front().instances = 2;
    options.launch.job_id = "wine-1";
    options.launch.secret = base::Secret("secret");
    options.launch.host = "127.0.0.1";
    options.launch.host_reason = "a test";
    options.launch.socket_path = folder_ / "socket";
    auto launcher = std::make_unique<LookingLauncher>(looks);
    launcher_ = launcher.get();
    agents_.emplace(loop_, clock_, log_, *server_, std::move(launcher), std::move(options));
    agents_->on_event([this](const cluster::TasksEvent& event) { note(event); });
    ASSERT_TRUE(server_->listen_unix(folder_ / "socket").ok());
  }
  // Both workers run.
  void begin(bool looks = true) {
    begin_master(looks);
    for (const job::TaskId& task : {kWorker0, kWorker1}) {
      agents_->start({task, 1, {}, {}});
      open(task);
    }
    wait("the reports", [this] { return sessions_attached_ == 2; });
    server_->publish(spec_);
    for (const job::TaskId& task : {kWorker0, kWorker1}) run(task, 1);
  }
  void open(const job::TaskId& task) {
    auto& session = sessions_[task];
    wire::AgentSessionCallbacks callbacks;
    callbacks.on_start = [&session](const wire::StartMessage&) { session->started(4711); };
    callbacks.on_stop = callbacks.on_end = [](milliseconds) {};
    callbacks.on_heartbeat = [] { return wire::HeartbeatMessage{}; };
    callbacks.on_outdated_spec = [] {};
    callbacks.on_lost = callbacks.on_refused = [](const std::string&) {};
    callbacks.on_attached = [this] { ++sessions_attached_; };
    callbacks.on_ask = [&session](const wire::AskMessage& question) {
      session->answer({.id = question.id, .said = base::Json::object(), .refused = {}});
    };
    session = std::make_unique<wire::AgentSession>(
        loop_, net::Endpoint::on_unix(folder_ / "socket"), base::Secret("secret"),
        wire::AgentIdentity{task, 1, address_of(task), 99}, std::move(callbacks));
    session->open();
  }
  void run(const job::TaskId& task, int attempt) {
    agents_->run({task, attempt, 1, attempt - 1}, std::make_shared<const job::ClusterSpec>(spec_));
    wait("a run", [&] { return is_running(task); });
  }
  [[nodiscard]] bool is_running(const job::TaskId& task) const {
    const cluster::TaskFacts* facts = agents_->facts(task);
    return facts != nullptr && facts->pid != 0;
  }
  // Its agent tells so, and the master hears of it.
  void fail(const job::TaskId& task, job::Reason reason = job::Reason::kExitStatus) {
    job::ExitReport report;
    report.why = {.reason = reason, .code = 1};
    sessions_.at(task)->exited(report, loop_.now());
    wait("the end of a run", [&] { return !is_running(task); });
  }
  void tell_loss(const job::TaskId& task) {
    launcher_->tell(cluster::PreemptionNotice{task, 1, loop_.now() + seconds(30),
                                              job::Why{.reason = job::Reason::kEvicted}});
  }
  void tell_end(const job::TaskId& task, job::Reason reason) {
    launcher_->tell(job::AgentEnded{task, 1, {.reason = reason}, loop_.now()});
  }
  void tell_losses() { launcher_->tell(cluster::LossesTold{}); }

  // The ends that the gang hears of.
  void note(const cluster::TasksEvent& event) {
    const auto name =
        base::Overloaded{[](const job::Exited& run) {
                           return base::format("{} exited: {}", job::to_string(run.task),
                                               job::to_string(run.report.why.reason));
                         },
                         [](const job::AgentEnded& agent) {
                           return base::format("{} ended: {}", job::to_string(agent.task),
                                               job::to_string(agent.why.reason));
                         },
                         [](const auto&) { return std::string(); }};
    std::visit(base::Overloaded{[&](const cluster::Happened& happened) {
                                  std::string told = std::visit(name, happened.event);
                                  if (!told.empty()) ends_.push_back(std::move(told));
                                },
                                [](const auto&) {}},
               event);
  }
  void wait(const std::string& what, const std::function<bool()>& done) {
    ASSERT_TRUE(loop_.run_until(done, wire::test_deadline())) << "waited for: " << what;
  }

  wire::TestFolder folder_;
  net::EventLoop loop_;
  base::SystemClock clock_;
  wire::LogRecorder log_;
  job::ClusterSpec spec_;
  std::vector<std::string> ends_;
  int sessions_attached_ = 0;
  LookingLauncher* launcher_ = nullptr;
  std::optional<Server> server_;
  std::optional<Agents> agents_;
  std::map<job::TaskId, std::unique_ptr<wire::AgentSession>> sessions_;
};

TEST_F(AgentsLossesTest, WhereThePlaceHasToldAllAFailureIsToldAtOnce) {
  begin(false);
  fail(kWorker0);
  EXPECT_THAT(ends_, ElementsAre("worker:0 exited: exit_status"));
  fail(kWorker1, job::Reason::kSignal);
  EXPECT_THAT(ends_, ElementsAre("worker:0 exited: exit_status", "worker:1 exited: signal"));
}

TEST_F(AgentsLossesTest, AFailureIsToldWhenThePlaceHasLookedAndFoundNothing) {
  begin();
  fail(kWorker0);
  EXPECT_EQ(launcher_->looks, 1);
  EXPECT_THAT(ends_, IsEmpty());
  tell_losses();
  EXPECT_THAT(ends_, ElementsAre("worker:0 exited: exit_status"));
  EXPECT_EQ(launcher_->looks, 1);
}

// The peer of a pod that was deleted was taken for the cause where it was heard of first.
TEST_F(AgentsLossesTest, ALossThatIsFoundIsToldBeforeTheFailure) {
  begin();
  fail(kWorker0);
  tell_loss(kWorker1);
  EXPECT_THAT(ends_, IsEmpty());
  tell_losses();
  EXPECT_THAT(ends_, ElementsAre("worker:1 ended: evicted", "worker:0 exited: exit_status"));
  tell_end(kWorker1, job::Reason::kEvicted);
  EXPECT_EQ(ends_.size(), 2U);
}

TEST_F(AgentsLossesTest, WhoKnowsOfALossLooksForNone) {
  begin();
  tell_loss(kWorker1);
  fail(kWorker0);
  EXPECT_EQ(launcher_->looks, 0);
  EXPECT_THAT(ends_, ElementsAre("worker:1 ended: evicted", "worker:0 exited: exit_status"));
}

TEST_F(AgentsLossesTest, WhatExplainsItselfIsToldAtOnce) {
  begin();
  fail(kWorker0, job::Reason::kOutOfMemory);
  EXPECT_THAT(ends_, ElementsAre("worker:0 exited: out_of_memory"));
  job::ExitReport success;
  success.success = true;
  sessions_.at(kWorker1)->exited(success, loop_.now());
  wait("its end", [this] { return ends_.size() == 2; });
  EXPECT_EQ(launcher_->looks, 0);
}

// The task that the second one lacked may have been taken away after the look had begun.
TEST_F(AgentsLossesTest, AFailureDuringALookWaitsForTheNext) {
  begin();
  fail(kWorker0);
  fail(kWorker1);
  EXPECT_EQ(launcher_->looks, 1);
  tell_losses();
  EXPECT_THAT(ends_, ElementsAre("worker:0 exited: exit_status"));
  EXPECT_EQ(launcher_->looks, 2);
  tell_losses();
  EXPECT_THAT(ends_, ElementsAre("worker:0 exited: exit_status", "worker:1 exited: exit_status"));
  EXPECT_EQ(launcher_->looks, 2);
}

// The first one has decided: the gang stops, or the job ends.
TEST_F(AgentsLossesTest, OfWhatIsToldToStopNothingIsLookedForOrHeldBack) {
  begin();
  fail(kWorker0);
  agents_->stop({kWorker0, 1, milliseconds(0)});
  EXPECT_THAT(ends_, ElementsAre("worker:0 exited: exit_status"));
  agents_->end({kWorker1, 1, milliseconds(0)});
  fail(kWorker1);
  EXPECT_THAT(ends_, ElementsAre("worker:0 exited: exit_status", "worker:1 exited: exit_status"));
  EXPECT_EQ(launcher_->looks, 1);
  tell_losses();
  EXPECT_EQ(ends_.size(), 2U);
  // Its next run is another matter.
  run(kWorker0, 2);
  fail(kWorker0);
  EXPECT_EQ(launcher_->looks, 2);
  EXPECT_EQ(ends_.size(), 2U);
}

TEST_F(AgentsLossesTest, OneThatIsTakenAwayItselfHasNotFailed) {
  begin();
  fail(kWorker0, job::Reason::kSignal);
  tell_end(kWorker0, job::Reason::kEvicted);
  tell_losses();
  EXPECT_THAT(ends_, ElementsAre("worker:0 ended: evicted"));
}

TEST_F(AgentsLossesTest, AnAgentThatEndsAfterItsRunEndsAfterIt) {
  begin();
  fail(kWorker0);
  tell_end(kWorker0, job::Reason::kAgentEnded);
  EXPECT_THAT(ends_, ElementsAre("worker:0 exited: exit_status", "worker:0 ended: agent_ended"));
  tell_losses();
  EXPECT_EQ(ends_.size(), 2U);
}

// The journal has nothing of it yet: its agent tells it again.
TEST_F(AgentsLossesTest, AMasterThatComesUpMeanwhileLooksAgain) {
  begin();
  fail(kWorker0);
  EXPECT_EQ(launcher_->looks, 1);
  begin_master();
  server_->publish(spec_);
  agents_->resume({{.task = kWorker0, .has_reported = true, .handle = {}},
                   {.task = kWorker1, .has_reported = true, .handle = {}}});
  wait("a look", [this] { return launcher_->looks == 1; });
  EXPECT_THAT(ends_, IsEmpty());
  tell_loss(kWorker1);
  tell_losses();
  EXPECT_THAT(ends_, ElementsAre("worker:1 ended: evicted", "worker:0 exited: exit_status"));
}

}  // namespace
}  // namespace gangrun::agents
