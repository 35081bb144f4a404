#include "cluster/asking.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace gangrun::cluster {
namespace {

using testing::ElementsAre;

const job::TaskId kFirst{"worker", 0};
const job::TaskId kSecond{"worker", 1};
const job::TaskId kEnded{"worker", 2};
const std::vector<AskableTask> kTasks{{kFirst, true}, {kSecond, true}, {kEnded, false}};

class AskingTest : public testing::Test {
 protected:
  void ask(std::vector<job::TaskId> tasks) {
    Question question;
    question.kind = "stacks";
    question.tasks = std::move(tasks);
    ask_tasks(
        question, kTasks, [this](Answer told) { answer = std::move(told); },
        [this](const Question& to_ask, const OnTaskAnswer& on_answer) {
          asked = to_ask.tasks;
          tell = on_answer;
        });
  }
  [[nodiscard]] std::vector<std::string> words() const {
    std::vector<std::string> all;
    for (const auto& [task, said, refused, is_passing] : answer->tasks) {
      all.push_back(job::to_string(task) + " " +
                    (refused.empty() ? said.get<std::string>() : "refused: " + refused));
    }
    return all;
  }

  std::vector<job::TaskId> asked;
  OnTaskAnswer tell;
  std::optional<Answer> answer;
};

TEST_F(AskingTest, AllThatRunAreAskedAndTheAnswerWaitsForTheLast) {
  ask({});
  EXPECT_THAT(asked, ElementsAre(kFirst, kSecond));
  tell(kSecond, base::Json("here"));
  EXPECT_FALSE(answer);
  tell(kFirst, base::unavailable("its agent has no connection now"));
  ASSERT_TRUE(answer);
  EXPECT_THAT(words(),
              ElementsAre("worker:0 refused: its agent has no connection now", "worker:1 here"));
}

TEST_F(AskingTest, WhoIsNamedAndCannotBeAskedIsTold) {
  ask({{"ps", 0}, kEnded, kFirst});
  EXPECT_THAT(asked, ElementsAre(kFirst));
  tell(kFirst, base::Json("here"));
  ASSERT_TRUE(answer);
  EXPECT_THAT(words(), ElementsAre("worker:0 here", "worker:2 refused: it does not run",
                                   "ps:0 refused: the job has no such task"));
}

TEST_F(AskingTest, WhereNobodyCanBeAskedTheAnswerComesAtOnce) {
  ask({kEnded});
  EXPECT_TRUE(asked.empty());
  ASSERT_TRUE(answer);
  EXPECT_THAT(words(), ElementsAre("worker:2 refused: it does not run"));
}

TEST_F(AskingTest, AnswersThatAreTooLongTogetherAreLeftOut) {
  ask({});
  tell(kFirst, base::Json(std::string(kMaxAnswerBytes - 10, 'x')));
  tell(kSecond, base::Json("too much"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->tasks[0].refused, "");
  EXPECT_EQ(answer->tasks[1].refused, "the answers of all tasks together are too long");
}

}  // namespace
}  // namespace gangrun::cluster
