#include "agents/key_desk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/described_json.h"
#include "base/format.h"
#include "base/test_folder.h"
#include "base/test_log.h"

namespace gangrun::agents {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using wire::KeyAction;
using wire::KeyQuestion;

const job::TaskId kFirst{"worker", 0};
const job::TaskId kSecond{"worker", 1};

class KeyDeskTest : public testing::Test {
 protected:
  KeyDeskTest() { restart(); }

  // As by a new master.
  void restart() {
    desk_ = std::make_unique<KeyDesk>(
        loop_, log_, folder_.path() + "/keys", nullptr,
        [](const job::TaskId& task) { return task.type == "worker"; },
        [this](const job::TaskId& task, const wire::AnswerMessage& answer) {
          answers_.push_back(
              base::format("{}/{} {}{}", task.index, answer.id, answer.refused,
                           answer.said.is_null() ? "" : base::dump_json(answer.said)));
        });
  }
  void ask(const job::TaskId& task, std::int64_t id, const KeyQuestion& question,
           std::chrono::milliseconds limit = std::chrono::minutes(1)) {
    EXPECT_TRUE(desk_->ask(task, {.id = id,
                                  .kind = std::string(wire::kKeyKind),
                                  .about = base::to_json(question),
                                  .limit = limit}));
  }
  void come(const job::TaskId& task, std::int64_t id, std::int64_t round, int generation = 1,
            std::chrono::milliseconds limit = std::chrono::minutes(1)) {
    const wire::BarrierQuestion question{.name = "b",
                                         .generation = generation,
                                         .tasks = 2,
                                         .process = 0,
                                         .processes = 1,
                                         .round = round};
    EXPECT_TRUE(desk_->ask(task, {.id = id,
                                  .kind = std::string(wire::kBarrierKind),
                                  .about = base::to_json(question),
                                  .limit = limit}));
  }
  void cancel(const job::TaskId& task, std::int64_t id, std::int64_t question) {
    EXPECT_TRUE(desk_->ask(task, {.id = id,
                                  .kind = std::string(wire::kCancelKind),
                                  .about = base::to_json(wire::CancelQuestion{question}),
                                  .limit = {}}));
  }
  static KeyQuestion put(std::string key, std::string value, std::int64_t change) {
    return {.action = KeyAction::kPut,
            .key = std::move(key),
            .value = std::move(value),
            .change = change};
  }
  std::vector<std::string> answers() { return std::exchange(answers_, {}); }
  void wait_for_answer() {
    ASSERT_TRUE(loop_.run_until([this] { return !answers_.empty(); },
                                loop_.now() + std::chrono::seconds(20)));
  }

  net::EventLoop loop_;
  base::LogRecorder log_;
  base::TestFolder folder_;
  std::vector<std::string> answers_;
  std::unique_ptr<KeyDesk> desk_;
};

TEST_F(KeyDeskTest, OtherKindsAreNotItsOwn) {
  EXPECT_FALSE(desk_->ask(kFirst, {.id = 1, .kind = "stacks", .about = {}, .limit = {}}));
  EXPECT_THAT(answers(), IsEmpty());
}

TEST_F(KeyDeskTest, AKeyIsPutAndGot) {
  ask(kFirst, 1, {.action = KeyAction::kGet, .key = "a"});
  ask(kFirst, 2, put("a", "x", 1));
  ask(kSecond, 1, {.action = KeyAction::kGet, .key = "a"});
  ask(kSecond, 2, {.action = KeyAction::kList});
  ask(kSecond, 3, {.action = KeyAction::kDelete, .key = "a", .change = 1});
  ask(kSecond, 4, {.action = KeyAction::kDelete, .key = "a", .change = 2});
  EXPECT_THAT(answers(), ElementsAre("0/1 {\"found\":false}", "0/2 {\"found\":true}",
                                     "1/1 {\"found\":true,\"value\":\"78\"}",
                                     "1/2 {\"found\":true,\"keys\":[\"a\"]}",
                                     "1/3 {\"found\":true}", "1/4 {\"found\":false}"));
}

TEST_F(KeyDeskTest, WhoWaitsIsToldAtOnce) {
  ask(kSecond, 1, {.action = KeyAction::kWait, .key = "a"});
  ask(kSecond, 2, {.action = KeyAction::kWait, .key = "b"});
  EXPECT_THAT(answers(), IsEmpty());
  ask(kFirst, 1, put("a", "x", 1));
  EXPECT_THAT(answers(),
              ElementsAre("0/1 {\"found\":true}", "1/1 {\"found\":true,\"value\":\"78\"}"));
}

TEST_F(KeyDeskTest, AfterItsTimeItIsNotThere) {
  ask(kSecond, 1, {.action = KeyAction::kWait, .key = "a"}, std::chrono::milliseconds(1));
  wait_for_answer();
  EXPECT_THAT(answers(), ElementsAre("1/1 {\"found\":false}"));
}

TEST_F(KeyDeskTest, AChangeThatIsAskedAgainDoesNotUndoALaterOne) {
  ask(kFirst, 1, put("a", "1", 1));
  ask(kSecond, 1, put("a", "2", 1));
  desk_->on_session_lost(kFirst);
  ask(kFirst, 1, put("a", "1", 1));
  restart();
  ask(kFirst, 1, put("a", "1", 1));
  (void)answers();
  ask(kFirst, 2, {.action = KeyAction::kGet, .key = "a"});
  EXPECT_THAT(answers(), ElementsAre("0/2 {\"found\":true,\"value\":\"32\"}"));
}

TEST_F(KeyDeskTest, WrongQuestionsAreRefused) {
  desk_->ask(
      kFirst,
      {.id = 1, .kind = std::string(wire::kKeyKind), .about = {{"action", "burn"}}, .limit = {}});
  desk_->ask(kFirst, {.id = 2,
                      .kind = std::string(wire::kBarrierKind),
                      .about = base::Json::object(),
                      .limit = {}});
  const auto told = answers();
  ASSERT_EQ(told.size(), 2U);
  EXPECT_THAT(told[0], testing::HasSubstr("action"));
  EXPECT_THAT(told[1], testing::HasSubstr("name"));
}

TEST_F(KeyDeskTest, AllGoOnFromABarrier) {
  come(kFirst, 1, 0);
  EXPECT_THAT(answers(), ElementsAre("0/1 {\"complete\":false,\"round\":1}"));
  come(kFirst, 2, 1);
  EXPECT_THAT(answers(), IsEmpty());
  come(kSecond, 1, 1);
  EXPECT_THAT(answers(), UnorderedElementsAre("0/2 {\"complete\":true,\"round\":1}",
                                              "1/1 {\"complete\":true,\"round\":1}"));
}

TEST_F(KeyDeskTest, TheDeskKnowsWhichTasksAreTracked) {
  const wire::BarrierQuestion all{.name = "b", .tasks = 2, .round = 1, .of = 2, .tracked = true};
  for (const job::TaskId& task : {kFirst, job::TaskId{"evaluator", 0}, kSecond}) {
    EXPECT_THAT(answers(), IsEmpty());
    EXPECT_TRUE(desk_->ask(task, {.id = 1,
                                  .kind = std::string(wire::kBarrierKind),
                                  .about = base::to_json(all),
                                  .limit = std::chrono::minutes(1)}));
  }
  EXPECT_THAT(answers(), testing::SizeIs(3));
}

TEST_F(KeyDeskTest, ANewMasterLetsThoseGoWhoHadNotHeardOfIt) {
  come(kFirst, 1, 1);
  come(kSecond, 1, 1);
  (void)answers();
  restart();
  come(kSecond, 1, 1);
  EXPECT_THAT(answers(), ElementsAre("1/1 {\"complete\":true,\"round\":1}"));
}

TEST_F(KeyDeskTest, WhoHasGoneDoesNotCount) {
  come(kFirst, 1, 1);
  desk_->on_session_lost(kFirst);
  come(kSecond, 1, 1);
  EXPECT_THAT(answers(), IsEmpty());
  cancel(kSecond, 2, 1);
  EXPECT_THAT(answers(), ElementsAre("1/2 {}"));
  come(kFirst, 1, 1);
  EXPECT_THAT(answers(), IsEmpty());
  come(kSecond, 3, 1);
  EXPECT_THAT(answers(), testing::SizeIs(2));
}

TEST_F(KeyDeskTest, AtTheLimitItIsToldWhoHasCome) {
  come(kFirst, 1, 1, 1, std::chrono::milliseconds(1));
  wait_for_answer();
  EXPECT_THAT(answers(),
              ElementsAre("0/1 {\"complete\":false,\"round\":1,\"come\":[\"worker:0\"]}"));
}

TEST_F(KeyDeskTest, WhoseTimeEndsLaterIsToldOfTheOthersToo) {
  const auto wait_for_three = [&](const job::TaskId& task, std::chrono::milliseconds limit) {
    const wire::BarrierQuestion question{.name = "b", .tasks = 3, .round = 1};
    EXPECT_TRUE(desk_->ask(task, {.id = 1,
                                  .kind = std::string(wire::kBarrierKind),
                                  .about = base::to_json(question),
                                  .limit = limit}));
  };
  wait_for_three(kFirst, std::chrono::milliseconds(1));
  wait_for_three(kSecond, std::chrono::milliseconds(50));
  ASSERT_TRUE(loop_.run_until([this] { return answers_.size() == 2; },
                              loop_.now() + std::chrono::seconds(20)));
  EXPECT_EQ(answers().back(),
            "1/1 {\"complete\":false,\"round\":1,\"come\":[\"worker:0\",\"worker:1\"]}");
}

TEST_F(KeyDeskTest, TheNextGenerationEndsBarriersAndKeepsKeys) {
  ask(kFirst, 1, put("a", "x", 1));
  come(kFirst, 2, 1);
  (void)answers();
  come(kSecond, 1, 0, 2);
  EXPECT_THAT(answers(),
              ElementsAre("0/2 its generation is over", "1/1 {\"complete\":false,\"round\":1}"));
  ask(kSecond, 2, {.action = KeyAction::kGet, .key = "a"});
  EXPECT_THAT(answers(), ElementsAre("1/2 {\"found\":true,\"value\":\"78\"}"));
}

TEST_F(KeyDeskTest, WhoWaitsForATaskThatHasEndedIsTold) {
  const wire::BarrierQuestion question{.name = "b", .round = 1, .of = 2, .tracked = true};
  wire::BarrierQuestion of_two = question;
  of_two.tasks = 2;
  const auto ask_barrier = [&](std::int64_t id) {
    EXPECT_TRUE(desk_->ask(kFirst, {.id = id,
                                    .kind = std::string(wire::kBarrierKind),
                                    .about = base::to_json(of_two),
                                    .limit = std::chrono::minutes(1)}));
  };
  ask_barrier(7);
  desk_->on_task_ended(1, kSecond, true, "has succeeded");
  const std::string said = R"({"complete":false,"round":1,"ended":"worker:1 has succeeded"})";
  EXPECT_THAT(answers_, ElementsAre("0/7 " + said));
  ask_barrier(8);
  EXPECT_THAT(answers_, ElementsAre("0/7 " + said, "0/8 " + said));
  // News of a generation that is over changes nothing.
  desk_->on_task_ended(2, {"worker", 2}, true, "has succeeded");
  desk_->on_task_ended(1, kSecond, true, "has succeeded");
  of_two.generation = 2;
  of_two.of = 3;
  ask_barrier(9);
  EXPECT_EQ(answers_.size(), 2);
}

}  // namespace
}  // namespace gangrun::agents
