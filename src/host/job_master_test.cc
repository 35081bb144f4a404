#include "host/job_master.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "agents/agents.h"
#include "base/test_deadline.h"
#include "base/test_folder.h"
#include "base/test_log.h"
#include "cluster/launcher.h"
#include "job/described.h"
#include "master/past.h"
#include "net/server.h"
#include "wire/agent_config.h"
#include "wire/agent_questions.h"
#include "wire/agent_session.h"
#include "wire/control.h"

namespace gangrun::host {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kAllWorkers = 3;

// An agent whose task is only said to run. It outlives masters.
class Agent {
 public:
  Agent(net::EventLoop& loop, base::Logger& logger, wire::AgentConfig config)
      : loop_(loop),
        config_(std::move(config)),
        control_(
            loop, config_.secret,
            [this](const job::Address& master) { session_->set_endpoint(endpoint(master)); },
            logger) {}

  void open(std::function<void()> on_ended) {
    wire::AgentSessionCallbacks callbacks;
    callbacks.on_start = [this](const wire::StartMessage&) {
      ++starts;
      session_->started(4711);
    };
    callbacks.on_stop = [](milliseconds) {};
    callbacks.on_end = [this, on_ended = std::move(on_ended)](milliseconds) {
      session_->finish(on_ended);
    };
    callbacks.on_ask = [this](const wire::AskMessage& question) {
      if (question.kind == "silence") return;
      if (question.kind == wire::kTokensKind) {
        tokens.push_back(base::from_json<wire::Tokens>(question.about)->file.reveal());
        return session_->answer({.id = question.id, .said = base::Json::object(), .refused = {}});
      }
      const bool is_known = question.kind == "echo";
      session_->answer({.id = question.id,
                        .said = is_known ? question.about : base::Json(),
                        .refused = is_known ? "" : "unknown"});
    };
    callbacks.on_heartbeat = [] { return wire::HeartbeatMessage{}; };
    callbacks.on_outdated_spec = [this] { ends.emplace_back("outdated"); };
    callbacks.on_lost = [this](const std::string& reason) { ends.push_back(reason); };
    callbacks.on_refused = [this](const std::string& reason) { ends.push_back(reason); };
    wire::AgentIdentity identity{
        config_.task, config_.attempt, {"127.0.0.1", 40'000}, 99, {}, {}, {}};
    identity.address.port += static_cast<std::uint16_t>(config_.task.index);
    identity.control = *control_.listen("127.0.0.1");
    session_ =
        std::make_unique<wire::AgentSession>(loop_, endpoint({"127.0.0.1", config_.master_port}),
                                             config_.secret, identity, std::move(callbacks));
    session_->open();
  }
  void succeed(std::string lost_outputs = {}) {
    job::ExitReport report;
    report.success = true;
    report.lost_outputs = std::move(lost_outputs);
    session_->exited(report, loop_.now());
  }
  void fail() {
    job::ExitReport report;
    report.why.code = 1;
    session_->exited(report, loop_.now());
  }
  void log(std::string_view line) { session_->log(wire::Stream::kErr, line); }
  void incomplete_log(std::string_view what) { session_->incomplete_log(what, 0); }
  [[nodiscard]] bool is_attached() const { return session_->is_attached(); }

  int starts = 0;
  std::vector<std::string> ends;
  std::vector<std::string> tokens;  // as they came

 private:
  [[nodiscard]] net::Endpoint endpoint(const job::Address& master) const {
    return net::Endpoint::on_tls(master.host, master.port, config_.fingerprint);
  }

  net::EventLoop& loop_;
  const wire::AgentConfig config_;
  std::unique_ptr<wire::AgentSession> session_;
  wire::ControlServer control_;
};

using AgentsOfTasks = std::map<job::TaskId, std::unique_ptr<Agent>>;

// Starts agents in this process, one for each task.
class FakeLauncher final : public cluster::Launcher {
 public:
  FakeLauncher(net::EventLoop& loop, base::Logger& logger, AgentsOfTasks& agents)
      : loop_(loop), logger_(logger), agents_(agents) {}

  void on_event(std::function<void(cluster::LaunchEvent)> listener) override {
    listener_ = std::move(listener);
  }
  void start(const job::TaskId& task, int attempt, cluster::Launch launch) override {
    auto config = base::from_json<wire::AgentConfig>([&] {
      launch.agent_config["master_host"] = "127.0.0.1";
      return launch.agent_config;
    }());
    ASSERT_TRUE(config.ok()) << config.error().message;
    agents_[task] = std::make_unique<Agent>(loop_, logger_, *std::move(config));
    if (!agents_are_slow) agents_[task]->open([this, task, attempt] { end(task, attempt); });
    loop_.post([this, task, attempt] {
      listener_(cluster::AgentAllocated{task, attempt, "h1", {{"container", task.index}}});
    });
  }
  void adopt(const job::TaskId& task, int, const base::Json& handle) override {
    adopted[task] = handle;
  }
  void release_others() override {}
  void stop(const job::TaskId& task, int, milliseconds) override { stopped.push_back(task); }
  [[nodiscard]] std::int64_t pid_here(const job::TaskId&, std::int64_t) const override { return 0; }
  // Ends an agent, whichever master had it started.
  void end(const job::TaskId& task, int attempt) {
    listener_(job::AgentEnded{
        task,
        attempt,
        {.reason = job::Reason::kAgentEnded, .detail = "lost its agent, which ended"},
        loop_.now()});
  }
  void take_away(const job::TaskId& task, int attempt) {
    listener_(job::AgentEnded{
        task,
        attempt,
        {.reason = job::Reason::kStopped, .detail = "was stopped with its container"},
        loop_.now()});
  }

  void settle(std::function<void()> done) override {
    settled = std::move(done);
    if (settles_at_once) std::exchange(settled, nullptr)();
  }
  void cut_short() override { std::exchange(settled, nullptr)(); }
  void hurry() override { ++hurries; }
  [[nodiscard]] std::string preparations() const override { return prepares; }
  void fall_silent(const job::TaskId& task) { listener_(gang::HostSilent{"h1", {task}}); }
  void remark(std::string sentence) { listener_(cluster::Remark{std::move(sentence)}); }

  int hurries = 0;
  std::string prepares;
  bool settles_at_once = true;
  std::function<void()> settled;  // is awaited
  bool agents_are_slow = false;   // they do not come to report
  std::map<job::TaskId, base::Json> adopted;
  std::vector<job::TaskId> stopped;

 private:
  net::EventLoop& loop_;
  base::Logger& logger_;
  AgentsOfTasks& agents_;
  std::function<void(cluster::LaunchEvent)> listener_;
};

// Agents own what starts them; the test's outlives masters.
class Borrowed final : public cluster::Launcher {
 public:
  explicit Borrowed(cluster::Launcher& launcher) : launcher_(launcher) {}
  void on_event(std::function<void(cluster::LaunchEvent)> listener) override {
    launcher_.on_event(std::move(listener));
  }
  void start(const job::TaskId& task, int attempt, cluster::Launch launch) override {
    launcher_.start(task, attempt, std::move(launch));
  }
  void adopt(const job::TaskId& task, int attempt, const base::Json& handle) override {
    launcher_.adopt(task, attempt, handle);
  }
  void release_others() override { launcher_.release_others(); }
  void stop(const job::TaskId& task, int attempt, milliseconds grace) override {
    launcher_.stop(task, attempt, grace);
  }
  void settle(std::function<void()> done) override { launcher_.settle(std::move(done)); }
  void cut_short() override { launcher_.cut_short(); }
  void hurry() override { launcher_.hurry(); }
  [[nodiscard]] std::string preparations() const override { return launcher_.preparations(); }
  [[nodiscard]] std::int64_t pid_here(const job::TaskId& task, std::int64_t pid) const override {
    return launcher_.pid_here(task, pid);
  }

 private:
  cluster::Launcher& launcher_;
};

class JobMasterTest : public testing::Test, private master::Listener {
 protected:
  static job::JobSpec spec() {
    job::JobSpec spec;
    spec.name = "wine";
    spec.success = "all";
    spec.command.words = {"true"};
    job::TaskSpec worker;
    worker.type = "worker";
    worker.instances = kAllWorkers;
    worker.outputs = {"model"};
    spec.tasks = {worker};
    return spec;
  }

  // The one after those that the journal tells of, known to agents by `host`.
  void start_master(const std::string& host) {
    JobMasterInput input;
    input.spec = spec();
    input.job_id = "wine-1";
    input.folder = folder_.path();
    input.secret = base::Secret("0123");
    input.commanded_at = clock_.now();
    input.master_lost = seconds(60);
    input.can_be_followed = true;
    input.listening.socket_path = folder_.path() + "/socket";
    input.listening.certificate = certificate_;
    input.listening.port_file = folder_.path() + "/port";
    const std::string at = folder_.path();
    input.records = {at, at, {}, {at + "/results", at + "/keys"}};
    input.make_tasks = [this, host](const Ground& ground) -> base::Result<MadeTasks> {
      agents::AgentsOptions options;
      options.launch.spec = spec();
      options.launch.job_id = "wine-1";
      options.launch.secret = base::Secret("0123");
      options.launch.host = host;
      options.launch.fingerprint = certificate_.fingerprint;
      options.launch.working_folder = options.launch.log_folder = folder_.path();
      options.records = ground.task_records;
      options.keep_outputs = true;
      options.moved = {.attempt = ground.attempt, .lease = ground.master_lost};
      auto made = std::make_unique<agents::Agents>(
          ground.loop, ground.clock, ground.logger, ground.server,
          std::make_unique<Borrowed>(launcher_), std::move(options));
      made_ = made.get();
      return MadeTasks{.tasks = std::move(made), .come_by_tls = true, .remarks = given_remarks_};
    };
    auto made = JobMaster::create(loop_, clock_, log_, std::move(input), *this);
    ASSERT_TRUE(made.ok()) << made.error().message;
    master_ = *std::move(made);
    const auto started = master_->start();
    ASSERT_TRUE(started.ok()) << started.error().message;
  }
  void wait(const std::string& what, const std::function<bool()>& done) {
    ASSERT_TRUE(loop_.run_until(done, base::soon(seconds(60)))) << "waited for: " << what;
  }
  void wait_until_all(const std::string& what, const std::function<bool(const Agent&)>& is_so) {
    wait(what, [&] {
      return agents_.size() == kAllWorkers &&
             std::all_of(agents_.begin(), agents_.end(),
                         [&](const auto& entry) { return is_so(*entry.second); });
    });
  }
  [[nodiscard]] int count_of(job::TaskState state) const {
    const auto tasks = master_->status().tasks;
    return static_cast<int>(std::count_if(
        tasks.begin(), tasks.end(), [state](const auto& task) { return task.state == state; }));
  }

  void on_changed() override {}
  void on_incomplete_log(const job::TaskId& task, std::string_view what) override {
    incomplete_logs_.push_back(base::format("{}: {}", job::to_string(task), what));
  }
  void on_warning(std::string_view sentence) override { warnings_.emplace_back(sentence); }
  void on_remark(std::string_view sentence) override { remarks_.emplace_back(sentence); }
  void on_finished() override { finished_ = true; }

  base::TestFolder folder_;
  net::EventLoop loop_;
  base::SystemClock clock_;
  base::LogRecorder log_;
  const net::JobCertificate certificate_ =
      *net::make_job_certificate("test", std::chrono::hours(1));
  std::vector<std::string> warnings_;
  std::vector<std::string> given_remarks_;
  agents::Agents* made_ = nullptr;
  std::vector<std::string> remarks_;
  std::vector<std::string> incomplete_logs_;
  bool finished_ = false;
  AgentsOfTasks agents_;
  FakeLauncher launcher_{loop_, log_, agents_};
  std::unique_ptr<JobMaster> master_;
};

// Twice: the second one to come knows the agents by what the first had recorded, not by reports.
TEST_F(JobMasterTest, FindsTheAgentsOfItsPredecessorOnAnotherHost) {
  start_master("127.0.0.1");
  wait_until_all("the start of all", [](const Agent& agent) { return agent.starts == 1; });
  wait("the record of it", [this] { return count_of(job::TaskState::kRunning) == kAllWorkers; });
  for (const std::string host : {"127.0.0.2", "127.0.0.3"}) {
    const std::uint16_t old_port = master_->tls_port();
    master_.reset();
    // Whoever has the old place by now is not their master.
    net::Server other(loop_);
    (void)other.listen_tls("127.0.0.1", old_port, certificate_);
    wait_until_all("the loss", [](const Agent& agent) { return !agent.is_attached(); });
    start_master(host);
    wait_until_all("the sessions", [](const Agent& agent) { return agent.is_attached(); });
    wait("the tasks", [this] { return count_of(job::TaskState::kRunning) == kAllWorkers; });
    ASSERT_EQ(launcher_.adopted.size(), std::size_t{kAllWorkers});
    for (const auto& [task, handle] : launcher_.adopted) {
      EXPECT_EQ(handle.at("container"), task.index);
      EXPECT_EQ(handle.at("control").at("host"), "127.0.0.1");
    }
  }
  for (const auto& [task, agent] : agents_) {
    EXPECT_EQ(agent->starts, 1);
    EXPECT_THAT(agent->ends, IsEmpty());
    agent->succeed();
  }
  wait("the end of the job", [this] { return finished_; });
  EXPECT_EQ(master_->status().state, job::JobState::kSucceeded);
  EXPECT_EQ(master_->status().restarts_used, 0);
  EXPECT_THAT(launcher_.stopped, IsEmpty());
  EXPECT_THAT(warnings_, IsEmpty());
}

// A user who started a detached job reads it in its status.
TEST_F(JobMasterTest, TellsWhatThePlaceRemarksAndHasItInItsStatus) {
  start_master("127.0.0.1");
  const std::string sentence = "tasks work in a folder of the job";
  launcher_.remark(sentence);
  EXPECT_THAT(remarks_, ElementsAre(sentence));
  EXPECT_THAT(master_->status().notes, ElementsAre(sentence));
  for (std::size_t i = 0; i < 2 * master::kMaxRemarks; ++i) launcher_.remark("another");
  EXPECT_EQ(master_->status().notes.size(), master::kMaxRemarks);
}

// Nobody else says that they will never come.
TEST_F(JobMasterTest, OutputsOfAnAgentThatEndsBeforeItHasToldTheEndOfItsRunAreLost) {
  start_master("127.0.0.1");
  wait_until_all("the start of all", [](const Agent& agent) { return agent.starts == 1; });
  wait("the record of it", [this] { return count_of(job::TaskState::kRunning) == kAllWorkers; });
  const auto lost = [this](int index) {
    return master_->status().tasks[static_cast<std::size_t>(index)].lost_outputs;
  };
  agents_.at({"worker", 0})->succeed("over outputs_limit (1 MiB): model");
  wait("its end", [&] { return !lost(0).empty(); });
  EXPECT_EQ(lost(0), "over outputs_limit (1 MiB): model");
  EXPECT_EQ(lost(1), "");
  launcher_.end({"worker", 1}, 1);
  launcher_.end({"worker", 0}, 1);
  EXPECT_EQ(lost(1), "its container ended before they were written");
  EXPECT_EQ(lost(0), "over outputs_limit (1 MiB): model");
}

TEST_F(JobMasterTest, TellsWhatItWasGivenToSayAndSoDoesItsSuccessor) {
  given_remarks_ = {"tasks work in containers"};
  start_master("127.0.0.1");
  EXPECT_THAT(remarks_, IsEmpty());  // its listener may not be ready yet
  wait("the remark", [this] { return !remarks_.empty(); });
  EXPECT_THAT(remarks_, ElementsAre("tasks work in containers"));
  EXPECT_THAT(master_->status().notes, ElementsAre("tasks work in containers"));
  master_.reset();
  start_master("127.0.0.2");
  EXPECT_THAT(master_->status().notes, ElementsAre("tasks work in containers"));
}

// Whoever waits for the end of a job finds its files.
TEST_F(JobMasterTest, TheVerdictComesWhenThePlaceHasBroughtTheFiles) {
  launcher_.settles_at_once = false;
  start_master("127.0.0.1");
  wait_until_all("the start of all", [](const Agent& agent) { return agent.starts == 1; });
  for (const auto& [task, agent] : agents_) agent->succeed();
  EXPECT_FALSE(master_->is_settling());
  wait("the end of all", [this] { return launcher_.settled != nullptr; });
  EXPECT_EQ(master_->status().state, job::JobState::kStopping);
  EXPECT_EQ(master_->status().waiting_for, "the lines and files that its tasks have written");
  EXPECT_TRUE(master_->is_settling());
  EXPECT_EQ(master_->status().ended, "");
  EXPECT_FALSE(master::past_of(folder_.path(), seconds(60), clock_)->replayed->verdict.has_value());
  // Nobody waits any longer.
  master_->request_stop("SIGINT", false);
  wait("the end of the job", [this] { return finished_; });
  EXPECT_EQ(master_->status().state, job::JobState::kSucceeded);
}

// Ctrl-C took 51 s where a host was frozen; a second one no less.
TEST_F(JobMasterTest, DoesNotWaitForASilentHostOnceTheJobIsToEnd) {
  start_master("127.0.0.1");
  wait_until_all("the start of all", [](const Agent& agent) { return agent.starts == 1; });
  launcher_.fall_silent({"worker", 0});
  EXPECT_THAT(warnings_, IsEmpty()) << "it has the time of its lease";
  master_->request_stop("Ctrl-C", false);
  EXPECT_EQ(launcher_.hurries, 0);
  master_->request_stop("Ctrl-C", true);
  EXPECT_EQ(launcher_.hurries, 1);
  for (const auto& [task, agent] : agents_) launcher_.fall_silent(task);
  wait("the end of the job", [this] { return finished_; });
  EXPECT_EQ(master_->status().state, job::JobState::kKilled);
  EXPECT_THAT(warnings_, Contains(HasSubstr("the tasks on host h1 ended (worker:0)")));
}

TEST_F(JobMasterTest, TellsWhatPlacesDoBeforeTheirAgentsReport) {
  launcher_.agents_are_slow = true;
  start_master("127.0.0.1");
  wait("the places", [this] { return count_of(job::TaskState::kAllocated) == kAllWorkers; });
  EXPECT_THAT(master_->status().waiting_for, HasSubstr("the report of "));
  launcher_.prepares = "nodes still fetch and unpack env.tar.gz for worker:0 on h1";
  EXPECT_THAT(master_->status().waiting_for,
              testing::AllOf(HasSubstr("the report of "), HasSubstr("; " + launcher_.prepares)));
}

// The places of the agents were not known yet, and the agents know only the old master: they could
// not meet.
TEST_F(JobMasterTest, AsksAnewForAgentsThatHadNotReportedToItsPredecessor) {
  launcher_.agents_are_slow = true;
  start_master("127.0.0.1");
  wait("the places", [this] { return count_of(job::TaskState::kAllocated) == kAllWorkers; });
  master_.reset();
  start_master("127.0.0.2");
  ASSERT_EQ(launcher_.adopted.size(), std::size_t{kAllWorkers});
  ASSERT_EQ(launcher_.stopped.size(), std::size_t{kAllWorkers});
  launcher_.agents_are_slow = false;
  for (const job::TaskId& task : launcher_.stopped) launcher_.take_away(task, 1);
  wait("the tasks", [this] { return count_of(job::TaskState::kRunning) == kAllWorkers; });
  EXPECT_EQ(master_->status().restarts_used, 0);
}

TEST_F(JobMasterTest, AQuestionGoesToTheAgentsAndTheirAnswersComeBack) {
  start_master("127.0.0.1");
  wait_until_all("the start of all", [](const Agent& agent) { return agent.starts == 1; });
  wait("the record of it", [this] { return count_of(job::TaskState::kRunning) == kAllWorkers; });
  const auto ask = [this](const std::string& kind, milliseconds limit) {
    cluster::Question question;
    question.kind = kind;
    question.about["word"] = "hello";
    question.limit = limit;
    std::optional<cluster::Answer> answer;
    master_->ask(question, [&answer](cluster::Answer told) { answer = std::move(told); });
    wait("the answer", [&answer] { return answer.has_value(); });
    return answer->tasks;
  };
  const auto told = ask("echo", seconds(60));
  ASSERT_EQ(told.size(), std::size_t{kAllWorkers});
  for (const cluster::TaskAnswer& each : told) EXPECT_EQ(each.said.at("word"), "hello");
  EXPECT_EQ(ask("weather", seconds(60))[0].refused, "unknown");
  EXPECT_THAT(ask("silence", milliseconds(20))[0].refused, HasSubstr("did not answer within"));
}

TEST_F(JobMasterTest, AgentsThatAreThereGetNewTokensAndOthersTheLastWhenTheyCome) {
  start_master("127.0.0.1");
  wait_until_all("the start of all", [](const Agent& agent) { return agent.starts == 1; });
  made_->set_tokens(base::Secret("first"));
  wait_until_all("the first", [](const Agent& agent) { return agent.tokens.size() == 1; });
  master_.reset();
  start_master("127.0.0.2");
  made_->set_tokens(base::Secret("second"));
  made_->set_tokens(base::Secret("third"));
  wait_until_all("the last", [](const Agent& agent) { return agent.tokens.back() == "third"; });
  for (const auto& [task, agent] : agents_) {
    EXPECT_THAT(agent->tokens, ElementsAre("first", "third"));
  }
}

// A line that a task writes is no message of ours, even if it has its form.
TEST_F(JobMasterTest, WhatALogLacksIsToldOnceAndByNoTask) {
  start_master("127.0.0.1");
  wait_until_all("the start of all", [](const Agent& agent) { return agent.starts == 1; });
  Agent& agent = *agents_.at({"worker", 0});
  agent.log("gangrun: the log is incomplete: says the task");
  agent.incomplete_log("No space left on device");
  agent.log("and on");
  wait("the lines", [this] { return master_->status().tasks.front().last_line == "and on"; });
  EXPECT_THAT(incomplete_logs_, ElementsAre("worker:0: No space left on device"));
}

// Without it, a user who reads why a job has failed would look in the wrong place.
TEST_F(JobMasterTest, WhatIsWrongBesideIsToldWithTheStateAndWithTheCauseOfAFailure) {
  start_master("127.0.0.1");
  wait_until_all("the start of all", [](const Agent& agent) { return agent.starts == 1; });
  master_->set_trouble("the clocks are wrong");
  EXPECT_THAT(master_->status().notes, ElementsAre("the clocks are wrong"));
  master_->set_trouble("");
  EXPECT_THAT(master_->status().notes, IsEmpty());
  master_->set_trouble("the tokens have ended");
  for (const auto& [task, agent] : agents_) agent->fail();
  wait("the end of the job", [this] { return finished_; });
  ASSERT_EQ(master_->status().state, job::JobState::kFailed);
  EXPECT_THAT(to_words(*master_->status().cause), EndsWith("; the tokens have ended"));
}

}  // namespace
}  // namespace gangrun::host
