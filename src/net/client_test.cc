#include "net/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "net/test_server_internal.h"

namespace gangrun::net {
namespace {

using base::milliseconds;
using testing::HasSubstr;

using ClientFixture = TlsFixture;

TEST(Client, ARequestOverTls) {
  ClientFixture fixture;
  run_beside(fixture.loop, [&] {
    HttpRequest question{"POST", "/x", {}, {}, std::string(200'000, 'b'), {}};
    const auto answer = request(fixture.endpoint(), question, test_deadline());
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    EXPECT_EQ(answer->body, "hello " + question.body);
  });
  EXPECT_EQ(fixture.peer.kind, PeerKind::kTls);
  EXPECT_THAT(fixture.peer.address, HasSubstr("127.0.0.1:"));
}

TEST(Client, AChannelOverTlsByHostName) {
  ClientFixture fixture;
  auto channel = fixture.connect(fixture.endpoint("localhost"));
  ASSERT_TRUE(channel.ok()) << channel.error().message;
  std::vector<std::string> received;
  (*channel)->on_message([&](std::string_view text) { received.emplace_back(text); });
  const std::string large(1'000'000, 'x');
  (*channel)->send("small");
  (*channel)->send(large);
  ASSERT_TRUE(fixture.loop.run_until([&] { return received.size() == 2; }, test_deadline()));
  EXPECT_EQ(received[0], "small");
  EXPECT_EQ(received[1], large);
  EXPECT_EQ((*channel)->peer().kind, PeerKind::kTls);
  // Destroyed with TLS operations under way.
  (*channel)->send(large);
  channel->reset();
  fixture.echo.reset();
}

TEST(Client, ADestroyedAttemptCallsNothing) {
  ClientFixture fixture;
  // At every point of the way: each attempt is given up after some more steps of the loop.
  for (int steps = 0; steps < 30; ++steps) {
    bool called = false;
    Call attempt = connect_channel(fixture.loop, fixture.endpoint(), "/c", {}, test_deadline(),
                                   [&](const ChannelResult&) { called = true; });
    int taken = 0;
    fixture.loop.run_until([&] { return called || taken++ == steps; }, test_deadline());
    const bool before = called;
    attempt.reset();
    bool later = false;
    const Timer end = fixture.loop.after(milliseconds(1), [&] { later = true; });
    fixture.loop.run_until([&] { return later; }, test_deadline());
    EXPECT_EQ(called, before);
  }
}

TEST(Client, AnAttemptMayBeDestroyedInItsOwnCallback) {
  ClientFixture fixture;
  std::optional<Call> attempt;
  bool called = false;
  attempt = connect_channel(fixture.loop, fixture.endpoint(), "/c", {}, test_deadline(),
                            [&](const ChannelResult&) {
                              attempt.reset();
                              called = true;
                            });
  EXPECT_TRUE(fixture.loop.run_until([&] { return called; }, test_deadline()));
}

TEST(Client, AnAnswerThatIsNotHttpIsAnError) {
  TestFolder folder;
  const DeafServer liar(*unix_address(folder / "liar"));
  std::thread thread([&] {
    const base::UniqueFd fd(::accept(liar.fd.get(), nullptr, nullptr));
    ASSERT_EQ(::send(fd.get(), "nonsense\r\n\r\n", 12, MSG_NOSIGNAL), 12);
    char buffer[1024];
    while (::recv(fd.get(), buffer, sizeof buffer, 0) > 0) {
    }
  });
  const auto answer = request(Endpoint::on_unix(folder / "liar"), {}, test_deadline());
  thread.join();
  ASSERT_FALSE(answer.ok());
  EXPECT_THAT(answer.error().message, HasSubstr("not understood"));
}

}  // namespace
}  // namespace gangrun::net
