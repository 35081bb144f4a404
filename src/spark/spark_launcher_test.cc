#include "spark/spark_launcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace gangrun::spark {
namespace {

using testing::HasSubstr;
using wire::JoinState;

class SparkLauncherTest : public testing::Test {
 protected:
  SparkLauncherTest() {
    cluster_.on_event([this](cluster::LaunchEvent event) { events_.push_back(std::move(event)); });
  }

  void start(const job::TaskId& task) {
    cluster::Launch launch;
    launch.agent_config = {{"job_id", "j"}, {"secret", "s"}};
    cluster_.start(task, 1, std::move(launch));
  }
  wire::JoinAnswer join(const job::TaskId& task, int attempt = 0) {
    return cluster_.join({task, attempt, "executor 4", "10.0.0.7", "because"});
  }
  // Until an event of this kind has come; the last one of them.
  template <typename Kind>
  Kind wait_for() {
    const auto last = [this] {
      return std::find_if(events_.rbegin(), events_.rend(), [](const cluster::LaunchEvent& event) {
        return std::holds_alternative<Kind>(event);
      });
    };
    loop_.run_until([&] { return last() != events_.rend(); },
                    loop_.now() + std::chrono::seconds(60));
    return last() == events_.rend() ? Kind{} : std::get<Kind>(*last());
  }
  template <typename Kind>
  [[nodiscard]] long count() const {
    return std::count_if(events_.begin(), events_.end(), [](const cluster::LaunchEvent& event) {
      return std::holds_alternative<Kind>(event);
    });
  }

  net::EventLoop loop_;
  SparkLauncher cluster_{loop_, "10.0.0.1"};
  std::vector<cluster::LaunchEvent> events_;
  const job::TaskId first_{"worker", 0};
  const job::TaskId second_{"worker", 1};
};

TEST_F(SparkLauncherTest, SaysWhoHasComeAndWhoHasNot) {
  start(first_);
  start(second_);
  EXPECT_EQ(join(first_).state, JoinState::kJoined);
  EXPECT_EQ(wait_for<gang::ClusterWaiting>().reason,
            "no executor has joined for worker:1; 1 of 2 have joined: worker:0 from executor 4 on "
            "10.0.0.7 (attempt 0)");
  const auto allocated = wait_for<cluster::AgentAllocated>();
  EXPECT_EQ(allocated.task, first_);
  EXPECT_EQ(allocated.host, "10.0.0.7");
  EXPECT_EQ(count<gang::ClusterWaiting>(), 1);
}

TEST_F(SparkLauncherTest, TheFirstToComeIsTheOneWhoeverComesLater) {
  start(first_);
  const auto joined = join(first_, 1);
  EXPECT_EQ(joined.agent_config["master_host"], "10.0.0.1");
  EXPECT_EQ(joined.agent_config["host"], "10.0.0.7");
  EXPECT_EQ(joined.agent_config["secret"], "s");
  const auto again = join(first_, 0);
  EXPECT_EQ(again.state, JoinState::kThere);
  EXPECT_TRUE(again.agent_config.is_null());
  EXPECT_EQ(again.reason, "worker:0 from executor 4 on 10.0.0.7 (attempt 1) came first");
  cluster_.on_session_open(first_);
  cluster_.on_session_lost(first_, "");
  EXPECT_EQ(join(first_).state, JoinState::kWasThere);
  EXPECT_THAT(join(first_).reason, HasSubstr("came first, and has ended"));
  EXPECT_EQ(join({"ps", 0}).state, JoinState::kUnknownTask);
}

TEST_F(SparkLauncherTest, ALoopbackAddressBesideAnotherIsRemarkedOn) {
  const job::TaskId third{"worker", 2};
  for (const job::TaskId& task : {first_, second_, third}) start(task);
  cluster_.join({first_, 0, "executor 4", "127.0.0.1", "as SPARK_LOCAL_IP says"});
  wait_for<cluster::AgentAllocated>();
  EXPECT_EQ(count<cluster::Remark>(), 0);
  join(second_);
  EXPECT_EQ(wait_for<cluster::Remark>().sentence,
            "worker:0 is known to the others by the loopback address 127.0.0.1, as SPARK_LOCAL_IP "
            "says, which worker:1 on 10.0.0.7 cannot reach from another machine");
  join(third);
  loop_.run_until([this] { return count<cluster::AgentAllocated>() == 3; },
                  loop_.now() + std::chrono::seconds(60));
  EXPECT_EQ(count<cluster::Remark>(), 1);
}

TEST_F(SparkLauncherTest, AFarewellIsTheEnd) {
  start(first_);
  join(first_);
  cluster_.on_session_open(first_);
  cluster_.on_session_lost(first_, "its executor has ended");
  EXPECT_EQ(to_words(wait_for<job::AgentEnded>().why),
            "lost its agent, which ended: its executor has ended");
}

TEST_F(SparkLauncherTest, ABrokenConnectionIsTheEndIfItDoesNotComeBack) {
  start(first_);
  start(second_);
  join(first_);
  join(second_);
  for (const job::TaskId& task : {first_, second_}) {
    cluster_.on_session_open(task);
    cluster_.on_session_lost(task, std::nullopt);
  }
  cluster_.on_session_open(second_);
  const base::Instant broken = loop_.now();
  const auto ended = wait_for<job::AgentEnded>();
  EXPECT_EQ(ended.task, first_);
  EXPECT_THAT(to_words(ended.why),
              HasSubstr("its connection broke and did not come back within 1.5 s"));
  // Failures that follow from it come later.
  EXPECT_LE(ended.ended_at, broken);
  EXPECT_EQ(count<job::AgentEnded>(), 1);
}

TEST_F(SparkLauncherTest, WhoHasNotComeIsNotAwaitedWhenTheJobEnds) {
  start(first_);
  cluster_.stop(first_, 1, std::chrono::milliseconds(0));
  EXPECT_EQ(to_words(wait_for<job::AgentEnded>().why),
            "lost its agent, which ended: no executor has joined");
  EXPECT_EQ(join(first_).state, JoinState::kJobHasEnded);
}

TEST_F(SparkLauncherTest, NobodyComesASecondTime) {
  start(first_);
  join(first_);
  cluster_.on_session_open(first_);
  cluster_.on_session_lost(first_, "");
  cluster_.start(first_, 2, {});
  EXPECT_EQ(wait_for<job::AgentEnded>().attempt, 1);
  loop_.run_until([&] { return count<job::AgentEnded>() == 2; },
                  loop_.now() + std::chrono::seconds(60));
  EXPECT_EQ(to_words(wait_for<job::AgentEnded>().why),
            "lost its agent, which ended: its executor comes only once");
  EXPECT_EQ(join(first_).state, JoinState::kWasThere);
}

TEST_F(SparkLauncherTest, WhoIsThereIsReachedByItsSessionOnly) {
  start(first_);
  join(first_);
  cluster_.on_session_open(first_);
  cluster_.stop(first_, 1, std::chrono::milliseconds(0));
  cluster_.on_session_lost(first_, "");
  wait_for<job::AgentEnded>();
  EXPECT_EQ(count<job::AgentEnded>(), 1);
}

TEST_F(SparkLauncherTest, WhoIsEndedAtOnceBeforeItsSessionOpensIsAwaitedNoMore) {
  start(first_);
  start(second_);
  join(first_);
  join(second_);
  cluster_.stop(first_, 1, std::chrono::milliseconds(0));
  // With a grace, its session is the way for that.
  cluster_.stop(second_, 1, std::chrono::seconds(30));
  EXPECT_FALSE(cluster_.on_session_open(first_));
  EXPECT_TRUE(cluster_.on_session_open(second_));
}

}  // namespace
}  // namespace gangrun::spark
