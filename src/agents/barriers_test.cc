#include "agents/barriers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace gangrun::agents {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using wire::BarrierQuestion;
using Next = Barriers::Next;

const job::TaskId kFirst{"worker", 0};
const job::TaskId kSecond{"worker", 1};

BarrierQuestion for_two(std::int64_t round, int process = 0, int processes = 1) {
  return {.name = "b",
          .generation = 1,
          .tasks = 2,
          .process = process,
          .processes = processes,
          .round = round};
}

TEST(BarriersTest, TheRoundIsToldFirst) {
  Barriers barriers;
  const auto step = barriers.come({kFirst, 1}, for_two(0));
  ASSERT_TRUE(step.ok());
  EXPECT_EQ(step->next, Next::kAnswer);
  EXPECT_FALSE(step->answer.is_complete);
  EXPECT_EQ(step->answer.round, 1);
}

TEST(BarriersTest, AllGoOnWhenAllHaveComeAndItIsRecorded) {
  Barriers barriers;
  EXPECT_EQ(barriers.come({kFirst, 1}, for_two(1))->next, Next::kWait);
  EXPECT_EQ(barriers.come({kSecond, 1}, for_two(1))->next, Next::kRecord);
  EXPECT_THAT(barriers.release(1, "b", 1),
              UnorderedElementsAre(Asker(kFirst, 1), Asker(kSecond, 1)));
  // An agent that did not hear of it asks again, and goes on; the next round is another one.
  EXPECT_TRUE(barriers.come({kFirst, 2}, for_two(1))->answer.is_complete);
  EXPECT_EQ(barriers.come({kFirst, 3}, for_two(0))->answer.round, 2);
}

TEST(BarriersTest, ANextMasterKnowsWhatWasReleased) {
  Barriers barriers;
  EXPECT_THAT(barriers.release(1, "b", 4), IsEmpty());
  EXPECT_TRUE(barriers.come({kFirst, 1}, for_two(4))->answer.is_complete);
  EXPECT_EQ(barriers.come({kFirst, 1}, for_two(5))->next, Next::kWait);
}

BarrierQuestion for_all_of(int of, int tasks, bool tracked) {
  return {.name = "b",
          .generation = 1,
          .tasks = tasks,
          .process = 0,
          .processes = 1,
          .round = 1,
          .of = of,
          .tracked = tracked};
}

// It was answered as one that is not complete yet, and its agent asked again without a pause.
TEST(BarriersTest, NobodyWaitsForMoreTasksThanThereAre) {
  Barriers barriers;
  const auto refused = barriers.come({kFirst, 1}, for_all_of(2, 3, false));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "the barrier b is for 3 tasks, and there are 2");
  EXPECT_EQ(barriers.come({kFirst, 2}, for_all_of(3, 3, false))->next, Next::kWait);
}

TEST(BarriersTest, NobodyWaitsForATaskThatHasEnded) {
  Barriers barriers;
  (void)barriers.begin(1);
  EXPECT_EQ(barriers.come({kFirst, 1}, for_all_of(2, 2, true))->next, Next::kWait);
  EXPECT_THAT(barriers.end({{"reader", 0}, false, "has succeeded"}), IsEmpty());
  const auto hopeless = barriers.end({kSecond, true, "has succeeded"});
  ASSERT_EQ(hopeless.size(), 1);
  EXPECT_THAT(hopeless[0].askers, ElementsAre(Asker(kFirst, 1)));
  EXPECT_EQ(hopeless[0].answer.ended, "worker:1 has succeeded");
  EXPECT_THAT(barriers.end({kSecond, true, "was killed"}), IsEmpty());
  // One that comes later hears it at once; of all tasks that could come, there are enough.
  const auto late = barriers.come({kFirst, 2}, for_all_of(2, 2, true));
  EXPECT_EQ(late->next, Next::kAnswer);
  EXPECT_EQ(late->answer.ended, "worker:1 has succeeded");
  EXPECT_EQ(barriers.come({kFirst, 3}, for_all_of(3, 1, false))->next, Next::kRecord);
}

// worker:0 and an evaluator let each other go, though worker:1 never came.
TEST(BarriersTest, ATaskThatIsNotTrackedDoesNotCountForATrackedOne) {
  Barriers barriers;
  const job::TaskId evaluator{"evaluator", 0};
  EXPECT_EQ(barriers.come({evaluator, 1}, for_all_of(2, 2, true), false)->next, Next::kWait);
  EXPECT_EQ(barriers.come({kFirst, 1}, for_all_of(2, 2, true))->next, Next::kWait);
  EXPECT_THAT(barriers.answer_to({evaluator, 1}).come, ElementsAre(kFirst));
  EXPECT_EQ(barriers.come({kSecond, 1}, for_all_of(2, 2, true))->next, Next::kRecord);
  EXPECT_THAT(barriers.release(1, "b", 1), testing::SizeIs(3));
}

TEST(BarriersTest, WhereANumberIsGivenAnyTaskCounts) {
  Barriers barriers;
  const job::TaskId evaluator{"evaluator", 0};
  EXPECT_EQ(barriers.come({evaluator, 1}, for_all_of(3, 2, false), false)->next, Next::kWait);
  const auto other = barriers.come({kFirst, 1}, for_all_of(2, 2, true));
  ASSERT_FALSE(other.ok());
  EXPECT_THAT(other.error().message, HasSubstr("for 2 tasks, not for all tracked tasks"));
  EXPECT_EQ(barriers.come({kFirst, 1}, for_all_of(3, 2, false))->next, Next::kRecord);
}

TEST(BarriersTest, SomeOfTheTasksMayHaveEnded) {
  Barriers barriers;
  (void)barriers.begin(1);
  EXPECT_EQ(barriers.come({kFirst, 1}, for_all_of(4, 2, false))->next, Next::kWait);
  EXPECT_THAT(barriers.end({{"worker", 2}, true, "has succeeded"}), IsEmpty());
  EXPECT_THAT(barriers.end({{"worker", 3}, true, "has succeeded"}), IsEmpty());
  const auto hopeless = barriers.end({kSecond, true, "exited with status 3"});
  ASSERT_EQ(hopeless.size(), 1);
  EXPECT_EQ(hopeless[0].answer.ended,
            "worker:1 exited with status 3, worker:2 has succeeded, worker:3 has succeeded");
}

// Those who give up were told that these are missing, like tasks that may still come.
TEST(BarriersTest, WhoGivesUpIsToldWhoHasEnded) {
  Barriers barriers;
  (void)barriers.begin(1);
  EXPECT_EQ(barriers.come({kFirst, 1}, for_all_of(4, 2, false))->next, Next::kWait);
  EXPECT_THAT(barriers.end({{"worker", 3}, true, "has succeeded"}), IsEmpty());
  const auto answer = barriers.time_out({kFirst, 1}, false);
  EXPECT_THAT(answer.come, ElementsAre(kFirst));
  EXPECT_THAT(answer.gone, ElementsAre(job::TaskId{"worker", 3}));
  EXPECT_EQ(answer.ended, "");
}

// One that was there, and ended at its own limit before the others gave up, has come.
TEST(BarriersTest, WhoHadComeAndEndedIsNotGone) {
  Barriers barriers;
  (void)barriers.begin(1);
  EXPECT_EQ(barriers.come({kFirst, 1}, for_all_of(4, 3, false))->next, Next::kWait);
  EXPECT_EQ(barriers.come({kSecond, 1}, for_all_of(4, 3, false))->next, Next::kWait);
  (void)barriers.time_out({kSecond, 1}, false);
  EXPECT_THAT(barriers.end({kSecond, true, "exited with status 3"}), IsEmpty());
  const auto answer = barriers.time_out({kFirst, 1}, false);
  EXPECT_THAT(answer.come, ElementsAre(kFirst, kSecond));
  EXPECT_THAT(answer.gone, IsEmpty());
}

TEST(BarriersTest, WhoseQuestionSaysNotHowManyThereAreWaits) {
  Barriers barriers;
  (void)barriers.begin(1);
  EXPECT_EQ(barriers.come({kFirst, 1}, for_two(1))->next, Next::kWait);
  EXPECT_THAT(barriers.end({kSecond, true, "has succeeded"}), IsEmpty());
}

TEST(BarriersTest, ATaskMayComeInTheNextGeneration) {
  Barriers barriers;
  (void)barriers.begin(1);
  (void)barriers.end({kSecond, true, "has succeeded"});
  (void)barriers.begin(2);
  BarrierQuestion next = for_all_of(2, 2, true);
  next.generation = 2;
  EXPECT_EQ(barriers.come({kFirst, 1}, next)->next, Next::kWait);
}

TEST(BarriersTest, WhoAsksTwiceCountsOnce) {
  Barriers barriers;
  for (const std::int64_t id : {1, 1, 2, 3}) {
    EXPECT_EQ(barriers.come({kFirst, id}, for_two(1))->next, Next::kWait);
  }
  EXPECT_THAT(barriers.answer_to({kFirst, 1}).come, ElementsAre(kFirst));
}

TEST(BarriersTest, ATaskThatIsKilledThereDoesNotCount) {
  Barriers barriers;
  EXPECT_EQ(barriers.come({kFirst, 1}, for_two(1))->next, Next::kWait);
  barriers.take_back({kFirst, 1});
  EXPECT_EQ(barriers.come({kSecond, 1}, for_two(1))->next, Next::kWait);
  EXPECT_THAT(barriers.answer_to({kSecond, 1}).come, ElementsAre(kSecond));
  EXPECT_EQ(barriers.come({kFirst, 2}, for_two(1))->next, Next::kRecord);
}

TEST(BarriersTest, ATaskHasComeWhenAllOfItsProcessesHave) {
  Barriers barriers;
  EXPECT_EQ(barriers.come({kFirst, 1}, for_two(1, 0, 2))->next, Next::kWait);
  EXPECT_EQ(barriers.come({kSecond, 1}, for_two(1, 0, 2))->next, Next::kWait);
  EXPECT_EQ(barriers.come({kSecond, 2}, for_two(1, 1, 2))->next, Next::kWait);
  const auto answer = barriers.answer_to({kSecond, 1});
  EXPECT_THAT(answer.come, ElementsAre(kSecond));
  EXPECT_THAT(answer.partly, ElementsAre(wire::PartlyCome{kFirst, 1}));
  EXPECT_EQ(barriers.come({kFirst, 2}, for_two(1, 1, 2))->next, Next::kRecord);
}

// "1 of 4 tasks had come; missing: worker:1, worker:2, worker:3", though only worker:3 was missing.
TEST(BarriersTest, WhoTimesOutFirstHasComeForTheOthers) {
  Barriers barriers;
  const job::TaskId third{"worker", 2};
  for (const job::TaskId& task : {kFirst, kSecond, third}) {
    EXPECT_EQ(barriers.come({task, 1}, for_all_of(4, 4, true))->next, Next::kWait);
  }
  for (const job::TaskId& task : {kFirst, kSecond, third}) {
    EXPECT_THAT(barriers.time_out({task, 1}, false).come, ElementsAre(kFirst, kSecond, third));
  }
  // A later attempt is another one.
  EXPECT_EQ(barriers.come({kFirst, 2}, for_all_of(4, 4, true))->next, Next::kWait);
  EXPECT_THAT(barriers.time_out({kFirst, 2}, false).come, ElementsAre(kFirst));
}

TEST(BarriersTest, WhoTimedOutBeforeAnotherCameHasNotComeForIt) {
  Barriers barriers;
  const job::TaskId third{"worker", 2};
  EXPECT_EQ(barriers.come({kFirst, 1}, for_all_of(3, 3, true))->next, Next::kWait);
  EXPECT_EQ(barriers.come({kSecond, 1}, for_all_of(3, 3, true))->next, Next::kWait);
  EXPECT_THAT(barriers.time_out({kFirst, 1}, false).come, ElementsAre(kFirst, kSecond));
  EXPECT_EQ(barriers.come({third, 1}, for_all_of(3, 3, true))->next, Next::kWait);
  EXPECT_THAT(barriers.answer_to({third, 1}).come, ElementsAre(kSecond, third));
  EXPECT_THAT(barriers.time_out({kSecond, 1}, false).come, ElementsAre(kFirst, kSecond, third));
}

TEST(BarriersTest, AWaitThatIsAskedAgainGoesOn) {
  Barriers barriers;
  EXPECT_EQ(barriers.come({kFirst, 1}, for_all_of(3, 3, true))->next, Next::kWait);
  EXPECT_EQ(barriers.come({kSecond, 1}, for_all_of(3, 3, true))->next, Next::kWait);
  (void)barriers.time_out({kFirst, 1}, false);
  (void)barriers.time_out({kSecond, 1}, true);
  EXPECT_EQ(barriers.come({kSecond, 2}, for_all_of(3, 3, true))->next, Next::kWait);
  EXPECT_THAT(barriers.time_out({kSecond, 2}, false).come, ElementsAre(kFirst, kSecond));
}

TEST(BarriersTest, ATaskWhoseProcessesTimeOutHasCome) {
  Barriers barriers;
  EXPECT_EQ(barriers.come({kFirst, 1}, for_two(1, 0, 2))->next, Next::kWait);
  EXPECT_EQ(barriers.come({kFirst, 2}, for_two(1, 1, 2))->next, Next::kWait);
  EXPECT_THAT(barriers.time_out({kFirst, 1}, false).come, ElementsAre(kFirst));
  const auto last = barriers.time_out({kFirst, 2}, false);
  EXPECT_THAT(last.come, ElementsAre(kFirst));
  EXPECT_THAT(last.partly, IsEmpty());
}

TEST(BarriersTest, OneOfACompleteRoundIsNotSentToTheNext) {
  Barriers barriers;
  (void)barriers.come({kFirst, 1}, for_two(1));
  (void)barriers.come({kSecond, 1}, for_two(1));
  EXPECT_EQ(barriers.answer_to({kFirst, 1}).round, 1);
  EXPECT_TRUE(barriers.is_leaving({kFirst, 1}));
  // Its session was lost before the record was written, and it asks again.
  barriers.take_back({kFirst, 1});
  EXPECT_EQ(barriers.come({kFirst, 1}, for_two(1))->next, Next::kWait);
  EXPECT_THAT(barriers.release(1, "b", 1), testing::SizeIs(2));
}

TEST(BarriersTest, NobodyGoesOnWhereItCannotBeRecorded) {
  Barriers barriers;
  (void)barriers.come({kFirst, 1}, for_two(1));
  (void)barriers.come({kSecond, 1}, for_two(1));
  EXPECT_THAT(barriers.refuse(1, "b", 1), testing::SizeIs(2));
  EXPECT_EQ(barriers.come({kFirst, 2}, for_two(1))->next, Next::kWait);
}

TEST(BarriersTest, TheyBelongToAGeneration) {
  Barriers barriers;
  (void)barriers.come({kFirst, 1}, for_two(1));
  (void)barriers.release(1, "other", 3);
  EXPECT_THAT(barriers.begin(2), ElementsAre(Asker(kFirst, 1)));
  EXPECT_THAT(barriers.begin(2), IsEmpty());
  const auto late = barriers.come({kSecond, 1}, for_two(1));
  ASSERT_FALSE(late.ok());
  EXPECT_THAT(late.error().message, HasSubstr("generation 1 is over"));
  EXPECT_THAT(barriers.released(), IsEmpty());
  EXPECT_THAT(barriers.release(1, "b", 1), IsEmpty());
}

TEST(BarriersTest, TasksThatDisagreeAreTold) {
  Barriers barriers;
  (void)barriers.come({kFirst, 1}, for_two(1));
  BarrierQuestion three = for_two(1);
  three.tasks = 3;
  const auto refused = barriers.come({kSecond, 1}, three);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("for 2 tasks, not for 3"));
}

TEST(BarriersTest, NamesAreLimited) {
  Barriers barriers;
  BarrierQuestion question = for_two(0);
  for (std::size_t i = 0; i < wire::kMaxBarriers; ++i) {
    question.name = "b" + std::to_string(i);
    ASSERT_TRUE(barriers.come({kFirst, 1}, question).ok());
  }
  question.name = "more";
  EXPECT_FALSE(barriers.come({kFirst, 1}, question).ok());
}

}  // namespace
}  // namespace gangrun::agents
