// Each message in each state of a session.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agents/desk.h"
#include "agents/test_desk.h"
#include "base/format.h"
#include "job/test_tasks.h"
#include "wire/test_registry.h"

namespace gangrun::agents {
namespace {

using job::kWorker0;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::IsEmpty;
using wire::AgentMessage;
using wire::AgentState;
using wire::AliveMessage;
using wire::ExitedMessage;
using wire::HeartbeatMessage;
using wire::kMaxAgentMessageBytes;
using wire::kTaskHome;
using wire::LogMessage;
using wire::LogRecorder;
using wire::MasterMessage;
using wire::PastExit;
using wire::PortLostMessage;
using wire::RefusedMessage;
using wire::ReportMessage;
using wire::SessionId;
using wire::StartedMessage;
using wire::Stream;

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
    ReportMessage message{kWorker0, 2, kTaskHome, 99, state, run, generation, 0, {}};
    if (state == AgentState::kExited) message.exit = PastExit{};
    change(message);
    return encode(AgentMessage(message));
  };
  const auto same = [](ReportMessage&) {};
  const auto moved = [](ReportMessage& message) { ++message.address.port; };
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
    const ReportMessage report{kWorker0, 2, kTaskHome, 99, AgentState::kWaiting, 0, 0, 0, {}};
    const job::ClusterSpec spec{4, {{"worker", {kTaskHome}}}};
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

// A message that changes nothing leaves a desk that answers every later message as if it had not
// come.
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

}  // namespace
}  // namespace gangrun::agents
