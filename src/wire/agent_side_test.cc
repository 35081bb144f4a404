#include "wire/agent_side.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "base/format.h"
#include "job/status.h"

namespace gangrun::wire {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const job::TaskId kTask{"worker", 0};
const job::Address kHeld{"host", 40'000};
const job::Address kMoved{"host", 40'001};

// An agent's side whose connection is a list of what was sent.
class AgentSideTest : public ::testing::Test, private AgentSideOutput {
 protected:
  explicit AgentSideTest(const AgentIdentity& identity = {kTask, 1, kHeld, 17})
      : side_(identity, callbacks(), *this) {
    side_.open(now_);
  }

  AgentSessionCallbacks callbacks() {
    AgentSessionCallbacks callbacks;
    callbacks.on_start = [this](const StartMessage& start) {
      told_.push_back(base::format("start {}", start.attempt));
    };
    callbacks.on_stop = [this](milliseconds) { told_.emplace_back("stop"); };
    callbacks.on_end = [this](milliseconds) { told_.emplace_back("end"); };
    callbacks.on_heartbeat = [] { return HeartbeatMessage{}; };
    callbacks.on_outdated_spec = [this] { told_.emplace_back("outdated"); };
    callbacks.on_lost = [this](const std::string& reason) { told_.push_back("lost: " + reason); };
    callbacks.on_refused = [this](const std::string& why) { told_.push_back("refused: " + why); };
    return callbacks;
  }
  void attach(milliseconds lease = seconds(60)) {
    side_.on_connected(now_);
    hear(WelcomeMessage{seconds(10), lease});
    sent_.clear();
  }
  void hear(const MasterMessage& message) { side_.on_frame(encode(message), now_); }
  void start(int attempt, int generation, const job::Address& address) {
    StartMessage message;
    message.attempt = attempt;
    message.cluster_spec.generation = generation;
    message.cluster_spec.tasks["worker"] = {address};
    hear(message);
  }
  // To the next thing that it waits for.
  void expire() {
    now_ = *side_.next_deadline();
    side_.on_time(now_);
  }
  std::vector<std::string> told() { return std::exchange(told_, {}); }
  std::vector<AgentMessage> sent() {
    std::vector<AgentMessage> messages;
    for (const std::string& frame : std::exchange(sent_, {})) {
      messages.push_back(*decode_agent_message(frame));
    }
    return messages;
  }

  void connect() override { ++connects_; }
  void disconnect() override { ++disconnects_; }
  void send(std::string frame) override { sent_.push_back(std::move(frame)); }
  [[nodiscard]] std::size_t unsent_bytes() const override { return unsent_; }

  int connects_ = 0;
  int disconnects_ = 0;
  std::size_t unsent_ = 0;
  std::vector<std::string> sent_;
  std::vector<std::string> told_;
  base::Instant now_{seconds(1000)};
  AgentSide side_;
};

TEST_F(AgentSideTest, TriesAsLongAsTheFirstContactMayTake) {
  const base::Instant begun = now_;
  while (told_.empty()) {
    side_.on_not_connected("nobody is there", false, now_);
    expire();
  }
  EXPECT_EQ(now_ - begun, kFirstContactTimeout);
  EXPECT_GT(connects_, 5);
  EXPECT_THAT(told(), ElementsAre("lost: no answer from the master for 30 s (nobody is there)"));
  EXPECT_EQ(side_.next_deadline(), std::nullopt);
}

TEST_F(AgentSideTest, RefusalEndsItBeforeTheFirstWelcomeOnly) {
  attach();
  side_.on_connection_lost("reset", now_);
  side_.on_not_connected("401", true, now_);
  EXPECT_THAT(told(), IsEmpty());
  hear(RefusedMessage{"another attempt is expected", false});
  EXPECT_THAT(told(), ElementsAre("refused: another attempt is expected"));
}

TEST_F(AgentSideTest, RefusedConnectionEndsItAtFirst) {
  side_.on_not_connected("401", true, now_);
  EXPECT_THAT(told(), ElementsAre("refused: 401"));
}

TEST_F(AgentSideTest, ReportThatIsNotAnsweredIsMadeAnew) {
  side_.on_connected(now_);
  expire();
  EXPECT_EQ(disconnects_, 1);
  EXPECT_FALSE(side_.is_attached());
  expire();
  EXPECT_EQ(connects_, 2);
}

// The answer to a heartbeat says that the master lived when it was sent, no later.
TEST_F(AgentSideTest, LeaseCountsFromTheHeartbeatThatWasAnswered) {
  attach(seconds(25));
  const base::Instant reported = now_;
  expire();
  EXPECT_EQ(now_ - reported, seconds(10));
  now_ += seconds(5);
  hear(AliveMessage{});
  while (told_.empty()) expire();
  EXPECT_EQ(now_ - reported, seconds(35));
}

TEST_F(AgentSideTest, WithoutALeaseTheEndOfTheConnectionIsTheEnd) {
  attach(milliseconds(0));
  side_.on_connection_lost("reset", now_);
  EXPECT_THAT(told(), ElementsAre("lost: reset"));
}

TEST_F(AgentSideTest, RunsEachStartOnce) {
  attach();
  start(1, 1, kHeld);
  start(1, 1, kHeld);
  side_.started(99);
  start(2, 2, kHeld);
  EXPECT_THAT(told(), ElementsAre("start 1"));
  job::ExitReport report;
  report.why.code = 1;
  side_.exited(report, now_, now_);
  start(1, 1, kHeld);
  EXPECT_THAT(told(), IsEmpty());
  start(2, 1, kHeld);
  EXPECT_THAT(told(), ElementsAre("start 2"));
}

TEST_F(AgentSideTest, TellsTheNextMasterHowTheRunEnded) {
  attach();
  start(1, 1, kHeld);
  side_.started(99);
  side_.on_connection_lost("reset", now_);
  job::ExitReport report;
  report.why.code = 1;
  side_.exited(report, now_, now_);
  now_ += seconds(3);
  side_.on_connected(now_);
  const auto messages = sent();
  const auto& said = std::get<ReportMessage>(messages.back());
  EXPECT_EQ(said.state, AgentState::kExited);
  EXPECT_EQ(said.run_attempt, 1);
  EXPECT_EQ(said.exit, (PastExit{report, seconds(3)}));
}

// A result is sent between the end of the processes and the word of it.
TEST_F(AgentSideTest, ARunHasEndedWhenItsProcessesHave) {
  attach();
  start(1, 1, kHeld);
  side_.started(99);
  const base::Instant ended_at = now_;
  now_ += seconds(2);
  side_.exited({}, ended_at, now_);
  EXPECT_EQ(std::get<ExitedMessage>(sent().back()).exit.ago, seconds(2));
}

TEST_F(AgentSideTest, WhatIsOfNoRunIsNotSent) {
  attach();
  side_.figures({{"step", job::Figure(std::int64_t{1})}});
  EXPECT_THAT(sent(), IsEmpty());
  start(3, 2, kHeld);
  side_.started(99);
  sent_.clear();
  const job::Figures figures = {{"step", job::Figure(std::int64_t{1})}};
  side_.figures(figures);
  EXPECT_THAT(sent(), ElementsAre(AgentMessage(FiguresMessage{3, 2, figures})));
}

// A master may die between its answer and its record of what it was told; only the start of the
// next run says that it has recorded the end of the one before.
TEST_F(AgentSideTest, OnlyTheNextStartSaysThatTheExitIsKnown) {
  attach();
  start(1, 1, kHeld);
  side_.started(99);
  side_.on_connection_lost("reset", now_);
  job::ExitReport report;
  report.why.reason = job::Reason::kPortLost;
  side_.exited(report, now_, now_);
  side_.set_address(kMoved);
  expire();
  attach();
  EXPECT_EQ(side_.state(), AgentState::kExited);
  expire();
  hear(AliveMessage{});
  EXPECT_EQ(side_.state(), AgentState::kExited);
  start(2, 2, kMoved);
  EXPECT_EQ(side_.state(), AgentState::kStarting);
}

TEST_F(AgentSideTest, EachReportHasThePortsThatAreHeldNow) {
  attach();
  side_.set_address(kMoved, {41, 42});
  start(1, 1, kMoved);
  side_.started(99);
  side_.exited({}, now_, now_);
  side_.set_address(kHeld, {43});
  const auto messages = sent();
  ASSERT_THAT(messages, ::testing::SizeIs(4));
  EXPECT_THAT(std::get<ReportMessage>(messages.front()).more_ports, ElementsAre(41, 42));
  EXPECT_THAT(std::get<ReportMessage>(messages.back()).more_ports, ElementsAre(43));
  side_.on_connection_lost("reset", now_);
  expire();
  side_.on_connected(now_);
  for (const AgentMessage& message : sent()) {
    EXPECT_THAT(std::get<ReportMessage>(message).more_ports, ElementsAre(43));
  }
}

// The master that was told of the lost port may be dead: the next one sends the same start, and
// must hear of it too.
TEST_F(AgentSideTest, OutdatedSpecIsToldEachTime) {
  attach();
  side_.set_address(kMoved);
  EXPECT_THAT(sent(), ::testing::SizeIs(1));
  for (int i = 0; i < 2; ++i) {
    start(1, 1, kHeld);
    EXPECT_THAT(told(), ElementsAre("outdated"));
    const auto messages = sent();
    ASSERT_THAT(messages, ::testing::SizeIs(2));
    EXPECT_EQ(std::get<PortLostMessage>(messages[0]).generation, 1);
    EXPECT_EQ(std::get<ReportMessage>(messages[1]).address, kMoved);
    EXPECT_EQ(side_.state(), AgentState::kWaiting);
  }
}

// The master has come back somewhere else, and says so.
TEST_F(AgentSideTest, ConnectsAtOnceToWhereTheMasterIsNow) {
  attach();
  const auto lease_end = [this] {
    base::Instant end = now_;
    while (told_.empty()) {
      side_.on_not_connected("nobody is there", false, now_);
      expire();
      end = now_;
    }
    return end;
  };
  const base::Instant reported_at = now_;
  now_ += seconds(5);
  side_.connect_now(true);  // while connected
  EXPECT_EQ(std::pair(connects_, disconnects_), std::pair(2, 1));
  EXPECT_FALSE(side_.is_attached());
  side_.connect_now(true);  // while it connects
  EXPECT_EQ(std::pair(connects_, disconnects_), std::pair(3, 2));
  side_.on_not_connected("nobody is there yet", false, now_);
  side_.connect_now(true);  // in the pause
  EXPECT_EQ(std::pair(connects_, disconnects_), std::pair(4, 4));
  EXPECT_THAT(sent(), IsEmpty());
  side_.on_connected(now_);
  EXPECT_THAT(sent(), ::testing::SizeIs(1));
  // It has not been heard of: the old lease goes on.
  EXPECT_EQ(lease_end(), reported_at + seconds(60));
  side_.connect_now(true);
  EXPECT_EQ(side_.next_deadline(), std::nullopt);
}

TEST_F(AgentSideTest, IsNotDisturbedWhereItIsAboutToFindTheMaster) {
  side_.connect_now(false);  // while it connects
  attach();
  side_.connect_now(false);  // while connected
  EXPECT_EQ(std::pair(connects_, disconnects_), std::pair(1, 0));
  EXPECT_TRUE(side_.is_attached());
  side_.on_connection_lost("reset", now_);
  side_.connect_now(false);  // in the pause
  EXPECT_EQ(connects_, 2);
}

TEST_F(AgentSideTest, SlowConnectionHoldsTheLinesBack) {
  attach();
  unsent_ = kMaxUnsentBytes + 1;
  side_.log(Stream::kOut, "step 1", now_);
  expire();
  EXPECT_THAT(sent(), IsEmpty());
  unsent_ = 0;
  expire();
  EXPECT_THAT(std::get<LogMessage>(sent().at(0)).lines, ElementsAre("step 1"));
}

class AgentSideOfLastLinesTest : public AgentSideTest {
 protected:
  AgentSideOfLastLinesTest()
      : AgentSideTest({.task = kTask, .address = kHeld, .sends_last_line_only = true}) {}
};

// Over a slow link heartbeats waited behind lines that the master has no use for.
TEST_F(AgentSideOfLastLinesTest, TheNewestFollowsAHeartbeatThatIsTheOnlyOneUnanswered) {
  attach();
  for (int i = 1; i <= 5000; ++i) side_.log(Stream::kOut, base::format("step {}", i), now_);
  expire();
  auto messages = sent();
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<HeartbeatMessage>(messages[0]));
  EXPECT_THAT(std::get<LogMessage>(messages[1]).lines, ElementsAre("step 5000"));
  EXPECT_EQ(std::get<LogMessage>(messages[1]).dropped, 0);
  side_.log(Stream::kErr, std::string(5000, 'x'), now_);
  expire();
  // The first heartbeat has no answer yet.
  messages = sent();
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<HeartbeatMessage>(messages[0]));
  hear(AliveMessage{});
  hear(AliveMessage{});
  expire();
  messages = sent();
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_EQ(std::get<LogMessage>(messages[1]).stream, Stream::kErr);
  EXPECT_EQ(std::get<LogMessage>(messages[1]).lines.at(0).size(), job::kMaxLastLineBytes);
  // Nothing new.
  hear(AliveMessage{});
  expire();
  EXPECT_EQ(sent().size(), 1U);
}

TEST_F(AgentSideOfLastLinesTest, TheLastOfARunComesBeforeItsEnd) {
  attach();
  start(1, 1, kHeld);
  side_.started(99);
  sent_.clear();
  side_.log(Stream::kOut, "step 1", now_);
  side_.log(Stream::kErr, "Traceback", now_);
  side_.incomplete_log("no space left on device", 0, now_);
  side_.exited({}, now_, now_);
  const auto messages = sent();
  ASSERT_EQ(messages.size(), 3U);
  EXPECT_THAT(std::get<LogMessage>(messages[0]).lines, ElementsAre("Traceback"));
  EXPECT_EQ(std::get<LogMessage>(messages[1]).incomplete, "no space left on device");
  EXPECT_TRUE(std::holds_alternative<ExitedMessage>(messages[2]));
}

// It says from where on the log is incomplete: no line overtakes it.
TEST_F(AgentSideTest, WhatALogLacksIsToldInItsPlace) {
  attach();
  side_.log(Stream::kErr, "before", now_);
  side_.incomplete_log("no space left on device", 0, now_);
  side_.log(Stream::kErr, "after", now_);
  expire();
  std::vector<std::string> shown;
  for (const AgentMessage& message : sent()) {
    const auto& log = std::get<LogMessage>(message);
    for (const std::string& line : log.lines) shown.push_back(line);
    if (!log.incomplete.empty()) shown.push_back("incomplete: " + log.incomplete);
  }
  EXPECT_THAT(shown, ElementsAre("before", "incomplete: no space left on device", "after"));
}

// A flood of lines, or a master that takes nothing for a moment, and nobody knew that lines are
// missing.
TEST_F(AgentSideTest, WhatALogLacksIsToldBeforeTheEndWhateverElseIsDropped) {
  attach();
  start(1, 1, kHeld);
  side_.started(99);
  sent_.clear();
  unsent_ = kMaxUnsentBytes + 1;
  side_.incomplete_log("no space left on device", 0, now_);
  for (std::size_t i = 0; i < kMaxQueuedLogLines + 5; ++i) side_.log(Stream::kOut, "line", now_);
  side_.incomplete_log("no space left on device", 7, now_);
  side_.exited({}, now_, now_);
  std::vector<std::int64_t> missing;
  std::size_t lines = 0;
  std::int64_t dropped = 0;
  const auto messages = sent();
  for (const AgentMessage& message : messages) {
    const auto* log = std::get_if<LogMessage>(&message);
    if (log == nullptr) continue;
    lines += log->lines.size();
    dropped += log->dropped;
    if (!log->incomplete.empty()) missing.push_back(log->lost);
  }
  EXPECT_THAT(missing, ElementsAre(0, 7));
  EXPECT_EQ(lines + static_cast<std::size_t>(dropped), kMaxQueuedLogLines + 5);
  EXPECT_TRUE(std::holds_alternative<ExitedMessage>(messages.back()));
}

// A connection broke with it, and `status` called the log complete.
TEST_F(AgentSideTest, WhatALogLacksIsToldAgainInTheNextSession) {
  attach();
  side_.incomplete_log("no space left on device", 7, now_);
  expire();
  EXPECT_EQ(sent().size(), 1U);
  for (int session = 0; session < 2; ++session) {
    side_.on_connection_lost("reset", now_);
    side_.on_connected(now_);
    sent_.clear();
    hear(WelcomeMessage{seconds(10), seconds(60)});
    const auto messages = sent();
    ASSERT_EQ(messages.size(), 1U);
    EXPECT_EQ(messages[0],
              AgentMessage(LogMessage{Stream::kErr, {}, 0, "no space left on device", 7}));
  }
}

// It waited still, and was told once more.
TEST_F(AgentSideTest, WhatALogLacksAndIsNotToldYetIsToldOnce) {
  side_.incomplete_log("no space left on device", 0, now_);
  side_.on_connected(now_);
  sent_.clear();
  hear(WelcomeMessage{seconds(10), seconds(60)});
  EXPECT_EQ(sent().size(), 1U);
}

TEST_F(AgentSideTest, AfterTheEndNothingHappens) {
  attach();
  side_.finish(now_);
  EXPECT_EQ(side_.next_deadline(), std::nullopt);
  start(1, 1, kHeld);
  side_.on_connection_lost("reset", now_);
  EXPECT_THAT(told(), IsEmpty());
  EXPECT_EQ(connects_, 1);
}

}  // namespace
}  // namespace gangrun::wire
