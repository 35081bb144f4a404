#include "wire/rendezvous_relay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "base/format.h"

namespace gangrun::wire {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class RendezvousRelayTest : public testing::Test, private RendezvousRelayOutput {
 protected:
  void ask(RendezvousTicket ticket, const std::string& method, const std::string& path,
           std::string body = "") {
    relay_.request(ticket, method, path, std::move(body), now_);
  }
  void master_says(std::int64_t id, std::string value = "", std::string refused = "") {
    relay_.on_answer({1, id, std::move(value), std::move(refused)});
  }
  void expire() {
    now_ = *relay_.next_deadline();
    relay_.on_time(now_);
  }
  // "1 put global/0=x" for each message to the master.
  std::vector<std::string> sent() { return std::exchange(sent_, {}); }
  // "5: 200 x" for each answer to a process.
  std::vector<std::string> answered() { return std::exchange(answered_, {}); }

  void send(RendezvousMessage message) override {
    const char* const names[] = {"get", "put", "delete"};
    std::string text =
        base::format("{} {} {}", message.id, names[static_cast<int>(message.action)], message.key);
    if (message.action == RendezvousAction::kPut) text += "=" + message.value;
    sent_.push_back(std::move(text));
  }
  void answer(RendezvousTicket ticket, int status, const std::string& body) override {
    answered_.push_back(base::format("{}: {} {}", ticket, status, body));
  }

  base::Instant now_ = base::Instant(std::chrono::seconds(1000));
  std::vector<std::string> sent_;
  std::vector<std::string> answered_;
  RendezvousRelay relay_{*this};
};

TEST_F(RendezvousRelayTest, PassesOnAndBringsBack) {
  ask(5, "PUT", "/global/0", "x");
  EXPECT_THAT(sent(), ElementsAre("1 put global/0=x"));
  EXPECT_THAT(answered(), IsEmpty());
  master_says(1);
  ask(6, "GET", "/global/1");
  ask(7, "DELETE", "/global/0");
  EXPECT_THAT(sent(), ElementsAre("2 get global/1", "3 delete global/0"));
  master_says(3);
  master_says(2, "of rank 1");
  EXPECT_THAT(answered(), ElementsAre("5: 200 ", "7: 200 ", "6: 200 of rank 1"));
  EXPECT_EQ(relay_.next_deadline(), std::nullopt);
}

// Its client asks every 10 ms: the master hears of it once.
TEST_F(RendezvousRelayTest, AMissingKeyIsToldAfterAWhileAndAskedForOnce) {
  const base::Instant asked = now_;
  ask(1, "GET", "/global/1");
  expire();
  EXPECT_EQ(now_ - asked, kRendezvousHold);
  EXPECT_THAT(answered(), ElementsAre("1: 404 "));
  ask(2, "GET", "/global/1");
  ask(3, "GET", "/global/1");
  EXPECT_THAT(sent(), ElementsAre("1 get global/1"));
  master_says(1, "x");
  EXPECT_THAT(answered(), ElementsAre("2: 200 x", "3: 200 x"));
  ask(4, "GET", "/global/1");
  EXPECT_THAT(sent(), ElementsAre("2 get global/1"));
}

TEST_F(RendezvousRelayTest, AMasterThatDoesNotAnswerAPutIsTold) {
  const base::Instant asked = now_;
  ask(1, "PUT", "/global/0", "x");
  expire();
  EXPECT_EQ(now_ - asked, kRendezvousPatience);
  EXPECT_THAT(answered(), ElementsAre("1: 503 the task's agent has no connection to the "
                                      "job's master, or no answer from it\n"));
  master_says(1);
  EXPECT_THAT(answered(), IsEmpty());
}

TEST_F(RendezvousRelayTest, ANewMasterLearnsWhatIsThereAndWhatWaits) {
  ask(1, "PUT", "/global/0", "kept");
  master_says(1);
  ask(2, "PUT", "/local/0", "gone");
  master_says(2);
  ask(3, "DELETE", "/local/0");
  master_says(3);
  ask(4, "GET", "/global/1");
  ask(5, "PUT", "/cross/0", "on its way");
  sent();
  answered();
  relay_.on_attached();
  EXPECT_THAT(sent(),
              ElementsAre("6 put global/0=kept", "4 get global/1", "5 put cross/0=on its way"));
  master_says(6);
  master_says(4, "x");
  master_says(5);
  EXPECT_THAT(answered(), ElementsAre("4: 200 x", "5: 200 "));
}

// A repeated question must not bring back what was deleted since.
TEST_F(RendezvousRelayTest, ADeletedKeyIsNotPutAgain) {
  ask(1, "PUT", "/global/0", "x");
  ask(2, "PUT", "/global/rank_0", "host");
  ask(3, "DELETE", "/global/0");
  sent();
  relay_.on_attached();
  EXPECT_THAT(sent(),
              ElementsAre("1 delete global/0", "2 delete global/rank_0", "3 delete global/0"));
}

TEST_F(RendezvousRelayTest, LostAnswersDoNotPileUp) {
  ask(1, "PUT", "/global/0", "x");
  for (int session = 0; session < 3; ++session) relay_.on_attached();
  expire();
  for (int session = 0; session < 3; ++session) relay_.on_attached();
  EXPECT_THAT(sent(), ElementsAre("1 put global/0=x", "1 put global/0=x", "1 put global/0=x",
                                  "1 put global/0=x", "2 put global/0=x", "3 put global/0=x",
                                  "4 put global/0=x"));
}

TEST_F(RendezvousRelayTest, ARefusalReachesTheProcess) {
  ask(1, "PUT", "/global/0", "x");
  master_says(1, "", "the rendezvous is full");
  EXPECT_THAT(answered(), ElementsAre("1: 507 the rendezvous is full\n"));
  sent();
  relay_.on_attached();
  EXPECT_THAT(sent(), IsEmpty());
}

TEST_F(RendezvousRelayTest, AProcessThatHasGoneIsNotAnswered) {
  ask(1, "GET", "/global/1");
  relay_.forget(1);
  EXPECT_EQ(relay_.next_deadline(), std::nullopt);
  master_says(1, "x");
  EXPECT_THAT(answered(), IsEmpty());
}

TEST_F(RendezvousRelayTest, WhatIsNotUnderstoodIsNotAsked) {
  ask(1, "GET", "/global");
  ask(2, "POST", "/global/0");
  ask(3, "PUT", "/global/0", std::string(kMaxRendezvousValueBytes + 1, 'x'));
  EXPECT_THAT(sent(), IsEmpty());
  EXPECT_THAT(answered(), ElementsAre("1: 400 the path must be /SCOPE/KEY\n",
                                      "2: 405 GET, PUT and DELETE are understood\n",
                                      "3: 413 the value is too large\n"));
}

// The head of a 405 has to name the methods, and it had none.
TEST(RendezvousResponse, NamesTheMethodsWhereAnotherIsAsked) {
  const auto refusal = rendezvous_response(405, "GET, PUT and DELETE are understood\n");
  EXPECT_EQ(refusal.status, 405);
  EXPECT_EQ(refusal.headers.get("Allow"), "GET, PUT, DELETE");
  EXPECT_EQ(refusal.content_type, "text/plain; charset=utf-8");
  EXPECT_EQ(refusal.body, "GET, PUT and DELETE are understood\n");
  const auto value = rendezvous_response(200, "x");
  EXPECT_EQ(value.headers.get("Allow"), std::nullopt);
  EXPECT_EQ(value.content_type, "application/octet-stream");
  EXPECT_EQ(value.body, "x");
}

TEST_F(RendezvousRelayTest, HasLimits) {
  const std::string value(kMaxRendezvousValueBytes, 'x');
  const std::size_t fit = kMaxOwnRendezvousBytes / value.size();
  std::int64_t id = 0;
  for (std::size_t i = 0; i < fit; ++i) {
    ask(1, "PUT", base::format("/s/{}", i), value);
    master_says(++id);
  }
  answered();
  ask(2, "PUT", "/s/more", "x");
  EXPECT_THAT(answered(), ElementsAre("2: 507 the task has put too much\n"));
  ask(3, "DELETE", "/s/0");
  ask(4, "PUT", "/s/more", "x");
  EXPECT_THAT(answered(), IsEmpty());
  for (std::size_t i = 2; i < kMaxRendezvousQuestions; ++i) {
    ask(5, "GET", base::format("/missing/{}", i));
  }
  EXPECT_THAT(answered(), IsEmpty());
  ask(6, "GET", "/missing/more");
  EXPECT_THAT(answered(), ElementsAre("6: 503 too many questions wait for the master\n"));
}

TEST(RendezvousKey, IsAScopeAndAName) {
  EXPECT_EQ(rendezvous_key("/global/0"), "global/0");
  EXPECT_EQ(rendezvous_key("/local_fe80::1%eth0/rank_0"), "local_fe80::1%eth0/rank_0");
  const std::string longest = "/s/" + std::string(kMaxRendezvousKeyBytes - 2, 'k');
  EXPECT_TRUE(rendezvous_key(longest));
  for (const std::string& path :
       {std::string(), std::string("/"), std::string("//"), std::string("global/0"),
        std::string("/global"), std::string("/global/"), std::string("//0"), std::string("/a/b/c"),
        std::string("/a/b c"), std::string("/a/b\n"), std::string("/a/\xc3\xa9"), longest + "k"}) {
    EXPECT_EQ(rendezvous_key(path), std::nullopt) << path;
  }
}

}  // namespace
}  // namespace gangrun::wire
