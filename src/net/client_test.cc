#include "net/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <optional>

#include "net/certificate.h"
#include "net/server.h"
#include "net/test_support_internal.h"

namespace gangrun::net {
namespace {

using base::milliseconds;
using testing::HasSubstr;

using ChannelResult = base::Result<std::unique_ptr<Channel>>;

// A server on TLS that answers and echoes.
struct Fixture {
  Fixture() {
    auto listening = server.listen_tls("127.0.0.1", 0, certificate);
    EXPECT_TRUE(listening.ok()) << listening.error().message;
    port = *listening;
    server.on_request([this](const HttpRequest& request, Responder responder) {
      peer = request.peer;
      responder.answer({200, "text/plain", {}, "hello " + request.body});
    });
    server.on_channel([this](const HttpRequest&, std::unique_ptr<Channel> channel) {
      echo = std::move(channel);
      echo->on_message([this](std::string_view text) { echo->send(std::string(text)); });
    });
  }

  [[nodiscard]] Endpoint endpoint(const std::string& host = "127.0.0.1") const {
    return Endpoint::on_tls(host, port, certificate.fingerprint);
  }

  ChannelResult connect(const Endpoint& to, base::Duration within = kTestLimit) {
    std::optional<ChannelResult> result;
    const Connecting connecting =
        connect_channel(loop, to, "/c", {}, loop.now() + within,
                        [&](ChannelResult channel) { result.emplace(std::move(channel)); });
    EXPECT_TRUE(loop.run_until([&] { return result.has_value(); }, test_deadline()));
    return std::move(*result);
  }

  EventLoop loop;
  JobCertificate certificate = *make_job_certificate("job", std::chrono::hours(1));
  std::uint16_t port = 0;
  std::unique_ptr<Channel> echo;
  Server server{loop};
  Peer peer;
};

TEST(Client, ARequestOverTls) {
  Fixture fixture;
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
  Fixture fixture;
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

TEST(Client, AnotherCertificateThanThePinnedOneIsRefused) {
  Fixture fixture;
  const auto other = make_job_certificate("job", std::chrono::hours(1));
  ASSERT_TRUE(other.ok());
  Endpoint wrong = fixture.endpoint();
  wrong.fingerprint = other->fingerprint;
  const auto channel = fixture.connect(wrong);
  ASSERT_FALSE(channel.ok());
  EXPECT_EQ(channel.error().code, base::Code::kUnauthenticated);
  EXPECT_THAT(channel.error().message, HasSubstr("another certificate"));
  run_beside(fixture.loop, [&] {
    const auto answer = request(wrong, {}, test_deadline());
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, base::Code::kUnauthenticated);
  });
}

TEST(Client, WithoutAFingerprintNothingIsTried) {
  Fixture fixture;
  Endpoint unpinned = fixture.endpoint();
  unpinned.fingerprint.clear();
  EXPECT_EQ(fixture.connect(unpinned).error().code, base::Code::kInvalidArgument);
  EXPECT_EQ(request(unpinned, {}, test_deadline()).error().code, base::Code::kInvalidArgument);
  EXPECT_EQ(request({}, {}, test_deadline()).error().code, base::Code::kInvalidArgument);
}

// The result of a handshake by OpenSSL itself, with TLS versions up to `newest`.
bool handshake_succeeds(std::uint16_t port, int newest) {
  const RawClient client(*ip_address("127.0.0.1", port));
  SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
  SSL_CTX_set_max_proto_version(context, newest);
  SSL* const tls = SSL_new(context);
  SSL_set_fd(tls, client.fd());
  const bool connected = SSL_connect(tls) == 1;
  SSL_free(tls);
  SSL_CTX_free(context);
  return connected;
}

TEST(Client, Tls12IsRefusedByTheServer) {
  Fixture fixture;
  bool old_one = true;
  bool new_one = false;
  run_beside(fixture.loop, [&] {
    old_one = handshake_succeeds(fixture.port, TLS1_2_VERSION);
    new_one = handshake_succeeds(fixture.port, TLS1_3_VERSION);
  });
  EXPECT_FALSE(old_one);
  EXPECT_TRUE(new_one);
}

TEST(Client, PlainTextOnATlsPortIsRefused) {
  Fixture fixture;
  run_beside(fixture.loop, [&] {
    RawClient client(*ip_address("127.0.0.1", fixture.port));
    client.write("GET / HTTP/1.1\r\n\r\n");
    EXPECT_THAT(client.read_until(), testing::Not(HasSubstr("hello")));
  });
}

TEST(Client, AHostThatDoesNotResolveIsNamed) {
  Fixture fixture;
  const auto channel = fixture.connect(fixture.endpoint("no-such-host.invalid"));
  ASSERT_FALSE(channel.ok());
  EXPECT_THAT(channel.error().message, HasSubstr("no-such-host.invalid"));
  const auto answer = request(fixture.endpoint("no-such-host.invalid"), {}, test_deadline());
  ASSERT_FALSE(answer.ok());
  EXPECT_THAT(answer.error().message, HasSubstr("no-such-host.invalid"));
}

TEST(Client, NobodyThere) {
  TestFolder folder;
  Fixture fixture;
  const std::string path = folder / "nothing";
  const auto missing = request(Endpoint::on_unix(path), {}, test_deadline());
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, base::Code::kNotFound);
  EXPECT_THAT(missing.error().message, HasSubstr(path));
  std::uint16_t free_port = 0;
  {
    Server gone(fixture.loop);
    free_port = *gone.listen_loopback(0);
  }
  const auto refused = fixture.connect(Endpoint::on_tls("127.0.0.1", free_port, "aa"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, base::Code::kUnavailable);
  EXPECT_THAT(refused.error().message, HasSubstr("127.0.0.1:" + std::to_string(free_port)));
}

// A socket that listens and never accepts.
struct DeafServer {
  explicit DeafServer(const SocketAddress& address)
      : fd(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    EXPECT_EQ(::bind(fd.get(), address.get(), address.size), 0);
    EXPECT_EQ(::listen(fd.get(), 0), 0);
    sockaddr_storage own{};
    socklen_t size = sizeof own;
    EXPECT_EQ(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&own), &size), 0);
    if (address.family() != AF_UNIX) port = port_of(own);
  }
  base::UniqueFd fd;
  std::uint16_t port = 0;
};

TEST(Client, TheDeadlineHoldsAgainstAServerThatNeverAnswers) {
  TestFolder folder;
  const DeafServer deaf_unix(*unix_address(folder / "deaf"));
  const DeafServer deaf_tls(*ip_address("127.0.0.1", 0));
  const Endpoint on_unix = Endpoint::on_unix(folder / "deaf");
  const Endpoint on_tls = Endpoint::on_tls("127.0.0.1", deaf_tls.port, "aa");
  const auto soon = [] { return std::chrono::steady_clock::now() + milliseconds(30); };

  const auto no_answer = request(on_unix, {}, soon());
  ASSERT_FALSE(no_answer.ok());
  EXPECT_EQ(no_answer.error().code, base::Code::kDeadlineExceeded);
  EXPECT_THAT(no_answer.error().message, HasSubstr("the answer of " + (folder / "deaf")));

  const auto no_handshake = request(on_tls, {}, soon());
  ASSERT_FALSE(no_handshake.ok());
  EXPECT_EQ(no_handshake.error().code, base::Code::kDeadlineExceeded);
  EXPECT_THAT(no_handshake.error().message, HasSubstr("the TLS handshake with 127.0.0.1"));

  Fixture fixture;
  const auto no_channel = fixture.connect(on_unix, milliseconds(30));
  ASSERT_FALSE(no_channel.ok());
  EXPECT_EQ(no_channel.error().code, base::Code::kDeadlineExceeded);

  // The first request still fills the queue of the Unix socket, which the kernel reports in its own
  // way.
  EXPECT_THAT(no_channel.error().message, HasSubstr("room in the full queue of"));
}

TEST(Client, APastDeadlineIsExceeded) {
  TestFolder folder;
  const DeafServer deaf(*unix_address(folder / "deaf"));
  const auto answer = request(Endpoint::on_unix(folder / "deaf"), {}, base::Instant{});
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, base::Code::kDeadlineExceeded);
}

TEST(Client, ADestroyedAttemptCallsNothing) {
  Fixture fixture;
  // At every point of the way: each attempt is given up after some more steps of the loop.
  for (int steps = 0; steps < 30; ++steps) {
    bool called = false;
    Connecting attempt =
        connect_channel(fixture.loop, fixture.endpoint(), "/c", {}, test_deadline(),
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
  Fixture fixture;
  std::optional<Connecting> attempt;
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
