#include "agents/desk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agents/test_desk.h"
#include "job/test_tasks.h"
#include "wire/test_registry.h"

namespace gangrun::agents {
namespace {

using job::kWorker0;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

const job::Address kOtherPlace{wire::kTaskHome.host, 1001};

class DeskTest : public testing::Test {
 protected:
  void SetUp() override { desk.expect(kWorker0, 2); }

  static wire::ReportMessage report(wire::AgentState state = wire::AgentState::kWaiting,
                                    int generation = 0) {
    const int run = state == wire::AgentState::kWaiting ? 0 : 2;
    wire::ReportMessage message{kWorker0, 2, wire::kTaskHome, 99, state, run, generation, 0, {}};
    if (state == wire::AgentState::kExited) message.exit = wire::PastExit{{}, milliseconds(500)};
    return message;
  }
  void frame(wire::SessionId session, const wire::AgentMessage& message) {
    desk.on_frame(session, encode(message), now);
  }
  // A session that has reported, in the state that its agent is said to be in.
  void attach(wire::SessionId session, const wire::ReportMessage& message) {
    desk.on_opened(session, now);
    frame(session, message);
  }
  bool start(int generation) {
    Starts starts({generation, {{"worker", {wire::kTaskHome}}}});
    return desk.send_start(kWorker0, 2, 0, starts);
  }

  base::Instant now = base::Instant(seconds(1'000'000));
  Recorder out;
  wire::LogRecorder log;
  Desk desk{DeskOptions{milliseconds(1000), milliseconds(60'000)}, out, log};
};

TEST_F(DeskTest, AFirstReportIsWelcomed) {
  attach(1, report());
  ASSERT_EQ(out.sent.size(), 1U);
  EXPECT_EQ(out.sent[0].second,
            wire::MasterMessage(wire::WelcomeMessage{milliseconds(1000), milliseconds(60'000)}));
  EXPECT_THAT(out.events, ElementsAre(DeskEvent(PlaceReported{kWorker0, 2, wire::kTaskHome, 99})));
  EXPECT_EQ(desk.place(kWorker0), (KnownPlace{2, wire::kTaskHome, true, false}));
  EXPECT_EQ(desk.place({"worker", 1}), std::nullopt);
}

TEST_F(DeskTest, ASecondSessionIsRefusedWhileTheFirstIsOpenAndWelcomeAfterwards) {
  attach(1, report());
  out.clear();
  attach(2, report());
  ASSERT_EQ(out.sent.size(), 1U);
  EXPECT_EQ(out.sent[0].first, 2U);
  ASSERT_TRUE(std::holds_alternative<wire::RefusedMessage>(out.sent[0].second));
  EXPECT_TRUE(std::get<wire::RefusedMessage>(out.sent[0].second).retry);
  EXPECT_THAT(out.events, IsEmpty());
  EXPECT_TRUE(start(1));
  EXPECT_EQ(out.sent.back().first, 1U);
  out.clear();

  now += seconds(1);
  desk.on_closed(2);
  EXPECT_THAT(out.events, IsEmpty());
  desk.on_closed(1);
  EXPECT_THAT(out.events, ElementsAre(DeskEvent(SessionEnded{kWorker0, 2, now - seconds(1)})));
  EXPECT_FALSE(start(1));
  out.clear();
  wire::ReportMessage again = report(wire::AgentState::kExited, 1);
  attach(3, again);
  EXPECT_THAT(out.events,
              ElementsAre(DeskEvent(AgentReattached{kWorker0, 2, wire::kTaskHome, 99,
                                                    wire::AgentState::kExited, 1, 0}),
                          DeskEvent(job::Exited{kWorker0, 2, {}, now - milliseconds(500)})));
  out.clear();
  desk.on_closed(3);
  attach(4, again);  // the exit is told once
  EXPECT_THAT(out.events, ElementsAre(testing::VariantWith<SessionEnded>(testing::_),
                                      DeskEvent(AgentReattached{kWorker0, 2, wire::kTaskHome, 99,
                                                                wire::AgentState::kExited, 1, 0})));
}

TEST_F(DeskTest, ANewAttemptTakesThePlaceOfTheOld) {
  attach(1, report());
  out.clear();
  desk.expect(kWorker0, 3);
  ASSERT_EQ(out.closed.size(), 1U);
  EXPECT_THAT(out.closed[0].second, testing::HasSubstr("attempt 3"));
  EXPECT_THAT(out.events, IsEmpty());
  desk.on_closed(1);
  attach(2, report());  // of attempt 2: late now
  EXPECT_THAT(out.events, IsEmpty());
  wire::ReportMessage newer = report();
  newer.attempt = 3;
  attach(3, newer);
  EXPECT_THAT(out.events, ElementsAre(DeskEvent(PlaceReported{kWorker0, 3, wire::kTaskHome, 99})));
}

// An agent serves the next attempt of its task too. Where the start of it was lost with the
// session, the agent comes back with the end of the attempt before.
TEST_F(DeskTest, ALaterAttemptRunsInTheSameAgent) {
  attach(1, report());
  EXPECT_TRUE(start(1));
  frame(1, wire::StartedMessage{2, 1, 5});
  frame(1, wire::ExitedMessage{2, 1, {}});
  Starts starts({1, {{"worker", {wire::kTaskHome}}}});
  desk.on_closed(1);
  EXPECT_FALSE(desk.send_start(kWorker0, 3, 1, starts));
  out.clear();
  attach(2, report(wire::AgentState::kExited, 1));
  EXPECT_THAT(out.events,
              ElementsAre(DeskEvent(AgentReattached{kWorker0, 3, wire::kTaskHome, 99,
                                                    wire::AgentState::kWaiting, 0, 0})));
  out.clear();
  EXPECT_TRUE(desk.send_start(kWorker0, 3, 1, starts));
  EXPECT_TRUE(desk.send_start(kWorker0, 3, 1, starts));
  EXPECT_EQ(out.sent.size(), 1U);
  frame(2, wire::ExitedMessage{2, 1, {}});  // late
  EXPECT_THAT(out.events, IsEmpty());
  frame(2, wire::StartedMessage{3, 1, 6});
  EXPECT_THAT(out.events, ElementsAre(DeskEvent(ProcessStarted{kWorker0, 3, 1, 6})));
  out.clear();
  EXPECT_TRUE(desk.send_start(kWorker0, 3, 1, starts));
  EXPECT_THAT(out.sent, IsEmpty());
}

TEST_F(DeskTest, WhoDoesNotReportInTimeIsClosed) {
  desk.on_opened(1, now);
  EXPECT_EQ(desk.next_deadline(), now + kReportTimeout);
  now += kReportTimeout - milliseconds(1);
  desk.on_time(now);
  EXPECT_THAT(out.closed, IsEmpty());
  now += milliseconds(1);
  desk.on_time(now);
  EXPECT_EQ(out.closed.size(), 1U);
  EXPECT_THAT(out.events, IsEmpty());
  EXPECT_EQ(desk.next_deadline(), std::nullopt);
}

TEST_F(DeskTest, HeartbeatsKeepASessionAndAreAnswered) {
  attach(1, report());
  for (int i = 0; i < 50; ++i) {
    now += milliseconds(1000);
    desk.on_time(now);
    out.clear();
    frame(1, wire::HeartbeatMessage{i, 1, true});
    ASSERT_EQ(out.sent.size(), 1U);
    EXPECT_EQ(out.sent[0].second, wire::MasterMessage(wire::AliveMessage{}));
  }
  EXPECT_THAT(out.closed, IsEmpty());
  out.clear();
  const base::Instant renewed = now;
  now += milliseconds(1000) * kMissedHeartbeats;
  desk.on_time(now);
  EXPECT_EQ(out.closed.size(), 1U);
  EXPECT_THAT(out.events, ElementsAre(DeskEvent(SessionEnded{kWorker0, 2, renewed})));
  EXPECT_EQ(desk.session_count(), 0U);
}

// A master that was stopped (Ctrl-Z) must not take its own silence for that of its agents.
TEST_F(DeskTest, AMasterThatStoodStillGivesItsAgentsTime) {
  attach(1, report());
  now += seconds(3600);
  desk.on_time(now);
  EXPECT_THAT(out.closed, IsEmpty());
  ASSERT_TRUE(desk.next_deadline());
  now = *desk.next_deadline();
  desk.on_time(now);
  EXPECT_EQ(out.closed.size(), 1U);
}

TEST_F(DeskTest, WhatIsSaidOfTheAddressIsHandedOn) {
  const wire::ControlAddress control{8, std::string(wire::kFingerprintDigits, 'f')};
  wire::ReportMessage message = report();
  message.more_ports = {7, 8};
  message.address_reason = "of eth0";
  message.control = control;
  attach(1, message);
  const PlaceReported reported{kWorker0, 2, wire::kTaskHome, 99, {7, 8}, "of eth0", control};
  EXPECT_THAT(out.events, ElementsAre(DeskEvent(reported)));
  out.clear();
  message.address = kOtherPlace;
  message.more_ports = {9, 10};
  frame(1, message);
  const PlaceReported moved{kWorker0, 2, kOtherPlace, 99, {9, 10}, "of eth0", control};
  EXPECT_THAT(out.events, ElementsAre(DeskEvent(moved)));
  desk.on_closed(1);
  out.clear();
  attach(2, message);
  AgentReattached back{kWorker0, 2, kOtherPlace, 99,       wire::AgentState::kWaiting,
                       0,        0, {9, 10},     "of eth0"};
  back.control = control;
  EXPECT_THAT(out.events, ElementsAre(DeskEvent(back)));
}

TEST_F(DeskTest, ALostPortComesBackWithANewAddress) {
  attach(1, report());
  start(1);
  out.clear();
  frame(1, wire::PortLostMessage{2, 1});
  frame(1, wire::PortLostMessage{2, 1});
  frame(1, wire::StartedMessage{2, 1, 5});
  wire::ReportMessage moved = report();
  moved.address = kOtherPlace;
  frame(1, moved);
  EXPECT_THAT(out.events, ElementsAre(DeskEvent(PortLost{kWorker0, 2, 1}),
                                      DeskEvent(PlaceReported{kWorker0, 2, kOtherPlace, 99})));
  out.clear();
  EXPECT_TRUE(start(2));
  frame(1, wire::StartedMessage{2, 2, 5});
  EXPECT_THAT(out.events, ElementsAre(DeskEvent(ProcessStarted{kWorker0, 2, 2, 5})));
}

TEST_F(DeskTest, CommandsReachTheSessionOfTheTask) {
  EXPECT_FALSE(start(1));
  EXPECT_FALSE(desk.send_stop(kWorker0, seconds(1)));
  EXPECT_FALSE(desk.send_end({"ps", 9}, seconds(1)));
  attach(1, report());
  out.clear();
  EXPECT_TRUE(start(1));
  EXPECT_TRUE(desk.send_stop(kWorker0, seconds(3)));
  EXPECT_TRUE(desk.send_end(kWorker0, seconds(4)));
  const job::ClusterSpec spec{1, {{"worker", {wire::kTaskHome}}}};
  EXPECT_THAT(
      out.sent,
      ElementsAre(
          std::pair(wire::SessionId{1}, wire::MasterMessage(wire::StartMessage{2, 0, spec})),
          std::pair(wire::SessionId{1}, wire::MasterMessage(wire::StopMessage{seconds(3)})),
          std::pair(wire::SessionId{1}, wire::MasterMessage(wire::EndMessage{seconds(4)}))));
}

// A start that was lost with its session: an agent that runs nothing would not answer a stop.
TEST_F(DeskTest, StopOfWhatWasNeverStartedIsItsEnd) {
  EXPECT_FALSE(start(1));
  attach(1, report());
  out.clear();
  EXPECT_TRUE(desk.send_stop(kWorker0, seconds(3)));
  EXPECT_THAT(out.sent, IsEmpty());
  ASSERT_EQ(out.events.size(), 1U);
  const auto& exited = std::get<job::Exited>(out.events[0]);
  EXPECT_EQ(exited.attempt, 2);
  EXPECT_FALSE(exited.report.success);
  EXPECT_EQ(exited.report.why, job::not_begun());
}

TEST_F(DeskTest, APlaceWithoutAnAgentIsTakenOnce) {
  EXPECT_EQ(desk.report_place({"ps", 0}, 1, wire::kTaskHome).error().code, base::Code::kNotFound);
  EXPECT_EQ(desk.report_place(kWorker0, 1, wire::kTaskHome).error().code,
            base::Code::kFailedPrecondition);
  EXPECT_THAT(out.events, IsEmpty());
  EXPECT_TRUE(desk.report_place(kWorker0, 2, wire::kTaskHome).ok());
  EXPECT_THAT(out.events, ElementsAre(DeskEvent(PlaceReported{kWorker0, 2, wire::kTaskHome, 0})));
  EXPECT_EQ(desk.report_place(kWorker0, 2, wire::kTaskHome).error().code,
            base::Code::kAlreadyExists);
  attach(1, report());  // an agent comes too late
  EXPECT_EQ(out.events.size(), 1U);
  EXPECT_EQ(out.closed.size(), 1U);
}

// Found by the fuzzer: events carry the current attempt, also those of a place that reports for an
// earlier one.
TEST_F(DeskTest, APlaceWithoutAnAgentIsOfTheCurrentAttempt) {
  desk.set_attempt(kWorker0, 3);
  EXPECT_TRUE(desk.report_place(kWorker0, 2, wire::kTaskHome).ok());
  EXPECT_THAT(out.events, ElementsAre(DeskEvent(PlaceReported{kWorker0, 3, wire::kTaskHome, 0})));
}

TEST_F(DeskTest, EachKindOfOffenceIsLoggedOnceForATask) {
  attach(1, report());
  for (int i = 0; i < 100; ++i) {
    desk.on_frame(1, "{}", now);
    attach(static_cast<wire::SessionId>(1000 + i), report());
  }
  EXPECT_EQ(log.lines.size(), 2U);
  for (int i = 0; i < static_cast<int>(kMaxLoggedOffences) + 100; ++i) {
    wire::ReportMessage unknown = report();
    unknown.task.index = 10 + i;
    attach(static_cast<wire::SessionId>(10'000 + i), unknown);
  }
  EXPECT_EQ(log.lines.size(), kMaxLoggedOffences);
  EXPECT_EQ(desk.session_count(), 1U);
}

TEST_F(DeskTest, WhatAPeerSaysStaysOnOneLineOfTheLog) {
  desk.on_opened(1, now);
  desk.on_frame(1, R"({"type":"a\nb\r\u001b[31mc"})", now);
  ASSERT_EQ(log.lines.size(), 1U);
  EXPECT_EQ(log.lines[0].find_first_of("\n\r\x1b"), std::string::npos) << log.lines[0];
}

TEST_F(DeskTest, FramesOfAnotherProtocolAreToldBothVersions) {
  desk.on_opened(1, now);
  desk.on_frame(1, R"({"type":"report","protocol":4})", now);
  ASSERT_EQ(out.sent.size(), 1U);
  EXPECT_THAT(std::get<wire::RefusedMessage>(out.sent[0].second).reason,
              testing::HasSubstr("the agent speaks protocol 4, the master 3"));
}

TEST(HeartbeatTest, IsLongerForThousandsOfSessionsAndFitsTheLeaseTenTimes) {
  using std::chrono::minutes;
  EXPECT_EQ(heartbeat_of(1, minutes(1)), milliseconds(1000));
  EXPECT_EQ(heartbeat_of(2000, minutes(1)), milliseconds(1000));
  EXPECT_EQ(heartbeat_of(10'000, minutes(1)), milliseconds(5000));
  EXPECT_EQ(heartbeat_of(10'000, std::chrono::seconds(20)), milliseconds(2000));
  EXPECT_EQ(heartbeat_of(10'000, std::chrono::seconds(2)), milliseconds(1000));
  EXPECT_EQ(heartbeat_of(10'000, milliseconds(0)), milliseconds(5000));  // no lease
}

}  // namespace
}  // namespace gangrun::agents
