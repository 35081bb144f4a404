#include "master/master.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/test_deadline.h"
#include "base/test_folder.h"
#include "base/test_log.h"
#include "cluster/tasks.h"
#include "journal/writer.h"
#include "master/past.h"
#include "net/event_loop.h"

namespace gangrun::master {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kWorkers = 2;

// Tasks whose runs start and end as a test says.
class FakeTasks final : public cluster::Tasks {
 public:
  explicit FakeTasks(net::EventLoop& loop) : loop_(loop) {}

  void on_event(std::function<void(cluster::TasksEvent)> listener) override {
    listener_ = std::move(listener);
  }
  void start(const gang::Allocate& decision) override {
    const auto& [task, attempt, wanted, avoided] = decision;
    slots[task] = attempt;
    loop_.post([this, task = task, attempt = attempt] {
      const job::Address address{"h1", static_cast<std::uint16_t>(2222 + task.index)};
      listener_(cluster::Happened{gang::Allocated{task, attempt, "h1"},
                                  cluster::Whereabouts{task, attempt, {{"slot", task.index}}}});
      listener_(cluster::Happened{gang::Reported{task, attempt, address}});
    });
  }
  void run(const gang::Start& decision,
           const std::shared_ptr<const job::ClusterSpec>& spec) override {
    runs[decision.task].push_back(decision);
    last_spec = spec;
  }
  void stop(const gang::Stop& decision) override {
    ended.push_back(decision.task);
    job::ExitReport report;
    report.why.reason = job::Reason::kStopped;
    loop_.post([this, task = decision.task, report] { end_run(task, report); });
  }
  void end(const gang::End& decision) override {
    loop_.post([this, decision] { lose(decision.task, decision.attempt); });
  }
  void kill(const gang::Kill& decision) override {
    loop_.post([this, decision] { lose(decision.task, decision.attempt); });
  }
  void resume(const std::vector<cluster::Left>& tasks) override { left = tasks; }
  void ask(const std::vector<job::TaskId>& tasks, const cluster::Question& question,
           const cluster::OnTaskAnswer& on_answer) override {
    for (const job::TaskId& task : tasks) {
      notices.push_back(cluster::notice_by(question) + " to " + job::to_string(task));
      on_answer(task, base::Json());
    }
  }
  void note(const cluster::OutOfGeneration& news) override {
    out.push_back(base::format("{}@{} {}", job::to_string(news.task), news.generation,
                               news.failure ? job::to_words(*news.failure) : "succeeded"));
  }
  [[nodiscard]] std::string waiting_for(std::string of_gang) const override {
    return waits_for.empty() ? of_gang : waits_for;
  }
  [[nodiscard]] const cluster::TaskFacts* facts(const job::TaskId& task) const override {
    const auto found = told.find(task);
    return found == told.end() ? nullptr : &found->second;
  }

  void tell(cluster::TasksEvent event) { listener_(std::move(event)); }
  void started(const job::TaskId& task) {
    tell(cluster::Happened{gang::Started{task, runs[task].back().attempt}});
  }
  void end_run(const job::TaskId& task, const job::ExitReport& report) {
    tell(cluster::Happened{job::Exited{task, runs[task].back().attempt, report, loop_.now()}});
  }
  // Its slot, by no fault of its own.
  void lose(const job::TaskId& task, int attempt, std::optional<job::RunEnd> run = {}) {
    tell(cluster::Happened{
        job::AgentEnded{task,
                        attempt,
                        {.reason = job::Reason::kEvicted, .detail = "was evicted"},
                        loop_.now(),
                        std::move(run)}});
  }

  std::map<job::TaskId, int> slots;
  std::map<job::TaskId, std::vector<gang::Start>> runs;
  std::shared_ptr<const job::ClusterSpec> last_spec;
  std::map<job::TaskId, cluster::TaskFacts> told;
  std::vector<job::TaskId> ended;
  std::vector<cluster::Left> left;
  std::vector<std::string> notices;
  std::vector<std::string> out;  // of their generation
  std::string waits_for;

 private:
  net::EventLoop& loop_;
  std::function<void(cluster::TasksEvent)> listener_;
};

class MasterTest : public testing::Test, private Listener {
 protected:
  void start_master(job::Restarts restarts = {}) {
    Settings settings;
    job::JobSpec& spec = settings.job.spec;
    spec.name = "wine";
    spec.success = "all";
    spec.command.words = {"true"};
    spec.restarts = restarts;
    job::TaskSpec worker;
    worker.type = "worker";
    worker.instances = kWorkers;
    spec.tasks = {worker};
    settings.job.id = "wine-1";
    settings.job.folder = settings.records.log_folder = folder_.path();
    settings.job.commanded_at = clock_.now();
    auto past = past_of(folder_.path(), milliseconds(0), clock_);
    ASSERT_TRUE(past.ok()) << past.error().message;
    settings.job.past = std::move(past->replayed);
    settings.records.can_be_followed = true;
    settings.on_published = [this](const auto& spec) { published_ = spec.generation; };
    journal_ = *journal::Writer::create(folder_.path(), {.job_id = "wine-1",
                                                         .attempt = past->segments + 1,
                                                         .started = clock_.wall_now(),
                                                         .origin = clock_.now()});
    Listener& listener = *this;
    master_ = std::make_unique<Master>(loop_, clock_, log_, tasks_, *journal_, listener,
                                       std::move(settings));
    const auto started = master_->start();
    ASSERT_TRUE(started.ok()) << started.error().message;
  }
  void wait(const std::string& what, const std::function<bool()>& done) {
    ASSERT_TRUE(loop_.run_until(done, base::soon(seconds(60)))) << "waited for: " << what;
  }
  void wait_for_runs(std::size_t of_each) {
    wait("the runs", [this, of_each] {
      return tasks_.runs[kFirst].size() == of_each && tasks_.runs[kSecond].size() == of_each;
    });
  }
  void start_all() {
    for (const job::TaskId& task : {kFirst, kSecond}) tasks_.started(task);
  }
  static job::ExitReport success() {
    job::ExitReport report;
    report.success = true;
    return report;
  }
  static job::ExitReport failure() {
    job::ExitReport report;
    report.why.code = 3;
    return report;
  }

  void on_changed() override {}
  void on_incomplete_log(const job::TaskId&, std::string_view) override {}
  void on_warning(std::string_view sentence) override { warnings_.emplace_back(sentence); }
  void on_remark(std::string_view /*sentence*/) override {}
  void on_finished() override { finished_ = true; }

  const job::TaskId kFirst{"worker", 0};
  const job::TaskId kSecond{"worker", 1};
  base::TestFolder folder_;
  net::EventLoop loop_;
  base::SystemClock clock_;
  base::LogRecorder log_;
  std::vector<std::string> warnings_;
  int published_ = 0;
  bool finished_ = false;
  FakeTasks tasks_{loop_};
  std::unique_ptr<journal::Writer> journal_;
  std::unique_ptr<Master> master_;
};

TEST_F(MasterTest, RunsAllWithOneClusterSpecAndEndsWithThem) {
  start_master();
  wait_for_runs(1);
  for (const auto& [task, runs] : tasks_.runs) EXPECT_EQ(runs.front().generation, 1);
  EXPECT_EQ(published_, 1);
  EXPECT_THAT(tasks_.last_spec->tasks.at("worker"),
              ElementsAre(job::Address{"h1", 2222}, job::Address{"h1", 2223}));
  tasks_.waits_for = "worker:1: 0/2 nodes are available";
  EXPECT_EQ(master_->status().waiting_for, tasks_.waits_for);
  tasks_.waits_for.clear();
  start_all();
  tasks_.told[kSecond].last_line = "loss 0.3";
  tasks_.tell(cluster::TasksWarning{"its log broke off"});
  EXPECT_EQ(master_->status().tasks[1].last_line, "loss 0.3");
  EXPECT_EQ(master_->status().tasks[1].log_path, folder_.path() + "/worker-1");
  EXPECT_EQ(master_->over(), std::nullopt);
  tasks_.end_run(kFirst, success());
  tasks_.end_run(kSecond, success());
  wait("the end of the job", [this] { return finished_; });
  EXPECT_EQ(master_->status().state, job::JobState::kSucceeded);
  EXPECT_EQ(master_->over(), "the job has succeeded");
  EXPECT_THAT(warnings_, ElementsAre("its log broke off"));
}

TEST_F(MasterTest, AFailureIsTheCauseWithItsLastLines) {
  start_master();
  wait_for_runs(1);
  start_all();
  job::ExitReport report = failure();
  report.why.host = "node1";
  report.last_lines = {"ValueError: no"};
  tasks_.end_run(kSecond, report);
  EXPECT_THAT(*master_->over(), HasSubstr("exited with status 3"));
  wait("the end of the job", [this] { return finished_; });
  const auto cause = master_->status().cause;
  ASSERT_TRUE(cause.has_value());
  EXPECT_EQ(cause->task, kSecond);
  EXPECT_THAT(to_words(*cause), HasSubstr("exited with status 3 on node1"));
  EXPECT_THAT(cause->last_lines, ElementsAre("ValueError: no"));
}

// An agent that ended unheard has left the end of its run: that comes first.
TEST_F(MasterTest, WhatTheRunOfALostAgentCameToIsItsEnd) {
  start_master();
  wait_for_runs(1);
  start_all();
  tasks_.lose(kFirst, 1, job::RunEnd{.attempt = 1, .report = failure()});
  wait("the end of the job", [this] { return finished_; });
  EXPECT_THAT(to_words(*master_->status().cause), HasSubstr("exited with status 3"));
}

TEST_F(MasterTest, ALaterMasterIsToldWhatTheFirstHasLeft) {
  start_master();
  wait_for_runs(1);
  start_all();
  master_.reset();
  published_ = 0;
  start_master();
  ASSERT_EQ(tasks_.left.size(), std::size_t{kWorkers});
  for (const cluster::Left& left : tasks_.left) {
    EXPECT_EQ(left.handle.at("slot"), left.task.index);
    EXPECT_TRUE(left.has_reported);
    EXPECT_EQ(left.attempt, 1);
  }
  EXPECT_EQ(published_, 1);
}

TEST_F(MasterTest, WhoHasEndedForItsGenerationIsToldAndALaterMasterTellsItAgain) {
  start_master();
  wait_for_runs(1);
  start_all();
  EXPECT_THAT(tasks_.out, testing::IsEmpty());
  tasks_.end_run(kFirst, success());
  EXPECT_THAT(tasks_.out, ElementsAre("worker:0@1 succeeded"));
  tasks_.out.clear();
  start_master();
  EXPECT_THAT(tasks_.out, ElementsAre("worker:0@1 succeeded"));
}

TEST_F(MasterTest, ARestartOfTheGangStopsTheOthersAndRunsAllAnew) {
  start_master({.max = 1, .scope = job::RestartScope::kGang, .pause = milliseconds(0)});
  wait_for_runs(1);
  start_all();
  tasks_.end_run(kSecond, failure());
  wait_for_runs(2);
  EXPECT_THAT(tasks_.ended, ElementsAre(kFirst));
  EXPECT_EQ(tasks_.runs[kFirst].back().generation, 2);
  EXPECT_EQ(tasks_.runs[kSecond].back().attempt, 2);
  start_all();
  tasks_.end_run(kFirst, success());
  tasks_.end_run(kSecond, success());
  wait("the end of the job", [this] { return finished_; });
  EXPECT_EQ(master_->status().state, job::JobState::kSucceeded);
}

TEST_F(MasterTest, ARestartOfATaskLeavesTheOthersAlone) {
  start_master({.max = 1, .scope = job::RestartScope::kTask, .pause = milliseconds(0)});
  wait_for_runs(1);
  start_all();
  tasks_.end_run(kSecond, failure());
  wait("the second run", [this] { return tasks_.runs[kSecond].size() == 2; });
  EXPECT_EQ(tasks_.runs[kFirst].size(), 1U);
  EXPECT_EQ(tasks_.runs[kSecond].back().generation, 1);
  EXPECT_THAT(tasks_.ended, IsEmpty());
}

TEST_F(MasterTest, ALostRunGetsAnotherSlotAndUsesUpNoRestart) {
  start_master();
  wait_for_runs(1);
  start_all();
  tasks_.lose(kSecond, tasks_.slots[kSecond]);
  wait("the next run of it", [this] { return tasks_.runs[kSecond].size() == 2; });
  EXPECT_EQ(master_->status().restarts_used, 0);
  EXPECT_EQ(tasks_.runs[kSecond].front().restarts, 0);
  EXPECT_EQ(tasks_.runs[kSecond].back().restarts, 1);
}

TEST_F(MasterTest, WhatCannotBeRunIsToldAsAFailure) {
  start_master();
  wait_for_runs(1);
  job::ExitReport report;
  report.why.reason = job::Reason::kCouldNotStart;
  report.why.detail = "there is no image x";
  tasks_.end_run(kFirst, report);
  wait("the end of the job", [this] { return finished_; });
  EXPECT_THAT(to_words(*master_->status().cause), HasSubstr("there is no image x"));
  EXPECT_EQ(master_->status().cause->why.reason, job::Reason::kCouldNotStart);
}

TEST_F(MasterTest, ANoticeIsForThoseThatRun) {
  start_master();
  wait_for_runs(1);
  start_all();
  std::size_t told = 0;
  master_->ask(cluster::notice_question({.by = "SIGUSR1"}),
               [&told](const cluster::Answer& answer) { told = answer.tasks.size(); });
  EXPECT_EQ(told, std::size_t{kWorkers});
  EXPECT_THAT(tasks_.notices, ElementsAre("SIGUSR1 to worker:0", "SIGUSR1 to worker:1"));
  EXPECT_EQ(master_->status().state, job::JobState::kRunning);
}

TEST_F(MasterTest, IsStoppedFromOutside) {
  start_master();
  wait_for_runs(1);
  start_all();
  master_->request_stop("Ctrl-C", false);
  wait("the end of the job", [this] { return finished_; });
  EXPECT_EQ(master_->status().state, job::JobState::kKilled);
}

}  // namespace
}  // namespace gangrun::master
