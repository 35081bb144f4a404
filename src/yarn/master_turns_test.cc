#include "yarn/master_turns.h"

#include <gmock/gmock.h>

namespace gangrun::yarn {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Optional;
using Call = MasterTurns::Call;
using Failure = MasterTurns::Failure;

constexpr base::Instant kStart{seconds(1000)};

// One that is registered and has a call due at kStart.
MasterTurns registered() {
  MasterTurns turns;
  turns.begin(kStart);
  EXPECT_EQ(turns.take_call(kStart), Call::kRegister);
  turns.on_registered(kStart);
  return turns;
}

TEST(MasterTurns, NothingIsCalledBeforeItBegins) {
  MasterTurns turns;
  turns.hurry(kStart);
  EXPECT_EQ(turns.next_call_at(), std::nullopt);
  EXPECT_EQ(turns.take_call(kStart), std::nullopt);
}

TEST(MasterTurns, RegistersFirstThenAllocatesAtOnce) {
  MasterTurns turns = registered();
  EXPECT_THAT(turns.next_call_at(), Optional(kStart));
  EXPECT_EQ(turns.take_call(kStart), Call::kAllocate);
}

TEST(MasterTurns, OneCallAtATime) {
  MasterTurns turns = registered();
  ASSERT_TRUE(turns.take_call(kStart));
  EXPECT_TRUE(turns.is_busy());
  turns.hurry(kStart);
  EXPECT_EQ(turns.next_call_at(), std::nullopt);
  EXPECT_EQ(turns.take_call(kStart + seconds(9)), std::nullopt);
  turns.on_allocated(false, true, kStart + seconds(9));
  EXPECT_FALSE(turns.is_busy());
  EXPECT_THAT(turns.next_call_at(), Optional(kStart + seconds(9)));
}

TEST(MasterTurns, ACallIsNotDueBeforeItsTime) {
  MasterTurns turns = registered();
  ASSERT_TRUE(turns.take_call(kStart));
  turns.on_allocated(false, false, kStart);
  EXPECT_EQ(turns.take_call(kStart + kFirstPoll - milliseconds(1)), std::nullopt);
  EXPECT_EQ(turns.take_call(kStart + kFirstPoll), Call::kAllocate);
}

// The pauses after so many answers without news.
std::vector<base::Duration> pauses(MasterTurns& turns, int count) {
  std::vector<base::Duration> found;
  for (int i = 0; i < count; ++i) {
    const base::Instant at = *turns.next_call_at();
    EXPECT_TRUE(turns.take_call(at));
    turns.on_allocated(false, false, at);
    found.push_back(*turns.next_call_at() - at);
  }
  return found;
}

TEST(MasterTurns, PausesDoubleUpToTheLongest) {
  MasterTurns turns = registered();
  EXPECT_THAT(pauses(turns, 9),
              testing::ElementsAre(milliseconds(10), milliseconds(20), milliseconds(40),
                                   milliseconds(80), milliseconds(160), milliseconds(320),
                                   milliseconds(640), kLongestPoll, kLongestPoll));
}

TEST(MasterTurns, NewsMakePausesShortAgain) {
  MasterTurns turns = registered();
  pauses(turns, 9);
  const base::Instant at = *turns.next_call_at();
  ASSERT_TRUE(turns.take_call(at));
  turns.on_allocated(true, false, at);
  EXPECT_THAT(turns.next_call_at(), Optional(at + kFirstPoll));
}

TEST(MasterTurns, WhoHasSomethingToSayDoesNotWait) {
  MasterTurns turns = registered();
  pauses(turns, 9);
  const base::Instant now = *turns.next_call_at() - milliseconds(500);
  turns.hurry(now);
  turns.hurry(now + milliseconds(1));  // the first one is due still
  EXPECT_THAT(turns.next_call_at(), Optional(now));
  EXPECT_THAT(pauses(turns, 1), testing::ElementsAre(kFirstPoll));
}

TEST(MasterTurns, AHurryDuringACallShortensThePauseAfterIt) {
  MasterTurns turns = registered();
  pauses(turns, 9);
  const base::Instant at = *turns.next_call_at();
  ASSERT_TRUE(turns.take_call(at));
  turns.hurry(at);
  turns.on_allocated(false, false, at);
  EXPECT_THAT(turns.next_call_at(), Optional(at + kFirstPoll));
}

TEST(MasterTurns, ARestartedResourceManagerIsRegisteredAtAnew) {
  MasterTurns turns = registered();
  ASSERT_TRUE(turns.take_call(kStart));
  EXPECT_EQ(turns.on_failed(base::Code::kFailedPrecondition, kStart), Failure::kRestarted);
  EXPECT_THAT(turns.next_call_at(), Optional(kStart + kFirstPoll));
  EXPECT_EQ(turns.take_call(kStart + kFirstPoll), Call::kRegister);
  turns.on_registered(kStart + kFirstPoll);
  EXPECT_EQ(turns.take_call(kStart + kFirstPoll), Call::kAllocate);
}

TEST(MasterTurns, AReplacedMasterIsSilentForGood) {
  MasterTurns turns = registered();
  ASSERT_TRUE(turns.take_call(kStart));
  EXPECT_EQ(turns.on_failed(base::Code::kNotFound, kStart), Failure::kReplaced);
  EXPECT_TRUE(turns.is_unwanted());
  turns.hurry(kStart);
  EXPECT_EQ(turns.next_call_at(), std::nullopt);
  EXPECT_FALSE(turns.is_awaited());  // the other one has the last word
}

TEST(MasterTurns, ARefusalLeavesTimeToEnd) {
  MasterTurns turns = registered();
  ASSERT_TRUE(turns.take_call(kStart));
  EXPECT_EQ(turns.on_failed(base::Code::kInvalidArgument, kStart), Failure::kRefused);
  EXPECT_THAT(turns.next_call_at(), Optional(kStart + kLongestPoll));
}

TEST(MasterTurns, SilenceIsToldAtItsBeginningAndWhenItIsTooLong) {
  MasterTurns turns = registered();
  base::Instant now = kStart;
  std::vector<std::pair<base::Duration, Failure>> told;
  while (now < kStart + 2 * kResourceManagerTimeout) {
    ASSERT_TRUE(turns.take_call(now));
    const Failure failure = turns.on_failed(
        told.empty() ? base::Code::kUnavailable : base::Code::kDeadlineExceeded, now);
    if (failure != Failure::kSilent) told.emplace_back(now - kStart, failure);
    ASSERT_THAT(turns.next_call_at(), Optional(now + kSilentPoll));
    now += kSilentPoll;
  }
  EXPECT_THAT(told, testing::ElementsAre(
                        testing::Pair(base::Duration(0), Failure::kBecameSilent),
                        testing::Pair(kResourceManagerTimeout + kSilentPoll, Failure::kGivenUp)));
}

TEST(MasterTurns, AnAnswerEndsASilence) {
  MasterTurns turns = registered();
  ASSERT_TRUE(turns.take_call(kStart));
  EXPECT_EQ(turns.on_failed(base::Code::kUnavailable, kStart), Failure::kBecameSilent);
  const base::Instant later = kStart + kResourceManagerTimeout;
  ASSERT_TRUE(turns.take_call(later));
  turns.on_allocated(false, true, later);
  ASSERT_TRUE(turns.take_call(later));
  EXPECT_EQ(turns.on_failed(base::Code::kUnavailable, later + seconds(1)), Failure::kBecameSilent);
}

TEST(MasterTurns, ASilentOneIsCalledAtOnceWhereThereIsSomethingToSay) {
  MasterTurns turns = registered();
  ASSERT_TRUE(turns.take_call(kStart));
  (void)turns.on_failed(base::Code::kUnavailable, kStart);
  turns.hurry(kStart + milliseconds(1));
  EXPECT_EQ(turns.take_call(kStart + milliseconds(1)), Call::kAllocate);
}

TEST(MasterTurns, AfterTheEndNothingIsCalled) {
  MasterTurns turns = registered();
  turns.finish();
  EXPECT_TRUE(turns.is_awaited());
  turns.hurry(kStart);
  EXPECT_EQ(turns.take_call(kStart + seconds(9)), std::nullopt);
}

TEST(MasterTurns, AnEndDuringACallIsTheLast) {
  MasterTurns turns = registered();
  ASSERT_TRUE(turns.take_call(kStart));
  turns.finish();
  EXPECT_TRUE(turns.is_busy());
  (void)turns.on_failed(base::Code::kUnavailable, kStart);
  EXPECT_EQ(turns.next_call_at(), std::nullopt);
  EXPECT_TRUE(turns.is_awaited());
}

TEST(MasterTurns, AnEndDuringTheRegistrationWaitsForWhatComesOfIt) {
  for (const bool succeeds : {false, true}) {
    MasterTurns turns;
    turns.begin(kStart);
    ASSERT_EQ(turns.take_call(kStart), Call::kRegister);
    turns.finish();
    EXPECT_TRUE(turns.is_busy());
    if (succeeds) {
      turns.on_registered(kStart);
    } else {
      (void)turns.on_failed(base::Code::kUnavailable, kStart);
    }
    EXPECT_EQ(turns.is_awaited(), succeeds);
    EXPECT_EQ(turns.next_call_at(), std::nullopt);
  }
}

TEST(MasterTurns, WhoWasNeverRegisteredHasNoLastWord) {
  MasterTurns turns;
  turns.begin(kStart);
  turns.finish();
  EXPECT_FALSE(turns.is_awaited());
  EXPECT_FALSE(turns.is_busy());
  EXPECT_EQ(turns.take_call(kStart), std::nullopt);
}

}  // namespace
}  // namespace gangrun::yarn
