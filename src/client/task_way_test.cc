#include "client/task_way.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "client/test_job.h"

namespace gangrun::client {
namespace {

const job::TaskId kWorker{"worker", 1};

class AskedJob final : public TestJob {
 public:
  explicit AskedJob(base::Result<cluster::Answer> answer) : answer_(std::move(answer)) {}
  base::Result<cluster::Answer> ask(const cluster::Question& question) override {
    asked = question;
    return answer_;
  }

  cluster::Question asked;

 private:
  base::Result<cluster::Answer> answer_;
};

base::Result<TaskAgent> told(base::Result<cluster::Answer> answer) {
  AskedJob job(std::move(answer));
  return agent_of(job, kWorker);
}

TEST(TaskAgentTest, TheAgentOfThatTaskIsAsked) {
  AskedJob job(cluster::Answer{{{kWorker,
                                 {{"host", "10.0.0.7"},
                                  {"port", 4713},
                                  {"fingerprint", std::string(64, 'a')},
                                  {"secret", "0123"}},
                                 ""}}});
  const auto agent = agent_of(job, kWorker);
  ASSERT_TRUE(agent.ok()) << agent.error().message;
  EXPECT_EQ(agent->host, "10.0.0.7");
  EXPECT_EQ(agent->port, 4713);
  EXPECT_EQ(agent->fingerprint, std::string(64, 'a'));
  EXPECT_EQ(agent->secret.reveal(), "0123");
  EXPECT_EQ(job.asked.kind, "control");
  EXPECT_THAT(job.asked.tasks, testing::ElementsAre(kWorker));
}

TEST(TaskAgentTest, WhileThereIsNoneItIsToldWhy) {
  EXPECT_EQ(told(cluster::Answer{}).error().message, "it does not run");
  const auto refused =
      told(cluster::Answer{{{kWorker, {}, "its agent has no connection now", true}}});
  EXPECT_EQ(refused.error().code, base::Code::kUnavailable);
  EXPECT_EQ(refused.error().message, "its agent has no connection now");
  const auto never = told(cluster::Answer{{{kWorker, {}, "no agent is beside it"}}});
  EXPECT_EQ(never.error().code, base::Code::kFailedPrecondition);
  EXPECT_EQ(told(base::not_found("no such job")).error().code, base::Code::kNotFound);
}

TEST(TaskAgentTest, AnAnswerThatIsNoAddressIsAnError) {
  const auto wrong = told(cluster::Answer{{{kWorker, {{"host", "h"}, {"port", 0}}, ""}}});
  EXPECT_THAT(wrong.error().message, testing::HasSubstr("\"port\""));
}

}  // namespace
}  // namespace gangrun::client
