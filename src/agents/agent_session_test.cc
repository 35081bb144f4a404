#include "wire/agent_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "agents/server.h"
#include "base/format.h"
#include "job/test_tasks.h"
#include "net/server.h"
#include "wire/test_registry.h"

namespace gangrun::agents {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

const job::Address kElsewhere{"10.0.0.7", 4712};

// One master that can go away and come back at the same socket, and one agent.
class AgentSessionTest : public testing::Test {
 protected:
  // A master as it is after a start or a restart; `attempt` is the current one.
  void serve(milliseconds master_lost, int attempt = 1, int generation = 0,
             milliseconds heartbeat = milliseconds(300)) {
    server.emplace(
        loop, base::Secret("secret"), DeskOptions{heartbeat, master_lost},
        ServerCallbacks{[] { return job::JobStatus{}; }, [](bool, const std::string&) {}}, log);
    server->serve_agents([this](const DeskEvent& event) {
      if (!std::holds_alternative<Heartbeat>(event)) events.push_back(event);
    });
    server->expect(job::kWorker0, 1);
    server->set_attempt(job::kWorker0, attempt);
    if (generation > 0) server->publish(spec(generation, wire::kTaskHome));
    const auto listening = server->listen_unix(folder / "socket");
    ASSERT_TRUE(listening.ok()) << listening.error().message;
  }

  static job::ClusterSpec spec(int generation, const job::Address& worker) {
    return {generation, {{"worker", {worker}}}};
  }

  std::unique_ptr<wire::AgentSession> agent(const std::string& secret = "secret") {
    wire::AgentSessionCallbacks callbacks;
    callbacks.on_start = [this](const wire::StartMessage& start) {
      told.push_back(base::format("start {} of {}", start.attempt, start.cluster_spec.generation));
    };
    callbacks.on_stop = [this](milliseconds grace) {
      told.push_back(base::format("stop {}", grace.count()));
    };
    callbacks.on_end = [this](milliseconds grace) {
      told.push_back(base::format("end {}", grace.count()));
    };
    callbacks.on_heartbeat = [this] {
      ++heartbeats;
      return wire::HeartbeatMessage{};
    };
    callbacks.on_outdated_spec = [this] { told.emplace_back("outdated"); };
    callbacks.on_lost = [this](const std::string& reason) { told.push_back("lost: " + reason); };
    callbacks.on_refused = [this](const std::string& reason) {
      told.push_back("refused: " + reason);
    };
    auto session = std::make_unique<wire::AgentSession>(
        loop, net::Endpoint::on_unix(folder / "socket"), base::Secret(secret),
        wire::AgentIdentity{job::kWorker0, 1, wire::kTaskHome, 99}, std::move(callbacks));
    session->open();
    return session;
  }

  void wait(const std::string& what, const std::function<bool()>& done) {
    EXPECT_TRUE(loop.run_until(done, wire::test_deadline())) << "waited for: " << what;
  }
  void wait_for_events(std::size_t count) {
    wait(base::format("{} events", count), [&] { return events.size() >= count; });
  }
  void wait_until_told(std::size_t count) {
    wait(base::format("{} calls", count), [&] { return told.size() >= count; });
  }

  wire::TestFolder folder;
  net::EventLoop loop;
  wire::LogRecorder log;
  std::vector<DeskEvent> events;
  std::vector<std::string> told;
  int heartbeats = 0;
  std::optional<Server> server;
};

std::string names_of(const std::vector<DeskEvent>& events) {
  const char* const names[] = {"reported", "reattached", "started",      "exited",  "heartbeat",
                               "log",      "port_lost",  "session_lost", "figures", "result"};
  std::vector<std::string> all;
  for (const DeskEvent& event : events) all.emplace_back(names[event.index()]);
  return base::format("{}", base::join(all, " "));
}

TEST_F(AgentSessionTest, ALifeInOneSession) {
  serve(seconds(60));
  const auto session = agent();
  wait_for_events(1);
  server->publish(spec(1, wire::kTaskHome));
  EXPECT_TRUE(server->send_start(job::kWorker0, 1, 0));
  EXPECT_TRUE(server->send_stop(job::kWorker0, seconds(3)));
  wait_until_told(2);
  session->started(1234);
  session->log(wire::Stream::kOut, "one");
  session->log(wire::Stream::kOut, "two\xff");
  session->log(wire::Stream::kErr, "three");
  job::ExitReport exit;
  exit.why.code = 3;
  session->exited(exit, loop.now());
  wait_for_events(5);
  EXPECT_TRUE(server->send_end(job::kWorker0, seconds(4)));
  wait_until_told(3);
  EXPECT_THAT(told, ElementsAre("start 1 of 1", "stop 3000", "end 4000"));
  bool done = false;
  session->log(wire::Stream::kOut, "the last words");
  session->finish([&] { done = true; });
  wait("the farewell", [&] { return done; });
  wait_for_events(7);
  ASSERT_EQ(names_of(events), "reported started log log exited log session_lost");
  EXPECT_EQ(events[2],
            DeskEvent(LogLines{job::kWorker0, 1, wire::Stream::kOut, {"one", "two\uFFFD"}, 0}));
  EXPECT_EQ(events[3], DeskEvent(LogLines{job::kWorker0, 1, wire::Stream::kErr, {"three"}, 0}));
  EXPECT_EQ(std::get<job::Exited>(events[4]).report, exit);
  EXPECT_EQ(events[5],
            DeskEvent(LogLines{job::kWorker0, 1, wire::Stream::kOut, {"the last words"}, 0}));
  EXPECT_THAT(log.lines, IsEmpty());
}

TEST_F(AgentSessionTest, HeartbeatsKeepTheSession) {
  serve(milliseconds(1200), 1, 0, milliseconds(100));
  const auto session = agent();
  wait("heartbeats for longer than the lease", [&] { return heartbeats > 15; });
  EXPECT_EQ(names_of(events), "reported");
  EXPECT_THAT(told, IsEmpty());
}

TEST_F(AgentSessionTest, WithoutALeaseTheFirstLossIsTheEnd) {
  serve(milliseconds(0));
  const auto session = agent();
  wait("the welcome", [&] { return session->is_attached(); });
  server.reset();
  wait_until_told(1);
  EXPECT_THAT(told[0], HasSubstr("lost: "));
}

TEST_F(AgentSessionTest, AfterTheLeaseTheAgentGivesUp) {
  serve(milliseconds(300));
  const auto session = agent();
  wait("the welcome", [&] { return session->is_attached(); });
  const base::Instant gone = loop.now();
  server.reset();
  wait_until_told(1);
  EXPECT_THAT(told, ElementsAre(StartsWith("lost: no answer from the master for 300 ms (")));
  EXPECT_LT(loop.now() - gone, wire::kFirstContactTimeout);
}

TEST_F(AgentSessionTest, WhatHappenedMeanwhileIsToldToTheMasterThatComesBack) {
  serve(seconds(60), 1, 1);
  const auto session = agent();
  wait_for_events(1);
  server->send_start(job::kWorker0, 1, 0);
  wait_until_told(1);
  server.reset();
  session->started(1234);
  wait("the loss", [&] { return !session->is_attached(); });
  session->log(wire::Stream::kErr, "meanwhile");
  events.clear();

  serve(seconds(60), 1, 1);
  wait_for_events(3);
  EXPECT_EQ(names_of(events), "reattached started log");
  EXPECT_EQ(events[0], DeskEvent(AgentReattached{job::kWorker0, 1, wire::kTaskHome, 99,
                                                 wire::AgentState::kRunning, 1, 1234}));
  EXPECT_TRUE(server->send_start(job::kWorker0, 1, 0));  // has it, so nothing happens

  server.reset();
  wait("the loss", [&] { return !session->is_attached(); });
  job::ExitReport exit;
  exit.why.code = 3;
  session->exited(exit, loop.now());
  events.clear();
  serve(seconds(60), 1, 1);
  wait_for_events(2);
  EXPECT_EQ(names_of(events), "reattached exited");
  EXPECT_EQ(std::get<job::Exited>(events[1]).report, exit);
  EXPECT_THAT(told, ElementsAre("start 1 of 1"));
  EXPECT_THAT(log.lines, IsEmpty());
}

TEST_F(AgentSessionTest, AnExitAndANewPortAreBothToldInTheirOrder) {
  serve(seconds(60), 1, 1);
  const auto session = agent();
  wait_for_events(1);
  server->send_start(job::kWorker0, 1, 0);
  wait_until_told(1);
  session->started(1234);
  wait_for_events(2);
  server.reset();
  wait("the loss", [&] { return !session->is_attached(); });
  job::ExitReport exit;
  exit.why.reason = job::Reason::kPortLost;
  exit.port_lost = true;
  session->exited(exit, loop.now());
  session->set_address(kElsewhere);
  events.clear();

  serve(seconds(60), 1, 1);
  wait_for_events(3);
  EXPECT_EQ(names_of(events), "reattached exited reported");
  EXPECT_EQ(events[2], DeskEvent(PlaceReported{job::kWorker0, 1, kElsewhere, 99}));
  wait("a heartbeat", [&, before = heartbeats] { return heartbeats > before; });
  server->publish(spec(2, kElsewhere));
  server->send_start(job::kWorker0, 2, 1);
  wait_until_told(2);
  EXPECT_THAT(told, ElementsAre("start 1 of 1", "start 2 of 2"));
  EXPECT_EQ(session->state(), wire::AgentState::kStarting);
  EXPECT_THAT(log.lines, IsEmpty());
}

TEST_F(AgentSessionTest, ASpecOfBeforeThePortChangedIsAnsweredAsALostPort) {
  serve(seconds(60), 1, 1);
  const auto session = agent();
  wait_for_events(1);
  session->set_address(kElsewhere);
  server->send_start(job::kWorker0, 1, 0);  // before the new report is read
  wait_until_told(1);
  EXPECT_THAT(told, ElementsAre("outdated"));
  wait_for_events(3);
  EXPECT_EQ(names_of(events), "reported port_lost reported");
  EXPECT_EQ(events[2], DeskEvent(PlaceReported{job::kWorker0, 1, kElsewhere, 99}));
}

TEST_F(AgentSessionTest, LinesThatFindNoPlaceAreCounted) {
  const auto session = agent();
  for (std::size_t i = 0; i < wire::kMaxQueuedLogLines + 500; ++i) {
    session->log(wire::Stream::kOut, base::format("line {}", i));
  }
  serve(seconds(60));
  std::size_t lines = 0;
  std::int64_t dropped = 0;
  wait("the lines", [&] {
    lines = 0;
    dropped = 0;
    for (const DeskEvent& event : events) {
      if (const auto* some = std::get_if<LogLines>(&event)) {
        lines += some->lines.size();
        dropped += some->dropped;
      }
    }
    return lines >= wire::kMaxQueuedLogLines;
  });
  EXPECT_EQ(lines, wire::kMaxQueuedLogLines);
  EXPECT_EQ(dropped, 500);
  EXPECT_EQ(std::get<LogLines>(events.back()).lines.back(),
            base::format("line {}", wire::kMaxQueuedLogLines + 499));
}

TEST_F(AgentSessionTest, AWrongSecretIsTheEnd) {
  serve(seconds(60));
  const auto session = agent("guess");
  wait_until_told(1);
  EXPECT_THAT(told[0], HasSubstr("refused: "));
  EXPECT_THAT(told[0], Not(HasSubstr("guess")));
  EXPECT_THAT(events, IsEmpty());
}

TEST_F(AgentSessionTest, AnAgentThatIsReplacedIsToldSo) {
  serve(seconds(60));
  const auto session = agent();
  wait_for_events(1);
  server->expect(job::kWorker0, 2);
  wait_until_told(1);
  EXPECT_THAT(told, ElementsAre("refused: attempt 2 takes its place"));
}

TEST_F(AgentSessionTest, ASecondAgentWaitsForTheFirstToGo) {
  serve(seconds(60));
  auto first = agent();
  wait_for_events(1);
  const auto second = agent();
  wait("the refusal in the log", [&] { return !log.lines.empty(); });
  EXPECT_FALSE(second->is_attached());
  first.reset();
  wait("the second session", [&] { return second->is_attached(); });
  EXPECT_EQ(names_of(events), "reported session_lost reattached");
  EXPECT_THAT(told, IsEmpty());
}

// A master that hangs keeps its connections open. The lease counts from the last heartbeat that it
// has answered.
TEST_F(AgentSessionTest, AMasterThatAnswersNothingLosesItsAgents) {
  net::Server mute(loop);
  ASSERT_TRUE(mute.listen_unix(folder / "socket").ok());
  std::vector<std::unique_ptr<net::Channel>> channels;
  int welcomes = 0;
  mute.on_channel([&](const net::HttpRequest&, std::unique_ptr<net::Channel> channel) {
    channels.push_back(std::move(channel));
    net::Channel* const opened = channels.back().get();
    opened->on_message([&welcomes, opened](std::string_view frame) {
      const auto message = wire::decode_agent_message(frame);
      if (!message.ok() || !std::holds_alternative<wire::ReportMessage>(*message)) return;
      if (++welcomes > 1) return;
      opened->send(encode(wire::MasterMessage(wire::WelcomeMessage{milliseconds(10), seconds(1)})));
    });
  });
  const base::Instant began = loop.now();
  const auto session = agent();
  wait_until_told(1);
  EXPECT_THAT(told, ElementsAre(StartsWith("lost: no answer from the master for 1.0 s (")));
  EXPECT_LT(loop.now() - began, wire::kFirstContactTimeout);
  // Between, it tried another connection.
  EXPECT_EQ(welcomes, 2);
}

}  // namespace
}  // namespace gangrun::agents
