#include "agent/key_relay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/described_json.h"
#include "base/format.h"

namespace gangrun::agent {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using wire::KeyAction;

class KeyRelayTest : public testing::Test, private KeyRelayOutput {
 protected:
  void put(KeyTicket ticket, std::string key) {
    relay_.request(
        ticket, {.key = wire::KeyQuestion{.action = KeyAction::kPut, .key = std::move(key)}}, now_);
  }
  void get(KeyTicket ticket, std::string key) {
    relay_.request(ticket, {.key = wire::KeyQuestion{.key = std::move(key)}}, now_);
  }
  void wait(KeyTicket ticket, std::string key, std::chrono::milliseconds time) {
    relay_.request(
        ticket,
        {.key = wire::KeyQuestion{.action = KeyAction::kWait, .key = std::move(key)}, .wait = time},
        now_);
  }
  void come(KeyTicket ticket, std::chrono::milliseconds time) {
    relay_.request(ticket, {.barrier = wire::BarrierQuestion{.name = "b"}, .wait = time}, now_);
  }
  void master_says(std::int64_t id, const wire::KeyAnswer& said) {
    relay_.on_answer({.id = id, .said = base::to_json(said), .refused = {}}, now_);
  }
  void master_says(std::int64_t id, const wire::BarrierAnswer& said) {
    relay_.on_answer({.id = id, .said = base::to_json(said), .refused = {}}, now_);
  }
  void expire() {
    now_ = *relay_.next_deadline();
    relay_.on_time(now_);
  }
  // "1 put a #1" for each question to the master.
  std::vector<std::string> asked() { return std::exchange(asked_, {}); }
  // "5: 200 x" for each answer to a process.
  std::vector<std::string> answered() { return std::exchange(answered_, {}); }

  void ask(wire::AskMessage question) override {
    const base::Json& about = question.about;
    if (question.kind == wire::kCancelKind) {
      return asked_.push_back(base::format("cancel {}", about["question"].get<int>()));
    }
    if (question.kind == wire::kBarrierKind) {
      return asked_.push_back(base::format("{} round {} {}", question.id, about["round"].get<int>(),
                                           question.limit.count()));
    }
    std::string text = base::format("{} {} {}", question.id, about["action"].get<std::string>(),
                                    about.value("key", std::string()));
    if (about.contains("change")) text += base::format(" #{}", about["change"].get<int>());
    asked_.push_back(std::move(text));
  }
  void answer(KeyTicket ticket, net::HttpResponse response) override {
    answered_.push_back(base::format("{}: {} {}", ticket, response.status, response.body));
  }

  base::Instant now_ = base::Instant(std::chrono::seconds(1000));
  std::vector<std::string> asked_;
  std::vector<std::string> answered_;
  wire::QuestionNumbers numbers_;
  KeyRelay relay_{*this, numbers_};
};

TEST_F(KeyRelayTest, PassesOnAndBringsBack) {
  get(5, "a");
  EXPECT_THAT(asked(), ElementsAre("1 get a"));
  master_says(7, wire::KeyAnswer{});
  EXPECT_THAT(answered(), IsEmpty());
  master_says(1, wire::KeyAnswer{.found = true, .value = "x"});
  master_says(1, wire::KeyAnswer{.found = true, .value = "y"});
  EXPECT_THAT(answered(), ElementsAre("5: 200 x"));
  EXPECT_FALSE(relay_.next_deadline().has_value());
}

TEST_F(KeyRelayTest, ChangesGoOneAfterTheOther) {
  put(1, "a");
  put(2, "b");
  get(3, "c");
  EXPECT_THAT(asked(), ElementsAre("1 put a #1", "2 get c"));
  master_says(1, wire::KeyAnswer{.found = true});
  EXPECT_THAT(asked(), ElementsAre("3 put b #2"));
  EXPECT_THAT(answered(), ElementsAre("1: 200 "));
}

TEST_F(KeyRelayTest, TheNextSessionAsksWhatIsNotAnsweredAgain) {
  put(1, "a");
  put(2, "b");
  wait(3, "c", std::chrono::seconds(5));
  (void)asked();
  relay_.on_attached(now_);
  EXPECT_THAT(asked(), ElementsAre("1 put a #1", "2 wait c"));
}

TEST_F(KeyRelayTest, AProcessThatHasGoneWaitsNoMore) {
  put(1, "a");
  wait(2, "c", std::chrono::seconds(5));
  get(3, "d");
  (void)asked();
  for (const KeyTicket ticket : {1, 2, 3, 4}) relay_.forget(ticket);
  EXPECT_THAT(asked(), ElementsAre("cancel 2"));
  relay_.on_attached(now_);
  EXPECT_THAT(asked(), ElementsAre("1 put a #1"));
}

TEST_F(KeyRelayTest, AWaitIsAskedAgainAsLongAsThereIsTime) {
  wait(1, "a", std::chrono::minutes(2));
  now_ += wire::kMaxHold;
  master_says(1, wire::KeyAnswer{});
  EXPECT_THAT(asked(), ElementsAre("1 wait a", "2 wait a"));
  now_ += wire::kMaxHold;
  master_says(2, wire::KeyAnswer{});
  EXPECT_THAT(answered(), ElementsAre("1: 504 no task has put a within 2 min\n"));
}

TEST_F(KeyRelayTest, ABarrierIsComeToInItsOpenRound) {
  come(1, std::chrono::seconds(90));
  master_says(1, wire::BarrierAnswer{.is_complete = false, .round = 3});
  EXPECT_THAT(asked(), ElementsAre("1 round 0 60000", "2 round 3 60000"));
  now_ += wire::kMaxHold;
  master_says(2, wire::BarrierAnswer{.is_complete = false, .round = 3});
  EXPECT_THAT(asked(), ElementsAre("3 round 3 30000"));
  relay_.on_attached(now_);
  EXPECT_THAT(asked(), ElementsAre("3 round 3 30000"));
  master_says(3, wire::BarrierAnswer{.is_complete = true, .round = 3});
  EXPECT_THAT(answered(), ElementsAre("1: 200 {\"round\":3}\n"));
}

TEST_F(KeyRelayTest, ABarrierThatCannotBeCompleteIsNotAskedAgain) {
  come(1, std::chrono::seconds(90));
  master_says(1, wire::BarrierAnswer{.round = 3});
  master_says(2, wire::BarrierAnswer{.round = 3, .ended = "worker:1 has succeeded"});
  EXPECT_THAT(asked(), ElementsAre("1 round 0 60000", "2 round 3 60000"));
  const auto answers = answered();
  ASSERT_EQ(answers.size(), 1);
  EXPECT_THAT(answers[0], testing::HasSubstr("410 barrier"));
}

TEST_F(KeyRelayTest, WithoutAMasterNobodyWaitsForEver) {
  put(1, "a");
  put(2, "b");
  come(3, std::chrono::seconds(90));
  (void)asked();
  expire();
  const std::string sentence =
      "503 the task's agent has no connection to the job's master, or no answer from it";
  const std::string again = sentence + " for 1 min; it tries to connect again, so ask again\n";
  EXPECT_THAT(answered(), ElementsAre("1: " + again, "2: " + again));
  expire();
  EXPECT_THAT(answered(),
              ElementsAre("3: " + sentence + ": the limit of this wait, 1 min 30 s, is over\n"));
}

TEST_F(KeyRelayTest, ARefusalIsHandedOn) {
  put(1, "a");
  come(2, std::chrono::seconds(1));
  relay_.on_answer({.id = 1, .said = {}, .refused = "full"}, now_);
  relay_.on_answer({.id = 2, .said = {}, .refused = "disagree"}, now_);
  EXPECT_THAT(answered(), ElementsAre("1: 507 full\n", "2: 412 disagree\n"));
}

TEST_F(KeyRelayTest, RequestsAreLimited) {
  for (KeyTicket ticket = 1; ticket <= kMaxKeyRequests; ++ticket) {
    wait(ticket, "a", std::chrono::seconds(5));
  }
  get(kMaxKeyRequests + 1, "a");
  EXPECT_THAT(answered(), ElementsAre("4097: 503 too many requests wait already\n"));
}

}  // namespace
}  // namespace gangrun::agent
