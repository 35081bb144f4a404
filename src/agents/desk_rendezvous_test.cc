// Tests of the desk's rendezvous: between sessions, runs and generations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "agents/desk.h"
#include "agents/starts.h"
#include "agents/test_desk.h"
#include "base/format.h"
#include "wire/test_registry.h"

namespace gangrun::agents {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// "7: value" or "7: refused, why" for each answer, with its session before it.
class Answers final : public DeskOutput {
 public:
  void send(wire::SessionId session, wire::Frame frame) override {
    const auto message = wire::decode_master_message(*frame);
    ASSERT_TRUE(message.ok()) << *frame;
    const auto* answer = std::get_if<wire::RendezvousAnswerMessage>(&*message);
    if (answer == nullptr) return;
    const std::string value = answer->value.empty() ? "done" : answer->value;
    const std::string what = answer->refused.empty() ? value : "refused, " + answer->refused;
    told.push_back(base::format("{} to {}: {}", answer->id, session, what));
  }
  void close(wire::SessionId, std::string_view) override {}
  void event(DeskEvent) override {}
  std::vector<std::string> take() { return std::exchange(told, {}); }

  std::vector<std::string> told;
};

// Two workers, each with the session of its number, that run generation 1.
class DeskRendezvousTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const wire::SessionId session : {1, 2}) {
      desk.expect(task(session), 1);
      attach(session, wire::AgentState::kWaiting, 0, 0);
    }
    start(1, 1);
  }

  static job::TaskId task(wire::SessionId session) {
    return {"worker", static_cast<int>(session) - 1};
  }
  void frame(wire::SessionId session, const wire::AgentMessage& message) {
    desk.on_frame(session, encode(message), now);
  }
  void attach(wire::SessionId session, wire::AgentState state, int run, int generation) {
    desk.on_opened(session, now);
    frame(session,
          wire::ReportMessage{task(session), 1, {"h", 1}, 9, state, run, generation, 0, {}});
  }
  void start_one(wire::SessionId session, int attempt, int generation) {
    Starts starts({generation, {}});
    desk.send_start(task(session), attempt, 0, starts);
    frame(session, wire::StartedMessage{attempt, generation, 5});
  }
  void start(int attempt, int generation) {
    for (const wire::SessionId session : {1, 2}) start_one(session, attempt, generation);
  }
  void ask(wire::SessionId session, std::int64_t id, wire::RendezvousAction action,
           std::string value = "", int run = 1) {
    frame(session, wire::RendezvousMessage{run, run, id, action, "global/0", std::move(value)});
  }

  base::Instant now = base::Instant(std::chrono::seconds(1000));
  Answers out;
  wire::LogRecorder log;
  Desk desk{DeskOptions{milliseconds(1000), milliseconds(60'000)}, out, log};
};

constexpr auto kGet = wire::RendezvousAction::kGet;
constexpr auto kPut = wire::RendezvousAction::kPut;
constexpr auto kDelete = wire::RendezvousAction::kDelete;

TEST_F(DeskRendezvousTest, AGetIsAnsweredWhenTheKeyIsThere) {
  ask(2, 7, kGet);
  EXPECT_THAT(out.take(), IsEmpty());
  ask(1, 3, kPut, "x");
  EXPECT_THAT(out.take(), ElementsAre("3 to 1: done", "7 to 2: x"));
  ask(2, 8, kGet);
  EXPECT_THAT(out.take(), ElementsAre("8 to 2: x"));
  ask(1, 4, kDelete);
  ask(2, 9, kGet);
  EXPECT_THAT(out.take(), ElementsAre("4 to 1: done"));
}

TEST_F(DeskRendezvousTest, ANewGenerationDoesNotSeeTheKeysOfTheOneBefore) {
  ask(1, 3, kPut, "old");
  ask(2, 7, kGet, "", 1);
  start(2, 2);
  out.take();
  ask(2, 1, kGet, "", 2);
  EXPECT_THAT(out.take(), IsEmpty());
  ask(1, 1, kPut, "new", 2);
  EXPECT_THAT(out.take(), ElementsAre("1 to 1: done", "1 to 2: new"));
}

// The spec of generation 2 is out, and a process of generation 1 has not been stopped yet.
TEST_F(DeskRendezvousTest, AProcessOfAnOldGenerationIsRefused) {
  desk.set_generation(2);
  ask(1, 3, kPut, "old");
  EXPECT_THAT(out.take(), ElementsAre("3 to 1: refused, generation 1 is over"));
  EXPECT_THAT(log.lines, ElementsAre(HasSubstr("worker:0: generation 1 is over")));
}

TEST_F(DeskRendezvousTest, ATaskThatComesBackInItsGenerationStartsWithoutItsOldKeys) {
  ask(1, 3, kPut, "of the dead process");
  frame(1, wire::ExitedMessage{1, 1, {}});
  start_one(1, 2, 1);
  out.take();
  ask(2, 7, kGet);
  EXPECT_THAT(out.take(), IsEmpty());
}

TEST_F(DeskRendezvousTest, AnotherRunThanTheCurrentOneIsNotHeard) {
  frame(1, wire::RendezvousMessage{2, 1, 3, kPut, "global/0", "x"});
  frame(1, wire::RendezvousMessage{1, 2, 3, kPut, "global/0", "x"});
  EXPECT_THAT(out.take(), IsEmpty());
  EXPECT_EQ(log.lines.size(), 2U);
}

TEST_F(DeskRendezvousTest, WhoHasGoneIsNotAnswered) {
  ask(2, 7, kGet);
  desk.on_closed(2);
  ask(1, 3, kPut, "x");
  EXPECT_THAT(out.take(), ElementsAre("3 to 1: done"));
}

// After the death of a master the next one knows no key; the agents put theirs again.
TEST_F(DeskRendezvousTest, ASuccessorLearnsTheKeysFromTheAgents) {
  Desk next{DeskOptions{milliseconds(1000), milliseconds(60'000)}, out, log};
  next.set_generation(1);
  const auto reattach = [&](wire::SessionId session) {
    next.expect(task(session), 1);
    next.on_opened(session, now);
    next.on_frame(session,
                  encode(wire::ReportMessage{
                      task(session), 1, {"h", 1}, 9, wire::AgentState::kRunning, 1, 1, 5, {}}),
                  now);
  };
  reattach(2);
  next.on_frame(2, encode(wire::RendezvousMessage{1, 1, 7, kGet, "global/0", ""}), now);
  reattach(1);
  next.on_frame(1, encode(wire::RendezvousMessage{1, 1, 9, kPut, "global/0", "x"}), now);
  EXPECT_THAT(out.take(), ElementsAre("9 to 1: done", "7 to 2: x"));
}

TEST_F(DeskRendezvousTest, AKeyFromOutsideIsForAllAndForItsGeneration) {
  ask(1, 7, wire::RendezvousAction::kGet);
  EXPECT_TRUE(desk.put_key("global/0", "end").ok());
  ask(2, 8, wire::RendezvousAction::kGet);
  EXPECT_THAT(out.take(), ElementsAre("7 to 1: end", "8 to 2: end"));
  // No task has put it: none takes it along.
  start_one(1, 2, 1);
  ask(2, 9, wire::RendezvousAction::kGet);
  EXPECT_THAT(out.take(), ElementsAre("9 to 2: end"));
}

TEST_F(DeskRendezvousTest, BeforeAGenerationNoKeyIsTaken) {
  Desk fresh(DeskOptions{}, out, log);
  EXPECT_EQ(fresh.put_key("global/0", "end").error().code, base::Code::kFailedPrecondition);
}

}  // namespace
}  // namespace gangrun::agents
