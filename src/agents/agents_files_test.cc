// A task whose agent fetches files is at its place when the agent has them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "agents/agents.h"
#include "base/described_json.h"
#include "base/format.h"
#include "base/overloaded.h"
#include "job/test_tasks.h"
#include "wire/agent_session.h"
#include "wire/test_registry.h"

namespace gangrun::agents {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Says what it is to start.
class FakeLauncher final : public cluster::Launcher {
 public:
  explicit FakeLauncher(std::vector<wire::AgentConfig>& started) : started_(started) {}
  void on_event(std::function<void(cluster::LaunchEvent)> listener) override {
    listener_ = std::move(listener);
  }
  void start(const job::TaskId&, int, cluster::Launch launch) override {
    started_.push_back(base::from_json<wire::AgentConfig>(launch.agent_config).value());
  }
  void adopt(const job::TaskId&, int, const base::Json&) override {}
  void release_others() override {}
  void stop(const job::TaskId&, int, milliseconds) override {}
  [[nodiscard]] std::int64_t pid_here(const job::TaskId&, std::int64_t) const override { return 0; }
  [[nodiscard]] std::string silence() const override { return silent; }
  void tell(const cluster::LaunchEvent& event) { listener_(event); }

  std::string silent;

 private:
  std::vector<wire::AgentConfig>& started_;
  std::function<void(cluster::LaunchEvent)> listener_;
};

class AgentsFilesTest : public testing::Test {
 protected:
  void begin() {
    server_.emplace(
        loop_, base::Secret("secret"), DeskOptions{milliseconds(300), seconds(60)},
        ServerCallbacks{[] { return job::JobStatus{}; }, [](bool, const std::string&) {}}, log_);
    AgentsOptions options;
    options.launch.spec.name = "wine";
    options.launch.spec.success = "all";
    options.launch.spec.command.words = {"true"};
    options.launch.spec.tasks.emplace_back().type = "worker";
    options.launch.spec.tasks.front().instances = 1;
    options.launch.job_id = "wine-1";
    options.launch.secret = base::Secret("secret");
    options.launch.host = "127.0.0.1";
    options.launch.host_reason = "a test";
    options.launch.socket_path = folder_ / "socket";
    if (has_files_) {
      std::ofstream(folder_ / "data") << "0123456789";
      auto file = cluster::look_at("data", folder_ / "data", false).value();
      file.digest = std::string(64, 'd');
      options.files = std::make_shared<const cluster::FetchedFiles>(cluster::FetchedFiles{file});
    }
    auto launcher = std::make_unique<FakeLauncher>(started_);
    launcher_ = launcher.get();
    agents_.emplace(loop_, clock_, log_, *server_, std::move(launcher), std::move(options));
    agents_->on_event([this](const cluster::TasksEvent& event) { note(event); });
    ASSERT_TRUE(server_->listen_unix(folder_ / "socket").ok());
    agents_->start({job::kWorker0, 1, {}, {}});
    open();
  }
  void open(int attempt = 1) {
    wire::AgentSessionCallbacks callbacks;
    callbacks.on_start = [](const wire::StartMessage&) {};
    callbacks.on_stop = callbacks.on_end = [](milliseconds) {};
    callbacks.on_heartbeat = [] { return wire::HeartbeatMessage{}; };
    callbacks.on_outdated_spec = [] {};
    callbacks.on_lost = callbacks.on_refused = [](const std::string&) {};
    callbacks.on_attached = [this] { is_attached_ = true; };
    callbacks.on_answer = [this](const wire::AnswerMessage& answer) { answers_.push_back(answer); };
    is_attached_ = false;
    session_ = std::make_unique<wire::AgentSession>(
        loop_, net::Endpoint::on_unix(folder_ / "socket"), base::Secret("secret"),
        wire::AgentIdentity{job::kWorker0, attempt, wire::kTaskHome, 99}, std::move(callbacks));
    session_->open();
    wait("a session", [this] { return is_attached_; });
  }
  // Only what the gang hears.
  void note(const cluster::TasksEvent& event) {
    const auto name = base::Overloaded{
        [](const gang::Reported& reported) { return "reported " + to_string(reported.address); },
        [](const gang::Progress&) { return std::string("progress"); },
        [](const job::AgentEnded& ended) { return "ended: " + job::to_words(ended.why); },
        [](const auto&) { return std::string(); }};
    std::visit(base::Overloaded{[&](const cluster::Happened& happened) {
                                  std::string told = std::visit(name, happened.event);
                                  if (!told.empty()) events_.push_back(std::move(told));
                                },
                                [](const auto&) {}},
               event);
  }
  void wait(const std::string& what, const std::function<bool()>& done) {
    EXPECT_TRUE(loop_.run_until(done, wire::test_deadline())) << "waited for: " << what;
  }
  wire::AnswerMessage ask(const wire::FilesWanted& wanted) {
    answers_.clear();
    session_->ask({.id = ++asked_,
                   .kind = std::string(wire::kFilesKind),
                   .about = base::to_json(wanted),
                   .limit = seconds(60)});
    wait("an answer", [this] { return !answers_.empty(); });
    return answers_.empty() ? wire::AnswerMessage{} : answers_.front();
  }
  void end_agent(int attempt = 1) {
    launcher_->tell(job::AgentEnded{job::kWorker0,
                                    attempt,
                                    {.reason = job::Reason::kAgentEnded, .detail = "Completed"},
                                    loop_.now()});
  }

  wire::TestFolder folder_;
  net::EventLoop loop_;
  base::SystemClock clock_;
  wire::LogRecorder log_;
  bool has_files_ = true;
  bool is_attached_ = false;
  std::vector<wire::AgentConfig> started_;
  std::vector<std::string> events_;
  std::vector<wire::AnswerMessage> answers_;
  std::int64_t asked_ = 0;
  FakeLauncher* launcher_ = nullptr;
  std::optional<Server> server_;
  std::optional<Agents> agents_;
  std::unique_ptr<wire::AgentSession> session_;
};

TEST_F(AgentsFilesTest, WithoutFilesATaskIsAtItsPlaceWithItsReport) {
  has_files_ = false;
  begin();
  ASSERT_EQ(started_.size(), 1U);
  EXPECT_FALSE(started_.front().fetches_files);
  EXPECT_THAT(events_, ElementsAre("reported " + to_string(wire::kTaskHome)));
  EXPECT_THAT(ask({}).refused, HasSubstr("no files"));
}

TEST_F(AgentsFilesTest, ATaskIsAtItsPlaceWhenItsAgentHasAllFiles) {
  begin();
  ASSERT_EQ(started_.size(), 1U);
  EXPECT_TRUE(started_.front().fetches_files);
  EXPECT_THAT(events_, IsEmpty());
  EXPECT_EQ(agents_->waiting_for("the report of worker:0"), "the report of worker:0");
  EXPECT_EQ(ask({.room = 1000}).refused, "");
  EXPECT_EQ(ask({.offset = 5, .room = 1000}).refused, "");
  EXPECT_EQ(agents_->waiting_for("the report of worker:0"),
            "the report of worker:0; sending data to worker:0, 50 %");
  EXPECT_THAT(events_, ElementsAre("progress")) << "not told too often";
  EXPECT_EQ(ask({.file = 1}).refused, "");
  EXPECT_THAT(events_, ElementsAre("progress", "reported " + to_string(wire::kTaskHome)));
  EXPECT_EQ(agents_->waiting_for("the start of worker:0"), "the start of worker:0");
}

TEST_F(AgentsFilesTest, APlaceThatDoesNotAnswerIsWhatIsWaitedFor) {
  has_files_ = false;
  begin();
  EXPECT_EQ(agents_->waiting_for(""), "");
  launcher_->silent = "the API server";
  EXPECT_EQ(agents_->waiting_for(""), "the API server");
  EXPECT_EQ(agents_->waiting_for("news of worker:0"), "the API server");
}

TEST_F(AgentsFilesTest, ASessionThatBreaksMeanwhileChangesNothing) {
  begin();
  EXPECT_EQ(ask({.room = 1000}).refused, "");
  session_.reset();
  wait("its loss", [this] { return !server_->is_connected(job::kWorker0); });
  open();
  EXPECT_EQ(ask({.offset = 5, .room = 1000}).refused, "");
  EXPECT_EQ(ask({.file = 1}).refused, "");
  EXPECT_EQ(events_.back(), "reported " + to_string(wire::kTaskHome));
}

TEST_F(AgentsFilesTest, AFileThatHasChangedIsTheReasonOfTheAgentsEnd) {
  begin();
  std::ofstream(folder_ / "data") << "other";
  EXPECT_THAT(ask({.room = 1000}).refused, HasSubstr("/data has changed"));
  end_agent();
  ASSERT_FALSE(events_.empty());
  EXPECT_THAT(events_.back(), HasSubstr("could not be started"));
  EXPECT_THAT(events_.back(), HasSubstr("files: " + (folder_ / "data") + " has changed"));
  EXPECT_EQ(agents_->waiting_for("w"), "w");
}

TEST_F(AgentsFilesTest, SoIsWhatAnAgentCouldNotWrite) {
  begin();
  EXPECT_EQ(ask({.failed = "cannot write data: No space left on device"}).refused, "");
  end_agent();
  EXPECT_THAT(events_.back(), HasSubstr("files: cannot write data: No space left on device"));
}

TEST_F(AgentsFilesTest, AnAgentThatIsLostMeanwhileIsLostForItsOwnReason) {
  begin();
  EXPECT_EQ(ask({.room = 1000}).refused, "");
  end_agent();
  EXPECT_THAT(events_.back(), HasSubstr("Completed"));
}

TEST_F(AgentsFilesTest, AnotherAgentOfTheTaskFetchesThemToo) {
  begin();
  EXPECT_EQ(ask({.file = 1}).refused, "");
  EXPECT_THAT(events_, ElementsAre("reported " + to_string(wire::kTaskHome)));
  session_.reset();
  // The end of the first one has not been told yet.
  agents_->start({job::kWorker0, 2, {}, {}});
  open(2);
  EXPECT_EQ(events_.size(), 1U);
  end_agent(1);
  EXPECT_EQ(ask({.file = 1}).refused, "");
  EXPECT_EQ(events_.back(), "reported " + to_string(wire::kTaskHome));
  EXPECT_EQ(events_.size(), 3U);
}

TEST_F(AgentsFilesTest, TheLateEndOfAnAgentBeforeItChangesNothing) {
  begin();
  EXPECT_EQ(ask({.room = 1000}).refused, "");
  end_agent(0);
  EXPECT_EQ(ask({.file = 1}).refused, "");
  EXPECT_EQ(events_.back(), "reported " + to_string(wire::kTaskHome));
}

}  // namespace
}  // namespace gangrun::agents
