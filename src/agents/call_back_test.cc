#include "agents/call_back.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/test_log.h"
#include "wire/control.h"
#include "wire/test_registry.h"

namespace gangrun::agents {
namespace {

using std::chrono::milliseconds;
using testing::Contains;
using testing::HasSubstr;
using wire::test_deadline;

const base::Secret kSecret("0123");
const job::Address kMaster{"127.0.0.2", 4000};
constexpr milliseconds kAgain{300};

job::TaskId worker(int index) { return {"worker", index}; }

class CallBackTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto address = control.listen("127.0.0.1");
    ASSERT_TRUE(address.ok()) << address.error().message;
    agent = net::Endpoint::on_tls("127.0.0.1", address->port, address->fingerprint);
  }
  void begin(const std::map<job::TaskId, net::Endpoint>& agents, base::Instant until,
             int attempt = 2) {
    call_back.begin({kSecret, kMaster, attempt}, agents, until);
  }
  void wait(const std::function<bool()>& done) {
    EXPECT_TRUE(loop.run_until(done, test_deadline()));
  }

  net::EventLoop loop;
  base::LogRecorder log;
  std::set<job::TaskId> connected;
  std::vector<job::Address> calls;
  std::function<void()> on_call = [] {};
  net::Endpoint agent;
  wire::ControlServer control{loop, kSecret,
                              [this](const job::Address& master) {
                                calls.push_back(master);
                                on_call();
                              },
                              log};
  CallBack call_back{loop, log,
                     [this](const job::TaskId& task) { return connected.contains(task); }, kAgain};
};

TEST_F(CallBackTest, AnAgentIsCalledAgainUntilItIsThere) {
  on_call = [this] {
    if (calls.size() == 3) connected.insert(worker(0));
  };
  begin({{worker(0), agent}}, test_deadline());
  wait([&] { return call_back.waiting() == 0; });
  EXPECT_EQ(calls, std::vector<job::Address>(3, kMaster));
}

TEST_F(CallBackTest, ManyAgentsAreCalledOneAfterAnother) {
  constexpr int kAgents = 3 * kMaxCallsAtOnce;
  std::map<job::TaskId, net::Endpoint> agents;
  for (int i = 0; i < kAgents; ++i) agents.emplace(worker(i), agent);
  on_call = [this] {
    for (int i = 0; calls.size() == kAgents && i < kAgents; ++i) connected.insert(worker(i));
  };
  begin(agents, test_deadline());
  wait([&] { return call_back.waiting() == 0; });
  EXPECT_GE(calls.size(), std::size_t{kAgents});
}

TEST_F(CallBackTest, WhoHasASessionAlreadyIsNotCalled) {
  connected.insert(worker(0));
  begin({{worker(0), agent}}, test_deadline());
  EXPECT_EQ(call_back.waiting(), 0U);
}

TEST_F(CallBackTest, TheEndOfTheLeaseIsTheEnd) {
  const net::Endpoint nobody = net::Endpoint::on_tls("127.0.0.1", 1, agent.fingerprint);
  const base::Instant begun = loop.now();
  begin({{worker(0), nobody}, {worker(1), agent}}, begun + kAgain + milliseconds(200));
  wait([&] { return call_back.waiting() == 0; });
  EXPECT_GE(loop.now() - begun, kAgain);
  EXPECT_THAT(log.lines, Contains(HasSubstr("worker:0 did not come back: PUT /v1/master at")));
  EXPECT_THAT(log.lines, Contains(HasSubstr("worker:1 did not come back: it was told")));
}

TEST_F(CallBackTest, WhatAskingAgainCannotChangeIsNotAskedAgain) {
  begin({{worker(0), agent}}, test_deadline(), 5);
  wait([&] { return !calls.empty(); });
  CallBack earlier(loop, log, [](const job::TaskId&) { return false; });
  net::Endpoint other = agent;
  other.fingerprint = std::string(64, '0');
  earlier.begin({kSecret, kMaster, 4}, {{worker(1), agent}, {worker(2), other}}, test_deadline());
  wait([&] { return earlier.waiting() == 0; });
  EXPECT_THAT(log.lines, Contains(HasSubstr("master 4 has been followed by 5")));
  EXPECT_THAT(log.lines, Contains(HasSubstr("worker:2 did not come back")));
}

}  // namespace
}  // namespace gangrun::agents
