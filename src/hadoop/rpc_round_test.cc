#include "hadoop/rpc_round.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/test_deadline.h"
#include "hadoop/configuration.h"
#include "hadoop/test_server.h"
#include "net/hosts.h"

namespace gangrun::hadoop {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kAddressKey = "yarn.resourcemanager.address";

std::vector<ServerAddress> addresses(const std::map<std::string, std::string>& values) {
  Configuration configuration;
  for (const auto& [name, value] : values) configuration.set(name, value);
  const auto found = resource_manager_addresses(configuration, kAddressKey, 8032);
  EXPECT_TRUE(found.ok()) << found.error().message;
  return found.ok() ? *found : std::vector<ServerAddress>{};
}

TEST(ResourceManagerAddresses, OfOneComeFromItsAddressOrItsHost) {
  EXPECT_THAT(addresses({{std::string(kAddressKey), "rm:8050"}}),
              ElementsAre(ServerAddress{"rm", 8050}));
  EXPECT_THAT(addresses({{"yarn.resourcemanager.hostname", "rm"}}),
              ElementsAre(ServerAddress{"rm", 8032}));
  EXPECT_THAT(addresses({}), ElementsAre(ServerAddress{"0.0.0.0", 8032}));
}

TEST(ResourceManagerAddresses, OfAPairComeFromTheirIds) {
  EXPECT_THAT(addresses({{"yarn.resourcemanager.ha.enabled", "true"},
                         {"yarn.resourcemanager.ha.rm-ids", "a, b"},
                         {"yarn.resourcemanager.address.a", "one:1"},
                         {"yarn.resourcemanager.hostname.b", "two"}}),
              ElementsAre(ServerAddress{"one", 1}, ServerAddress{"two", 8032}));
}

TEST(ResourceManagerAddresses, WhatIsMissingOrWrongIsNamed) {
  const auto error_of = [](const std::map<std::string, std::string>& values) {
    Configuration configuration;
    for (const auto& [name, value] : values) configuration.set(name, value);
    const auto found = resource_manager_addresses(configuration, kAddressKey, 8032);
    return found.ok() ? "no error" : found.error().message;
  };
  EXPECT_EQ(error_of({{std::string(kAddressKey), "rm:x"}}),
            "yarn.resourcemanager.address is \"rm:x\"; expected host:port");
  EXPECT_THAT(error_of({{"yarn.resourcemanager.ha.enabled", "true"}}), HasSubstr("ha.rm-ids"));
  EXPECT_THAT(error_of({{"yarn.resourcemanager.ha.enabled", "true"},
                        {"yarn.resourcemanager.ha.rm-ids", "a"}}),
              HasSubstr("yarn.resourcemanager.address.a is not set"));
}

TEST(ServerAddress, IsReadWithAndWithoutAPort) {
  EXPECT_EQ(parse_server_address(" a:1 ", 2), (ServerAddress{"a", 1}));
  EXPECT_EQ(parse_server_address("a", 2), (ServerAddress{"a", 2}));
  EXPECT_EQ(parse_server_address("[::1]:1", 2), (ServerAddress{"::1", 1}));
  EXPECT_EQ(parse_server_address("[::1]", 2), (ServerAddress{"::1", 2}));
  for (const char* text : {"", ":1", "a:", "a:0", "a:65536", "a b:1", "a,b", "${host}:1"}) {
    EXPECT_FALSE(parse_server_address(text, 2).ok()) << text;
  }
}

// Answers every first call with `frame`, then closes.
TestServer::Script answering(const std::string& frame) {
  return [frame](TestPeer& peer) {
    (void)peer.take(7);
    (void)peer.take_frame();
    (void)peer.take_frame();
    peer.give(frame);
  };
}

RpcRound round_of(const std::vector<int>& ports) {
  std::vector<ServerAddress> servers;
  for (const int port : ports) servers.push_back({"127.0.0.1", port});
  return RpcRound("the ResourceManager", servers, "Protocol", Login{.user = "alice"});
}

int closed_port() {
  const TestServer server([](TestPeer&) {});
  return server.port();
}

TEST(RpcRound, GoesOnToTheOneThatAnswers) {
  const TestServer standby(answering(error_frame(
      0, RpcResponse::Status::kError, "org.apache.hadoop.ipc.StandbyException", "not me")));
  const TestServer active(answering(success_frame(0, "me")));
  RpcRound round = round_of({closed_port(), standby.port(), active.port()});
  const RpcOutcome outcome = round.call("m", "", base::soon());
  ASSERT_FALSE(outcome.error.has_value()) << outcome.error->message;
  EXPECT_EQ(outcome.body, "me");
  EXPECT_EQ(round.answered_by(), net::host_port("127.0.0.1", active.port()));
  EXPECT_EQ(standby.connections(), 1);
}

TEST(RpcRound, ASilentOneLeavesTimeForTheOthers) {
  const TestServer silent([](TestPeer& peer) { (void)peer.take(100'000); });
  const TestServer active(answering(success_frame(0, "me")));
  RpcRound round = round_of({silent.port(), active.port()});
  EXPECT_EQ(round.call("m", "", base::soon(500ms)).body, "me");
}

TEST(RpcRound, GoesRoundUntilOneBecomesActive) {
  std::atomic<int> asked = 0;
  const TestServer server([&asked](TestPeer& peer) {
    (void)peer.take(7);
    (void)peer.take_frame();
    (void)peer.take_frame();
    peer.give(++asked < 3 ? error_frame(0, RpcResponse::Status::kError, "a.StandbyException", "no")
                          : success_frame(0, "now"));
  });
  RpcRound round = round_of({server.port(), closed_port()});
  EXPECT_EQ(round.call("m", "", base::soon()).body, "now");
  EXPECT_EQ(asked, 3);
}

TEST(RpcRound, WhereNobodyAnswersAllAreNamed) {
  const int port = closed_port();
  RpcRound alone = round_of({port});
  const RpcOutcome outcome = alone.call("m", "", base::soon());  // at once, not at the deadline
  ASSERT_TRUE(outcome.error.has_value());
  EXPECT_EQ(alone.to_error(*outcome.error).code, base::Code::kUnavailable);
  RpcRound pair = round_of({port, port});
  const RpcOutcome neither = pair.call("m", "", base::soon(200ms));
  ASSERT_TRUE(neither.error.has_value());
  const std::string address = net::host_port("127.0.0.1", port);
  EXPECT_THAT(pair.to_error(*neither.error).message, HasSubstr(address + " or " + address));
}

TEST(RpcRound, AConnectionThatWasClosedMeanwhileIsMadeAnew) {
  const TestServer server([](TestPeer& peer) {
    (void)peer.take(7);
    (void)peer.take_frame();
    (void)peer.take_frame();
    // As a daemon that was restarted between two calls: each connection has one answer.
    for (int call_id = 0; call_id < 3; ++call_id) peer.give(success_frame(call_id, "x"));
  });
  RpcRound round = round_of({server.port()});
  EXPECT_EQ(round.call("m", "", base::soon()).body, "x");
  round.set_login(Login{.user = "bob"});
  EXPECT_EQ(round.call("m", "", base::soon()).body, "x");
  EXPECT_EQ(server.connections(), 2);
}

TEST(RpcRound, AnAnswerThatIsAnErrorIsNotAskedForAgain) {
  const TestServer server(
      answering(error_frame(0, RpcResponse::Status::kError, "a.YarnException", "never")));
  RpcRound round = round_of({server.port(), server.port()});
  const RpcOutcome outcome = round.call("m", "", base::soon());
  ASSERT_TRUE(outcome.error.has_value());
  EXPECT_EQ(round.to_error(*outcome.error).message, "the ResourceManager at " +
                                                        net::host_port("127.0.0.1", server.port()) +
                                                        " refuses: \"never\"");
  EXPECT_EQ(server.connections(), 1);
}

}  // namespace
}  // namespace gangrun::hadoop
