#include "registry/desk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/format.h"
#include "job/test_tasks.h"
#include "registry/test_support.h"

namespace gangrun::registry {
namespace {

using job::kWorker0;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

const job::Address kHome{"h1", 1000};
const job::Address kOtherPlace{"h1", 1001};

class Recorder final : public DeskOutput {
 public:
  void send(SessionId session, Frame frame) override {
    auto message = decode_master_message(*frame);
    ASSERT_TRUE(message.ok()) << *frame;
    frames.push_back(std::move(frame));
    sent.emplace_back(session, *std::move(message));
  }
  void close(SessionId session, std::string_view reason) override {
    closed.emplace_back(session, std::string(reason));
  }
  void event(DeskEvent event) override { events.push_back(std::move(event)); }
  void clear() {
    sent.clear();
    frames.clear();
    closed.clear();
    events.clear();
  }

  std::vector<std::pair<SessionId, MasterMessage>> sent;
  std::vector<Frame> frames;  // of all in `sent`
  std::vector<std::pair<SessionId, std::string>> closed;
  std::vector<DeskEvent> events;
};

class DeskTest : public testing::Test {
 protected:
  void SetUp() override { desk.expect(kWorker0, 2); }

  static ReportMessage report(AgentState state = AgentState::kWaiting, int generation = 0) {
    const int run = state == AgentState::kWaiting ? 0 : 2;
    ReportMessage message{kWorker0, 2, kHome, 99, state, run, generation, 0, {}};
    if (state == AgentState::kExited) message.exit = Ending{{}, milliseconds(500)};
    return message;
  }
  void frame(SessionId session, const AgentMessage& message) {
    desk.on_frame(session, encode(message), now);
  }
  // A session that has reported, in the state that its agent is said to be in.
  void attach(SessionId session, const ReportMessage& message) {
    desk.on_opened(session, now);
    frame(session, message);
  }
  bool start(int generation) {
    Starts starts({generation, {{"worker", {kHome}}}});
    return desk.send_start(kWorker0, 2, 0, starts);
  }

  base::Instant now = base::Instant(seconds(1'000'000));
  Recorder out;
  LogRecorder log;
  Desk desk{DeskOptions{milliseconds(1000), milliseconds(60'000)}, out, log};
};

// How a session gets into each of its states, and what each message then leads to.
enum class Was { kOpened, kWaiting, kStarting, kRunning, kEnded };

struct Incoming {
  std::string name;
  std::string frame;
  // By state: the event's name; "-": dropped and logged; "refused": and closed.
  const char* outcome[5];
};

std::string name_of(const DeskEvent& event) {
  const char* const names[] = {"reported",  "reattached", "started",   "exited",
                               "heartbeat", "log",        "port_lost", "session_lost"};
  return names[event.index()];
}

std::vector<Incoming> incoming() {
  const auto report = [](AgentState state, int generation, auto change) {
    const int run = state == AgentState::kWaiting ? 0 : 2;
    ReportMessage message{kWorker0, 2, kHome, 99, state, run, generation, 0, {}};
    if (state == AgentState::kExited) message.exit = Ending{};
    change(message);
    return encode(AgentMessage(message));
  };
  const auto same = [](ReportMessage&) {};
  const auto moved = [](ReportMessage& message) { message.address = kOtherPlace; };
  const auto encoded = [](AgentMessage message) { return encode(message); };
  const AgentState waiting = AgentState::kWaiting;
  const AgentState starting = AgentState::kStarting;
  const AgentState running = AgentState::kRunning;
  const AgentState exited = AgentState::kExited;
  // Opened, waiting, starting, running, ended; the run in question has generation 4, and the task
  // was known before the session.
  return {
      {"report", report(waiting, 0, same), {"reattached", "-", "-", "-", "-"}},
      {"report moved",
       report(waiting, 0, moved),
       {"reattached reported", "reported", "-", "-", "reported"}},
      {"report starting", report(starting, 4, same), {"reattached", "-", "-", "-", "-"}},
      {"report running", report(running, 4, same), {"reattached started", "-", "-", "-", "-"}},
      {"report older", report(running, 3, same), {"reattached started", "-", "-", "-", "-"}},
      {"report other run",
       report(running, 4, [](auto& message) { message.run_attempt = 3; }),
       {"refused", "-", "-", "-", "-"}},
      {"report newer", report(running, 5, same), {"refused", "-", "-", "-", "-"}},
      {"report exited", report(exited, 4, same), {"reattached exited", "-", "-", "-", "-"}},
      {"report late",
       report(waiting, 0, [](auto& message) { message.attempt = 1; }),
       {"refused", "-", "-", "-", "-"}},
      {"report early",
       report(waiting, 0, [](auto& message) { message.attempt = 3; }),
       {"refused", "-", "-", "-", "-"}},
      {"report unknown",
       report(waiting, 0, [](auto& message) { message.task.index = 7; }),
       {"refused", "-", "-", "-", "-"}},
      {"started", encoded(StartedMessage{2, 4, 5}), {"refused", "-", "started", "-", "-"}},
      {"started older", encoded(StartedMessage{2, 3, 5}), {"refused", "-", "-", "-", "-"}},
      {"started newer", encoded(StartedMessage{2, 5, 5}), {"refused", "-", "-", "-", "-"}},
      {"started late", encoded(StartedMessage{1, 4, 5}), {"refused", "-", "-", "-", "-"}},
      {"exited", encoded(ExitedMessage{2, 4, {}}), {"refused", "-", "exited", "exited", "-"}},
      {"exited older", encoded(ExitedMessage{2, 3, {}}), {"refused", "-", "-", "-", "-"}},
      {"exited newer", encoded(ExitedMessage{2, 5, {}}), {"refused", "-", "-", "-", "-"}},
      {"exited late", encoded(ExitedMessage{1, 4, {}}), {"refused", "-", "-", "-", "-"}},
      {"heartbeat",
       encoded(HeartbeatMessage{1, 1, true}),
       {"refused", "heartbeat", "heartbeat", "heartbeat", "heartbeat"}},
      {"log", encoded(LogMessage{Stream::kOut, {"x"}, 0}), {"refused", "log", "log", "log", "log"}},
      {"port_lost none", encoded(PortLostMessage{2, 0}), {"refused", "port_lost", "-", "-", "-"}},
      {"port_lost",
       encoded(PortLostMessage{2, 4}),
       {"refused", "-", "port_lost", "port_lost", "port_lost"}},
      {"port_lost late", encoded(PortLostMessage{1, 4}), {"refused", "-", "-", "-", "-"}},
      {"garbage", "{\"type\":", {"refused", "-", "-", "-", "-"}},
      {"empty", "", {"refused", "-", "-", "-", "-"}},
      {"too long", std::string(kMaxAgentMessageBytes + 1, ' '), {"refused", "-", "-", "-", "-"}},
      {"of a master", encode(MasterMessage(AliveMessage{})), {"refused", "-", "-", "-", "-"}},
  };
}

// A desk of its own with one session, brought to a state.
struct World {
  explicit World(Was state) {
    desk.expect(kWorker0, 2);
    desk.set_generation(4);
    const ReportMessage report{kWorker0, 2, kHome, 99, AgentState::kWaiting, 0, 0, 0, {}};
    const job::ClusterSpec spec{4, {{"worker", {kHome}}}};
    open(1);
    frame(1, encode(AgentMessage(report)));
    desk.on_closed(1);
    open(2);
    if (state != Was::kOpened) frame(2, encode(AgentMessage(report)));
    Starts starts(spec);
    if (state >= Was::kStarting) desk.send_start(kWorker0, 2, 0, starts);
    if (state >= Was::kRunning) frame(2, encode(AgentMessage(StartedMessage{2, 4, 5})));
    if (state == Was::kEnded) frame(2, encode(AgentMessage(ExitedMessage{2, 4, {}})));
    out.clear();
  }

  void open(SessionId session) { desk.on_opened(session, now); }
  void frame(SessionId session, const std::string& text) { desk.on_frame(session, text, now); }

  // "-", "refused" or the name of the event; anything else is told.
  std::string outcome() const {
    if (!out.events.empty() && out.closed.empty() && log.lines.empty()) {
      std::vector<std::string> names;
      for (const DeskEvent& event : out.events) names.push_back(name_of(event));
      return base::format("{}", base::join(names, " "));
    }
    if (!out.events.empty() || log.lines.size() != 1) {
      return base::format("{} events, {} log lines", out.events.size(), log.lines.size());
    }
    if (out.sent.empty() && out.closed.empty() && desk.session_count() == 1) return "-";
    const bool told = out.sent.size() == 1 && out.closed.size() == 1 && desk.session_count() == 0 &&
                      std::holds_alternative<RefusedMessage>(out.sent[0].second);
    return told ? "refused" : "something else";
  }

  base::Instant now = base::Instant(seconds(1'000'000));
  Recorder out;
  LogRecorder log;
  Desk desk{DeskOptions{milliseconds(1000), milliseconds(60'000)}, out, log};
};

TEST(DeskTableTest, EveryMessageInEveryStateHasItsOutcome) {
  for (const Incoming& row : incoming()) {
    for (const Was state :
         {Was::kOpened, Was::kWaiting, Was::kStarting, Was::kRunning, Was::kEnded}) {
      SCOPED_TRACE(base::format("{} in state {}", row.name, static_cast<int>(state)));
      World world(state);
      ASSERT_THAT(world.log.lines, IsEmpty());
      world.frame(2, row.frame);
      EXPECT_EQ(world.outcome(), row.outcome[static_cast<int>(state)]);
    }
  }
}

// What changes nothing leaves a desk that answers every later message as if it had not come.
TEST(DeskTableTest, DroppedMessagesChangeNothing) {
  const auto all = incoming();
  for (const Was state : {Was::kWaiting, Was::kStarting, Was::kRunning, Was::kEnded}) {
    const auto outcome = [at = static_cast<int>(state)](const auto& row) {
      return row.outcome[at];
    };
    for (const Incoming& next : all) {
      World world(state);
      for (const Incoming& row : all) {
        if (std::string(outcome(row)) == "-") world.frame(2, row.frame);
      }
      world.out.clear();
      world.frame(2, next.frame);
      const std::string seen = world.out.events.empty() ? "-" : name_of(world.out.events[0]);
      EXPECT_EQ(seen, outcome(next)) << next.name << " in " << static_cast<int>(state);
    }
  }
}

TEST_F(DeskTest, AFirstReportIsWelcomed) {
  attach(1, report());
  ASSERT_EQ(out.sent.size(), 1U);
  EXPECT_EQ(out.sent[0].second,
            MasterMessage(WelcomeMessage{milliseconds(1000), milliseconds(60'000)}));
  EXPECT_THAT(out.events, ElementsAre(DeskEvent(Reported{kWorker0, 2, kHome, 99})));
  EXPECT_EQ(desk.place(kWorker0), (Place{2, kHome, true, false}));
  EXPECT_EQ(desk.place({"worker", 1}), std::nullopt);
}

TEST_F(DeskTest, ASecondSessionIsRefusedWhileTheFirstIsOpenAndWelcomeAfterwards) {
  attach(1, report());
  out.clear();
  attach(2, report());
  ASSERT_EQ(out.sent.size(), 1U);
  EXPECT_EQ(out.sent[0].first, 2U);
  ASSERT_TRUE(std::holds_alternative<RefusedMessage>(out.sent[0].second));
  EXPECT_TRUE(std::get<RefusedMessage>(out.sent[0].second).retry);
  EXPECT_THAT(out.events, IsEmpty());
  EXPECT_TRUE(start(1));
  EXPECT_EQ(out.sent.back().first, 1U);
  out.clear();

  now += seconds(1);
  desk.on_closed(2);
  EXPECT_THAT(out.events, IsEmpty());
  desk.on_closed(1);
  EXPECT_THAT(out.events, ElementsAre(DeskEvent(SessionLost{kWorker0, 2, now - seconds(1)})));
  EXPECT_FALSE(start(1));
  out.clear();
  ReportMessage again = report(AgentState::kExited, 1);
  attach(3, again);
  EXPECT_THAT(out.events,
              ElementsAre(DeskEvent(Reattached{kWorker0, 2, kHome, 99, AgentState::kExited, 1, 0}),
                          DeskEvent(Exited{kWorker0, 2, 1, Ended{{}, now - milliseconds(500)}})));
  out.clear();
  desk.on_closed(3);
  attach(4, again);  // the exit is told once
  EXPECT_THAT(
      out.events,
      ElementsAre(testing::VariantWith<SessionLost>(testing::_),
                  DeskEvent(Reattached{kWorker0, 2, kHome, 99, AgentState::kExited, 1, 0})));
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
  ReportMessage newer = report();
  newer.attempt = 3;
  attach(3, newer);
  EXPECT_THAT(out.events, ElementsAre(DeskEvent(Reported{kWorker0, 3, kHome, 99})));
}

// An agent serves the next attempt of its task too. Where the start of it was lost with the
// session, the agent comes back with the end of the attempt before.
TEST_F(DeskTest, ALaterAttemptRunsInTheSameAgent) {
  attach(1, report());
  EXPECT_TRUE(start(1));
  frame(1, StartedMessage{2, 1, 5});
  frame(1, ExitedMessage{2, 1, {}});
  Starts starts({1, {{"worker", {kHome}}}});
  desk.on_closed(1);
  EXPECT_FALSE(desk.send_start(kWorker0, 3, 1, starts));
  out.clear();
  attach(2, report(AgentState::kExited, 1));
  EXPECT_THAT(
      out.events,
      ElementsAre(DeskEvent(Reattached{kWorker0, 3, kHome, 99, AgentState::kWaiting, 0, 0})));
  out.clear();
  EXPECT_TRUE(desk.send_start(kWorker0, 3, 1, starts));
  EXPECT_TRUE(desk.send_start(kWorker0, 3, 1, starts));
  EXPECT_EQ(out.sent.size(), 1U);
  frame(2, ExitedMessage{2, 1, {}});  // late
  EXPECT_THAT(out.events, IsEmpty());
  frame(2, StartedMessage{3, 1, 6});
  EXPECT_THAT(out.events, ElementsAre(DeskEvent(Started{kWorker0, 3, 1, 6})));
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
    frame(1, HeartbeatMessage{i, 1, true});
    ASSERT_EQ(out.sent.size(), 1U);
    EXPECT_EQ(out.sent[0].second, MasterMessage(AliveMessage{}));
  }
  EXPECT_THAT(out.closed, IsEmpty());
  out.clear();
  const base::Instant renewed = now;
  now += milliseconds(1000) * kMissedHeartbeats;
  desk.on_time(now);
  EXPECT_EQ(out.closed.size(), 1U);
  EXPECT_THAT(out.events, ElementsAre(DeskEvent(SessionLost{kWorker0, 2, renewed})));
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
  const ControlAddress control{8, std::string(kFingerprintDigits, 'f')};
  ReportMessage message = report();
  message.more_ports = {7, 8};
  message.address_reason = "of eth0";
  message.control = control;
  attach(1, message);
  const Reported reported{kWorker0, 2, kHome, 99, {7, 8}, "of eth0", control};
  EXPECT_THAT(out.events, ElementsAre(DeskEvent(reported)));
  out.clear();
  message.address = kOtherPlace;
  message.more_ports = {9, 10};
  frame(1, message);
  const Reported moved{kWorker0, 2, kOtherPlace, 99, {9, 10}, "of eth0", control};
  EXPECT_THAT(out.events, ElementsAre(DeskEvent(moved)));
  desk.on_closed(1);
  out.clear();
  attach(2, message);
  Reattached back{kWorker0, 2, kOtherPlace, 99, AgentState::kWaiting, 0, 0, {9, 10}, "of eth0"};
  back.control = control;
  EXPECT_THAT(out.events, ElementsAre(DeskEvent(back)));
}

TEST_F(DeskTest, ALostPortComesBackWithANewAddress) {
  attach(1, report());
  start(1);
  out.clear();
  frame(1, PortLostMessage{2, 1});
  frame(1, PortLostMessage{2, 1});
  frame(1, StartedMessage{2, 1, 5});
  ReportMessage moved = report();
  moved.address = kOtherPlace;
  frame(1, moved);
  EXPECT_THAT(out.events, ElementsAre(DeskEvent(PortLost{kWorker0, 2, 1}),
                                      DeskEvent(Reported{kWorker0, 2, kOtherPlace, 99})));
  out.clear();
  EXPECT_TRUE(start(2));
  frame(1, StartedMessage{2, 2, 5});
  EXPECT_THAT(out.events, ElementsAre(DeskEvent(Started{kWorker0, 2, 2, 5})));
}

TEST_F(DeskTest, CommandsReachTheSessionOfTheTask) {
  EXPECT_FALSE(start(1));
  EXPECT_FALSE(desk.send_stop(kWorker0, seconds(1)));
  EXPECT_FALSE(desk.send_end({"ps", 9}, seconds(1)));
  EXPECT_FALSE(desk.send_notice(kWorker0, seconds(1)));
  attach(1, report());
  out.clear();
  EXPECT_TRUE(start(1));
  EXPECT_TRUE(desk.send_notice(kWorker0, seconds(2)));
  EXPECT_TRUE(desk.send_stop(kWorker0, seconds(3)));
  EXPECT_TRUE(desk.send_end(kWorker0, seconds(4)));
  const job::ClusterSpec spec{1, {{"worker", {kHome}}}};
  EXPECT_THAT(out.sent,
              ElementsAre(std::pair(SessionId{1}, MasterMessage(StartMessage{2, 0, spec})),
                          std::pair(SessionId{1}, MasterMessage(NoticeMessage{seconds(2)})),
                          std::pair(SessionId{1}, MasterMessage(StopMessage{seconds(3)})),
                          std::pair(SessionId{1}, MasterMessage(EndMessage{seconds(4)}))));
}

// A start that was lost with its session: an agent that runs nothing would not answer a stop.
TEST_F(DeskTest, StopOfWhatWasNeverStartedIsItsEnd) {
  EXPECT_FALSE(start(1));
  attach(1, report());
  out.clear();
  EXPECT_TRUE(desk.send_stop(kWorker0, seconds(3)));
  EXPECT_THAT(out.sent, IsEmpty());
  ASSERT_EQ(out.events.size(), 1U);
  const auto& exited = std::get<Exited>(out.events[0]);
  EXPECT_EQ(exited.attempt, 2);
  EXPECT_FALSE(exited.exit.report.success);
  EXPECT_EQ(exited.exit.report.sentence, "was not started");
}

TEST_F(DeskTest, APlaceWithoutAnAgentIsTakenOnce) {
  EXPECT_EQ(desk.report_place({"ps", 0}, 1, kHome).error().code, base::Code::kNotFound);
  EXPECT_EQ(desk.report_place(kWorker0, 1, kHome).error().code, base::Code::kFailedPrecondition);
  EXPECT_THAT(out.events, IsEmpty());
  EXPECT_TRUE(desk.report_place(kWorker0, 2, kHome).ok());
  EXPECT_THAT(out.events, ElementsAre(DeskEvent(Reported{kWorker0, 2, kHome, 0})));
  EXPECT_EQ(desk.report_place(kWorker0, 2, kHome).error().code, base::Code::kAlreadyExists);
  attach(1, report());  // an agent comes too late
  EXPECT_EQ(out.events.size(), 1U);
  EXPECT_EQ(out.closed.size(), 1U);
}

// Found by the fuzzer: events carry the current attempt, also of a place that was asked for as an
// earlier one.
TEST_F(DeskTest, APlaceWithoutAnAgentIsOfTheCurrentAttempt) {
  desk.set_attempt(kWorker0, 3);
  EXPECT_TRUE(desk.report_place(kWorker0, 2, kHome).ok());
  EXPECT_THAT(out.events, ElementsAre(DeskEvent(Reported{kWorker0, 3, kHome, 0})));
}

TEST_F(DeskTest, EachKindOfOffenceIsLoggedOnceForATask) {
  attach(1, report());
  for (int i = 0; i < 100; ++i) {
    desk.on_frame(1, "{}", now);
    attach(static_cast<SessionId>(1000 + i), report());
  }
  EXPECT_EQ(log.lines.size(), 2U);
  for (int i = 0; i < 5000; ++i) {
    ReportMessage unknown = report();
    unknown.task.index = 10 + i;
    attach(static_cast<SessionId>(10'000 + i), unknown);
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
  desk.on_frame(1, R"({"type":"report","protocol":2})", now);
  ASSERT_EQ(out.sent.size(), 1U);
  EXPECT_THAT(std::get<RefusedMessage>(out.sent[0].second).reason,
              testing::HasSubstr("the agent speaks protocol 2, the master 1"));
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
}  // namespace gangrun::registry
