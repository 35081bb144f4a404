#include "client/job_watch.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "client/test_job.h"

namespace gangrun::client {
namespace {

using base::Result;
using testing::ElementsAre;

constexpr base::milliseconds kPause(1);

// Answers in this order, the last one again and again.
class ScriptedJob final : public TestJob {
 public:
  explicit ScriptedJob(std::vector<Result<job::JobStatus>> answers, Result<> stopped = {})
      : answers_(std::move(answers)), stopped_({std::move(stopped)}) {}
  ScriptedJob(std::vector<Result<job::JobStatus>> answers, std::vector<Result<>> stopped)
      : answers_(std::move(answers)), stopped_(std::move(stopped)) {}

  Result<job::JobStatus> status() override {
    const std::size_t at = asked_++;
    return answers_[std::min(at, answers_.size() - 1)];
  }
  Result<> stop(bool, const std::string&) override {
    const std::size_t at = stops_++;
    return stopped_[std::min(at, stopped_.size() - 1)];
  }
  Result<cluster::Answer> ask(const cluster::Question&) override {
    GANGRUN_TRY(stopped_.front());
    return cluster::Answer{};
  }

 private:
  std::vector<Result<job::JobStatus>> answers_;
  std::vector<Result<>> stopped_;
  std::atomic<std::size_t> asked_ = 0;
  std::atomic<std::size_t> stops_ = 0;
};

job::JobStatus in_state(job::JobState state) {
  job::JobStatus status;
  status.state = state;
  return status;
}

class JobWatchTest : public testing::Test {
 protected:
  JobWatch::Callbacks callbacks() {
    return {[this](const job::JobStatus& status) {
              states.push_back(status.state);
              return base::Duration(kPause);
            },
            [this](const std::string& sentence) { troubles.push_back(sentence); }};
  }
  bool wait_until(const std::function<bool()>& done) {
    return loop.run_until(done, loop.now() + std::chrono::seconds(20));
  }

  net::EventLoop loop;
  std::vector<job::JobState> states;
  std::vector<std::string> troubles;
};

TEST_F(JobWatchTest, LooksAgainAndAgainAndTellsSilenceOnce) {
  JobWatch watch(loop, kPause, callbacks());
  const base::Error silent = base::unavailable("nobody answers");
  watch.start(std::make_unique<ScriptedJob>(std::vector<Result<job::JobStatus>>{
                  in_state(job::JobState::kAllocating), silent, silent,
                  in_state(job::JobState::kRunning), silent, in_state(job::JobState::kSucceeded)}),
              std::make_unique<ScriptedJob>(std::vector<Result<job::JobStatus>>{silent}));
  ASSERT_TRUE(wait_until([this] { return states.size() >= 3; }));
  states.resize(3);
  EXPECT_THAT(states, ElementsAre(job::JobState::kAllocating, job::JobState::kRunning,
                                  job::JobState::kSucceeded));
  EXPECT_THAT(troubles, ElementsAre("nobody answers", "nobody answers"));
}

TEST_F(JobWatchTest, AStopThatComesTooLateIsNoTrouble) {
  const base::Error ended{base::Code::kFailedPrecondition, "has ended already"};
  const base::Error silent = base::unavailable("nobody answers");
  for (const bool is_reached : {true, false}) {
    JobWatch watch(loop, kPause, callbacks());
    const std::vector<Result<job::JobStatus>> running{in_state(job::JobState::kRunning)};
    watch.start(std::make_unique<ScriptedJob>(running),
                std::make_unique<ScriptedJob>(running, is_reached ? ended : silent));
    watch.stop(true, "a test");
    const std::size_t seen = states.size();
    ASSERT_TRUE(wait_until([&] { return is_reached ? states.size() > seen : !troubles.empty(); }));
  }
  EXPECT_THAT(troubles, ElementsAre("nobody answers"));
}

// A ResourceManager that came back was not asked any more: the client waited for an hour.
TEST_F(JobWatchTest, AStopThatNobodyTookIsAskedForAgain) {
  JobWatch watch(loop, kPause, callbacks());
  const std::vector<Result<job::JobStatus>> running{in_state(job::JobState::kRunning)};
  const base::Error silent = base::unavailable("nobody answers");
  const base::Error late = base::deadline_exceeded("not yet");
  watch.start(std::make_unique<ScriptedJob>(running),
              std::make_unique<ScriptedJob>(
                  running, std::vector<Result<>>{silent, silent, late, Result<>()}));
  watch.stop(false, "a test");
  EXPECT_FALSE(watch.is_told());
  ASSERT_TRUE(wait_until([&] { return watch.is_told(); }));
  EXPECT_THAT(troubles, ElementsAre("nobody answers", "not yet"));
  // An order of more has to be taken, too.
  watch.stop(true, "a test");
  EXPECT_FALSE(watch.is_told());
  ASSERT_TRUE(wait_until([&] { return watch.is_told(); }));
}

TEST_F(JobWatchTest, AStopThatIsRefusedIsNotAskedForAgain) {
  const base::Error refused{base::Code::kPermissionDenied, "not yours"};
  const std::vector<Result<job::JobStatus>> running{in_state(job::JobState::kRunning)};
  JobWatch watch(loop, kPause, callbacks());
  watch.start(std::make_unique<ScriptedJob>(running),
              std::make_unique<ScriptedJob>(running, std::vector<Result<>>{refused, Result<>()}));
  watch.stop(false, "a test");
  ASSERT_TRUE(wait_until([&] { return !troubles.empty(); }));
  const std::size_t seen = states.size();
  ASSERT_TRUE(wait_until([&] { return states.size() > seen + 2; }));
  EXPECT_FALSE(watch.is_told());
  EXPECT_THAT(troubles, ElementsAre("not yours"));
}

}  // namespace
}  // namespace gangrun::client
