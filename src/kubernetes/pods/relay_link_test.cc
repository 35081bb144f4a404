#include "kubernetes/pods/relay_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cerrno>

#include "base/test_deadline.h"
#include "kubernetes/pods/test_proven_pods_internal.h"
#include "kubernetes/pods/try_pause.h"
#include "net/socket_listener.h"

namespace gangrun::kubernetes::pods {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

const base::Secret kToken(std::string(64, 'a'));
const base::Error kRefused = base::unavailable("connect: connection refused");

class RelayLinkTest : public testing::Test {
 protected:
  RelayLinkTest() {
    const auto port = master.listen_at_loopback(0);
    EXPECT_TRUE(port.ok());
    link = std::make_unique<RelayLink>(
        loop, client,
        RelayLink::Options{
            .name_space = "ns", .client_port = 4001, .token = kToken, .master_port = *port},
        RelayLink::Callbacks{
            .on_up = [this](const job::Address& at) { told.push_back("up " + job::to_string(at)); },
            .on_down = [this](const base::Error& why) { told.push_back("down " + why.message); },
            .on_given_up =
                [this](const base::Error& why) { told.push_back("given up " + why.message); }});
  }
  bool until(const std::function<bool()>& done) { return loop.run_until(done, base::soon()); }
  // The newest stream, once there are so many.
  TestPod& stream(std::size_t count) {
    EXPECT_TRUE(until([&] { return client.pods.size() >= count; }));
    return client.pods.back();
  }
  TestPod& come_up(std::size_t count = 1) {
    TestPod& pod = stream(count);
    prove(pod, kToken, kRelayGreeting);
    pod.say(to_bytes(HereFrame{"10.0.0.7:4000"}));
    EXPECT_TRUE(link->is_up());
    return pod;
  }
  base::UniqueFd session() {
    EXPECT_TRUE(until([&] { return !sessions.empty(); }));
    base::UniqueFd socket = std::move(sessions.back());
    sessions.pop_back();
    return socket;
  }
  bool until_ticks(const std::function<bool()>& done) {
    const std::function<void()> tick = [&] {
      ticker = loop.after(std::chrono::milliseconds(1), tick);
    };
    tick();
    const bool is_done = until(done);
    ticker.reset();
    return is_done;
  }

  net::EventLoop loop;
  net::Timer ticker;
  std::vector<base::UniqueFd> sessions;
  net::SocketListener master{loop,
                             [this](base::UniqueFd fd) { sessions.push_back(std::move(fd)); }};
  ForwardingClient client;
  std::vector<std::string> told;
  std::unique_ptr<RelayLink> link;
};

TEST_F(RelayLinkTest, IsTriedUntilTheRelayListens) {
  link->begin("j-relay", base::seconds(20));
  for (std::size_t tries = 1; tries <= 3; ++tries) {
    TestPod& pod = stream(tries);
    pod.open();
    pod.end(kRefused);
  }
  come_up(4);
  EXPECT_THAT(told, ElementsAre("up 10.0.0.7:4000"));
  EXPECT_THAT(client.asked, testing::Each("ns/j-relay:4001"));
  EXPECT_EQ(client.asked.size(), 4U);
}

TEST_F(RelayLinkTest, CarriesConnectionsToTheMaster) {
  link->begin("j-relay", base::seconds(20));
  TestPod& pod = come_up();
  EXPECT_THAT(taken_frames(pod), ElementsAre(to_bytes(PingFrame{})));
  pod.say(to_bytes(net::OpenFrame{1}) + to_bytes(net::StreamFrame{1, "dhello"}));
  const base::UniqueFd socket = session();
  std::string got(5, ' ');
  EXPECT_TRUE(until_ticks([&] { return ::recv(socket.get(), got.data(), 5, MSG_DONTWAIT) == 5; }));
  EXPECT_EQ(got, "hello");
  ASSERT_EQ(::send(socket.get(), "welcome", 7, 0), 7);
  EXPECT_TRUE(until([&] { return pod.sent.find("dwelcome") != std::string::npos; }));
  EXPECT_THAT(taken_frames(pod), Contains(to_bytes(net::StreamFrame{1, "dwelcome"})));
}

TEST_F(RelayLinkTest, AStreamThatBreaksIsOpenedAgain) {
  link->begin("j-relay", base::seconds(20));
  TestPod& first = come_up();
  first.say(to_bytes(net::OpenFrame{1}));
  const base::UniqueFd socket = session();
  first.end({});
  TestPod& second = stream(2);
  EXPECT_FALSE(link->is_up());
  char byte = 0;
  EXPECT_TRUE(until_ticks([&] { return ::recv(socket.get(), &byte, 1, MSG_DONTWAIT) == 0; }));
  second.open();
  second.end(kRefused);
  come_up(3);
  EXPECT_THAT(told, ElementsAre("up 10.0.0.7:4000", "down pod j-relay has closed the stream",
                                "up 10.0.0.7:4000"));
}

TEST_F(RelayLinkTest, ItsPatienceEnds) {
  link->begin("j-relay", base::Duration(0));
  TestPod& pod = stream(1);
  pod.open();
  pod.end(kRefused);
  ASSERT_TRUE(until([&] { return !told.empty(); }));
  EXPECT_THAT(told, ElementsAre("given up nothing listens at port 4001 of pod j-relay"));
  // Another pod is another chance.
  link->begin("j-relay-2", base::seconds(20));
  come_up(2);
  EXPECT_EQ(client.asked.back(), "ns/j-relay-2:4001");
}

TEST_F(RelayLinkTest, AMissingRightIsNotTriedAgain) {
  link->begin("j-relay", base::seconds(20));
  stream(1).end(base::Error{base::Code::kPermissionDenied, "no right to create pods/portforward"});
  ASSERT_TRUE(until([&] { return !told.empty(); }));
  EXPECT_THAT(told, ElementsAre(HasSubstr("given up no right")));
}

TEST_F(RelayLinkTest, AnotherPodTakesTheFirstOnesPlaceAtOnce) {
  link->begin("j-relay", base::seconds(20));
  TestPod& first = come_up();
  link->begin("j-relay-2", base::seconds(20));
  EXPECT_TRUE(first.is_closed);
  EXPECT_FALSE(link->is_up());
  come_up(2);
  EXPECT_THAT(told, ElementsAre("up 10.0.0.7:4000", "up 10.0.0.7:4000"));
}

// The queue of a tunnel has no end of its own.
TEST_F(RelayLinkTest, ReadsNothingFromTheMasterWhileMuchWaits) {
  link->begin("j-relay", base::seconds(20));
  TestPod& pod = come_up();
  pod.say(to_bytes(net::OpenFrame{1}) + to_bytes(net::OpenFrame{2}));
  EXPECT_TRUE(until([&] { return sessions.size() == 2; }));
  (void)taken_frames(pod);
  pod.queued_bytes = kEnoughWaiting + 1;
  // The link looks at its queue after each frame.
  ASSERT_EQ(::send(sessions[0].get(), "a", 1, 0), 1);
  EXPECT_TRUE(until([&] { return pod.sent.find("da") != std::string::npos; }));
  ASSERT_EQ(::send(sessions[1].get(), "b", 1, 0), 1);
  int ticks = 0;
  EXPECT_TRUE(until_ticks([&] { return ++ticks > 50; }));
  EXPECT_EQ(pod.sent.find("db"), std::string::npos);
  pod.queued_bytes = 0;
  EXPECT_TRUE(until([&] { return pod.sent.find("db") != std::string::npos; }));
}

TEST_F(RelayLinkTest, ARelayThatSpeaksLikeAClientIsNone) {
  for (const LinkFrame& frame :
       {LinkFrame(PingFrame{}), LinkFrame(HereFrame{"nowhere"}), LinkFrame(net::OpenFrame{1})}) {
    told.clear();
    link->begin("j-relay", base::Duration(0));
    TestPod& pod = stream(client.pods.size() + 1);
    prove(pod, kToken, kRelayGreeting);
    pod.say(to_bytes(frame));
    EXPECT_TRUE(until([&] { return !told.empty(); }));
    EXPECT_THAT(told, ElementsAre(HasSubstr("given up")));
  }
}

TEST(TryPause, IsShortAtFirst) {
  constexpr base::Duration kQuick = base::milliseconds(50);
  EXPECT_EQ(try_pause(kQuick, base::Duration(0)), kQuick);
  EXPECT_EQ(try_pause(kQuick, base::seconds(9)), kQuick);
  EXPECT_EQ(try_pause(kQuick, base::seconds(60)), base::milliseconds(500));
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
