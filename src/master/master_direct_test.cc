#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cluster/direct.h"
#include "journal/writer.h"
#include "master/master.h"
#include "master/test_master.h"
#include "net/event_loop.h"

namespace gangrun::master {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kWorkers = 2;

// A place whose runs start and end as a test says.
class FakePlace final : public cluster::Direct {
 public:
  explicit FakePlace(net::EventLoop& loop) : loop_(loop) {}

  void on_event(std::function<void(cluster::Event)> listener) override {
    listener_ = std::move(listener);
  }
  void on_direct_event(std::function<void(cluster::DirectEvent)> listener) override {
    direct_listener_ = std::move(listener);
  }
  void start(const job::TaskId& task, int attempt, cluster::Launch) override {
    slots[task] = attempt;
    loop_.post([this, task, attempt] { listener_(cluster::Allocated{task, attempt, "", {}}); });
  }
  void adopt(const job::TaskId&, int, const base::Json&) override {}
  void release_others() override {}
  void stop(const job::TaskId& task, int attempt, milliseconds) override {
    loop_.post([this, task, attempt] {
      listener_(job::AgentEnded{
          task,
          attempt,
          {.reason = job::Reason::kAgentEnded, .detail = "lost its pod: somebody deleted it"},
          loop_.now()});
    });
  }
  [[nodiscard]] std::int64_t pid_here(const job::TaskId&, std::int64_t) const override { return 0; }
  [[nodiscard]] job::Address address_of(const job::TaskId& task) const override {
    return {"worker-" + std::to_string(task.index) + ".wine-1", 2222};
  }
  [[nodiscard]] std::vector<std::uint16_t> more_ports_of(const job::TaskId&) const override {
    return {2223};
  }
  void run(const job::TaskId& task, cluster::DirectRun run) override {
    runs[task].push_back(std::move(run));
  }
  void end_run(const job::TaskId& task, milliseconds) override {
    ended.push_back(task);
    job::ExitReport report;
    report.why.reason = job::Reason::kStopped;
    const int attempt = runs[task].back().attempt;
    loop_.post([this, task, attempt, report] { tell(job::Exited{task, attempt, report, {}}); });
  }
  int give_notice(const std::string& by) override {
    notices.push_back(by);
    return kWorkers;
  }
  [[nodiscard]] std::string waiting_for() const override { return waits_for; }

  void tell(cluster::DirectEvent event) {
    if (auto* run_ended = std::get_if<job::Exited>(&event)) run_ended->ended_at = loop_.now();
    direct_listener_(event);
  }
  void end(const job::TaskId& task, const job::ExitReport& report) {
    tell(job::Exited{task, runs[task].back().attempt, report, {}});
  }
  void take_away(const job::TaskId& task) {
    listener_(
        job::AgentEnded{task,
                        slots[task],
                        {.reason = job::Reason::kEvicted, .detail = "was evicted by Kubernetes"},
                        loop_.now()});
  }

  std::map<job::TaskId, int> slots;
  std::map<job::TaskId, std::vector<cluster::DirectRun>> runs;
  std::vector<job::TaskId> ended;
  std::vector<std::string> notices;
  std::string waits_for;

 private:
  net::EventLoop& loop_;
  std::function<void(cluster::Event)> listener_;
  std::function<void(cluster::DirectEvent)> direct_listener_;
};

class MasterDirectTest : public testing::Test, private Listener {
 protected:
  void start_master(job::Restarts restarts = {}) {
    Settings settings;
    settings.spec.name = "wine";
    settings.spec.success = "all";
    settings.spec.command.words = {"true"};
    settings.spec.restarts = restarts;
    job::TaskSpec worker;
    worker.type = "worker";
    worker.instances = kWorkers;
    settings.spec.tasks = {worker};
    settings.job_id = "wine-1";
    settings.folder = settings.log_folder = settings.working_folder = folder_.path();
    settings.secret = base::Secret("0123");
    settings.commanded_at = clock_.now();
    settings.direct = &place_;
    journal_ = *journal::Writer::create(
        folder_.path(),
        {.job_id = "wine-1", .attempt = 1, .started = clock_.wall_now(), .origin = clock_.now()});
    Listener& listener = *this;
    master_ = std::make_unique<Master>(loop_, clock_, log_, place_, *journal_, listener,
                                       std::move(settings));
    const auto started = master_->start();
    ASSERT_TRUE(started.ok()) << started.error().message;
  }
  void wait(const std::string& what, const std::function<bool()>& done) {
    ASSERT_TRUE(loop_.run_until(done, test_deadline())) << "waited for: " << what;
  }
  void wait_for_runs(std::size_t of_each) {
    wait("the runs", [this, of_each] {
      return place_.runs[kFirst].size() == of_each && place_.runs[kSecond].size() == of_each;
    });
  }
  void start_all() {
    for (const job::TaskId& task : {kFirst, kSecond}) {
      place_.tell(cluster::RunStarted{task, place_.runs[task].back().attempt, "node1"});
    }
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
  TestFolder folder_;
  net::EventLoop loop_;
  base::SystemClock clock_;
  LogRecorder log_;
  std::vector<std::string> warnings_;
  bool finished_ = false;
  FakePlace place_{loop_};
  std::unique_ptr<journal::Writer> journal_;
  std::unique_ptr<Master> master_;
};

TEST_F(MasterDirectTest, RunsAllWithOneClusterSpecAndEndsWithThem) {
  start_master();
  wait_for_runs(1);
  for (const auto& [task, runs] : place_.runs) {
    EXPECT_EQ(runs.front().generation, 1);
    EXPECT_THAT(runs.front().environment().at("TF_CONFIG"), HasSubstr("worker-1.wine-1:2222"));
    EXPECT_EQ(runs.front().environment().at("GANGRUN_TASK_INDEX"), std::to_string(task.index));
    EXPECT_EQ(runs.front().environment().at("GANGRUN_NOTICE_FILE"), cluster::kDirectNoticeFile);
  }
  place_.waits_for = "worker:1: 0/2 nodes are available";
  EXPECT_EQ(master_->status().waiting_for, place_.waits_for);
  place_.waits_for.clear();
  start_all();
  place_.tell(cluster::RunLine{kSecond, "loss 0.3"});
  place_.tell(cluster::RunWarning{"its log broke off"});
  EXPECT_EQ(master_->status().tasks[1].last_line, "loss 0.3");
  EXPECT_THAT(master_->status().tasks[1].address_reason, HasSubstr("node1"));
  place_.end(kFirst, success());
  place_.end(kSecond, success());
  wait("the end of the job", [this] { return finished_; });
  EXPECT_EQ(master_->status().state, job::JobState::kSucceeded);
  EXPECT_THAT(warnings_, ElementsAre("its log broke off"));
}

TEST_F(MasterDirectTest, AFailureIsTheCauseWithItsLastLines) {
  start_master();
  wait_for_runs(1);
  start_all();
  place_.tell(cluster::RunLine{kSecond, "ValueError: no"});
  place_.end(kSecond, failure());
  wait("the end of the job", [this] { return finished_; });
  const auto cause = master_->status().cause;
  ASSERT_TRUE(cause.has_value());
  EXPECT_EQ(cause->task, kSecond);
  EXPECT_THAT(to_words(*cause), HasSubstr("exited with status 3 on node1"));
  EXPECT_THAT(cause->last_lines, ElementsAre("ValueError: no"));
}

TEST_F(MasterDirectTest, ARestartOfTheGangStopsTheOthersAndRunsAllAnew) {
  start_master({.max = 1, .scope = job::RestartScope::kGang, .pause = milliseconds(0)});
  wait_for_runs(1);
  start_all();
  place_.end(kSecond, failure());
  wait_for_runs(2);
  EXPECT_THAT(place_.ended, ElementsAre(kFirst));
  EXPECT_EQ(place_.runs[kFirst].back().generation, 2);
  EXPECT_EQ(place_.runs[kSecond].back().attempt, 2);
  start_all();
  place_.end(kFirst, success());
  place_.end(kSecond, success());
  wait("the end of the job", [this] { return finished_; });
  EXPECT_EQ(master_->status().state, job::JobState::kSucceeded);
}

TEST_F(MasterDirectTest, ARestartOfATaskLeavesTheOthersAlone) {
  start_master({.max = 1, .scope = job::RestartScope::kTask, .pause = milliseconds(0)});
  wait_for_runs(1);
  start_all();
  place_.end(kSecond, failure());
  wait("the second run", [this] { return place_.runs[kSecond].size() == 2; });
  EXPECT_EQ(place_.runs[kFirst].size(), 1U);
  EXPECT_EQ(place_.runs[kSecond].back().generation, 1);
  EXPECT_THAT(place_.ended, IsEmpty());
}

TEST_F(MasterDirectTest, ALostRunGetsAnotherSlotAndUsesUpNoRestart) {
  start_master();
  wait_for_runs(1);
  start_all();
  place_.take_away(kSecond);
  wait("the next run of it", [this] { return place_.runs[kSecond].size() == 2; });
  EXPECT_EQ(master_->status().restarts_used, 0);
  EXPECT_EQ(place_.runs[kSecond].front().environment().at("GANGRUN_RESTARTS"), "0");
  EXPECT_EQ(place_.runs[kSecond].back().environment().at("GANGRUN_RESTARTS"), "1");
}

TEST_F(MasterDirectTest, WhatCannotBeRunIsToldAsAFailure) {
  start_master();
  wait_for_runs(1);
  job::ExitReport report;
  report.why.reason = job::Reason::kCouldNotStart;
  report.why.detail = "there is no image x";
  place_.end(kFirst, report);
  wait("the end of the job", [this] { return finished_; });
  EXPECT_THAT(to_words(*master_->status().cause), HasSubstr("there is no image x"));
  EXPECT_EQ(master_->status().cause->why.reason, job::Reason::kCouldNotStart);
}

TEST_F(MasterDirectTest, ANoticeIsForThePlaceToGive) {
  start_master();
  wait_for_runs(1);
  start_all();
  EXPECT_EQ(master_->give_notice("SIGUSR1"), kWorkers);
  EXPECT_THAT(place_.notices, ElementsAre("SIGUSR1"));
  EXPECT_EQ(master_->status().state, job::JobState::kRunning);
}

TEST_F(MasterDirectTest, IsStoppedFromOutside) {
  start_master();
  wait_for_runs(1);
  start_all();
  master_->request_stop("Ctrl-C", false);
  wait("the end of the job", [this] { return finished_; });
  EXPECT_EQ(master_->status().state, job::JobState::kKilled);
}

}  // namespace
}  // namespace gangrun::master
