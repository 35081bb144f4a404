#include "net/dialer_internal.h"
//
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/test_calls_internal.h"

namespace gangrun::net {
namespace {

using base::Code;
using base::milliseconds;
using base::Secret;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kHello =
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello";

void say_hello(TestTalk& talk) {
  talk.read_head();
  talk.write(kHello);
}

// A server on TLS, and what a client needs to know of it.
struct SafeFixture {
  explicit SafeFixture(const std::string& names = "DNS:localhost,IP:127.0.0.1",
                       bool asks_clients = false, int newest = TLS1_3_VERSION)
      : peer(
            [this](TestTalk& talk) {
              resumed += talk.is_resumed() ? "again " : "new ";
              server_name = talk.server_name();
              say_hello(talk);
            },
            TestTls{authority.issue("server", names),
                    asks_clients ? authority.certificate_pem() : std::string(), newest}) {}

  [[nodiscard]] RemoteOptions options(const std::string& host = "127.0.0.1") const {
    RemoteOptions out;
    out.url = base::format("https://{}:{}", host, peer.port());
    out.authorities_pem = authority.certificate_pem();
    return out;
  }

  TestAuthority authority;
  std::string resumed;
  std::string server_name;
  CallLoop calls;
  TestPeer peer;
};

void expect_distrust(const CallResult& answer, const std::string& why) {
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, Code::kUnauthenticated) << answer.error().message;
  EXPECT_THAT(answer.error().message, HasSubstr(why));
  EXPECT_THAT(answer.error().message, HasSubstr("GET 127.0.0.1:"));
}

TEST(Dialer, AServerThatIsVouchedForIsTrustedByItsAddress) {
  for (const int newest : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    SafeFixture fixture("IP:127.0.0.1", false, newest);
    const auto answer = fixture.calls.ask(remote_of(fixture.options()));
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    EXPECT_EQ(answer->body, "hello");
    EXPECT_EQ(fixture.server_name, "");
  }
}

TEST(Dialer, AServerThatIsVouchedForIsTrustedByItsName) {
  SafeFixture fixture("DNS:localhost");
  const auto answer = fixture.calls.ask(remote_of(fixture.options("localhost")));
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(fixture.server_name, "localhost");
}

TEST(Dialer, AnotherNameThanTheUrlsMayBeTheServers) {
  SafeFixture fixture("DNS:api.example");
  RemoteOptions options = fixture.options();
  expect_distrust(fixture.calls.ask(remote_of(options)), "IP address mismatch");
  options.server_name = "other.example";
  expect_distrust(fixture.calls.ask(remote_of(options)), "hostname mismatch");
  options.server_name = "api.example";
  EXPECT_TRUE(fixture.calls.ask(remote_of(options)).ok());
  EXPECT_EQ(fixture.server_name, "api.example");
}

TEST(Dialer, AStrangerIsRefusedUnlessNothingIsVerified) {
  SafeFixture fixture("DNS:other.example");
  RemoteOptions options = fixture.options();
  options.authorities_pem = TestAuthority("another").certificate_pem();
  expect_distrust(fixture.calls.ask(remote_of(options)), "certificate");
  options.authorities_pem.clear();
  expect_distrust(fixture.calls.ask(remote_of(options)), "certificate");
  options.verifies_server = false;
  EXPECT_TRUE(fixture.calls.ask(remote_of(options)).ok());
}

TEST(Dialer, TheServersOwnCertificateMayVouchForIt) {
  const TestAuthority authority;
  const TestIdentity server = authority.issue("server", "IP:127.0.0.1");
  const TestPeer peer(say_hello, TestTls{server});
  RemoteOptions options;
  options.url = base::format("https://127.0.0.1:{}", peer.port());
  options.authorities_pem = server.certificate_pem;
  CallLoop calls;
  const auto answer = calls.ask(remote_of(options));
  EXPECT_TRUE(answer.ok()) << answer.error().message;
}

TEST(Dialer, AServerMayAskWhoWeAre) {
  for (const int newest : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    SafeFixture fixture("IP:127.0.0.1", true, newest);
    RemoteOptions options = fixture.options();
    const auto refused = fixture.calls.ask(remote_of(options));
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, Code::kUnauthenticated) << refused.error().message;
    const TestIdentity us = fixture.authority.issue("us", "DNS:us");
    options.certificate_pem = us.certificate_pem;
    options.key_pem = us.key_pem;
    const auto remote = remote_of(options);
    EXPECT_TRUE(fixture.calls.ask(remote).ok());
    EXPECT_TRUE(fixture.calls.ask(remote).ok());
    EXPECT_EQ(fixture.resumed, "new again ");
  }
}

TEST(Dialer, AConnectionGoesOnWithTheSessionOfTheLastOne) {
  SafeFixture fixture;
  const auto remote = remote_of(fixture.options());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(fixture.calls.ask(remote).ok());
  EXPECT_TRUE(fixture.calls.ask(remote_of(fixture.options())).ok());
  EXPECT_EQ(fixture.resumed, "new again again new ");
}

TEST(Dialer, NobodyThereIsUnavailable) {
  CallLoop calls;
  RemoteOptions options;
  {
    const DeafServer gone(*ip_address("127.0.0.1", 0));
    options.url = base::format("https://127.0.0.1:{}", gone.port);
  }
  const auto refused = calls.ask(remote_of(options), {"GET", "/a?token=hidden", {}, {}});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kUnavailable);
  EXPECT_THAT(refused.error().message, HasSubstr(options.url.substr(8) + "/a: "));
  EXPECT_THAT(refused.error().message, Not(HasSubstr("hidden")));
  options.url = "https://no.such.invalid";
  const auto nowhere = calls.ask(remote_of(options));
  ASSERT_FALSE(nowhere.ok());
  EXPECT_EQ(nowhere.error().code, Code::kUnavailable);
  EXPECT_THAT(nowhere.error().message, HasSubstr("no.such.invalid"));
}

TEST(Dialer, WhoDoesNotGreetIsWaitedForUntilTheDeadline) {
  const DeafServer deaf(*ip_address("127.0.0.1", 0));
  RemoteOptions options;
  options.url = base::format("https://127.0.0.1:{}", deaf.port);
  CallLoop calls;
  auto remote = remote_of(options);
  const auto no_handshake = calls.ask(remote, {}, call_options(milliseconds(50)));
  ASSERT_FALSE(no_handshake.ok());
  EXPECT_EQ(no_handshake.error().code, Code::kDeadlineExceeded);
  EXPECT_THAT(no_handshake.error().message, HasSubstr("the TLS handshake with 127.0.0.1"));

  const DeafServer deaf_proxy(*ip_address("127.0.0.1", 0));
  options.proxy = Secret(base::format("http://127.0.0.1:{}", deaf_proxy.port));
  remote = remote_of(options);
  const auto no_consent = calls.ask(remote, {}, call_options(milliseconds(50)));
  ASSERT_FALSE(no_consent.ok());
  EXPECT_EQ(no_consent.error().code, Code::kDeadlineExceeded);
  EXPECT_THAT(no_consent.error().message, HasSubstr("the answer of the proxy 127.0.0.1"));
}

// A proxy that answers so, and then speaks as the server itself, without TLS.
struct ProxyFixture {
  explicit ProxyFixture(std::string consent)
      : peer([this, answer = std::move(consent)](TestTalk& talk) {
          asked = talk.read_head();
          talk.write(answer);
          say_hello(talk);
        }) {}

  [[nodiscard]] RemoteOptions options() const {
    RemoteOptions out;
    out.url = "http://api.invalid:6443";
    out.proxy = Secret(base::format("http://me:hidden@127.0.0.1:{}", peer.port()));
    return out;
  }

  std::string asked;
  CallLoop calls;
  TestPeer peer;
};

TEST(Dialer, AProxyIsAskedToConnect) {
  ProxyFixture fixture("HTTP/1.1 200 Connection established\r\nContent-Length: 7\r\n\r\n");
  const auto answer = fixture.calls.ask(remote_of(fixture.options()));
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->body, "hello");
  EXPECT_EQ(fixture.asked,
            "CONNECT api.invalid:6443 HTTP/1.1\r\nHost: api.invalid:6443\r\n"
            "Proxy-Authorization: Basic bWU6aGlkZGVu\r\n\r\n");
}

TEST(Dialer, BehindAProxyTheServerIsVerified) {
  SafeFixture server("DNS:api.invalid");
  const TestPeer proxy([&server](TestTalk& talk) {
    talk.read_head();
    talk.write("HTTP/1.1 200 OK\r\n\r\n");
    const RawClient to_server(*ip_address("127.0.0.1", server.peer.port()));
    talk.carry(to_server.fd());
  });
  RemoteOptions options = server.options("api.invalid");
  options.proxy = Secret(base::format("http://127.0.0.1:{}", proxy.port()));
  const auto answer = server.calls.ask(remote_of(options));
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->body, "hello");
  EXPECT_EQ(server.server_name, "api.invalid");
}

TEST(Dialer, AProxyMayRefuse) {
  const std::pair<const char*, Code> cases[] = {
      {"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", Code::kUnauthenticated},
      {"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno", Code::kPermissionDenied},
      {"HTTP/1.1 502 Bad Gateway\r\n\r\n", Code::kUnavailable},
      {"nonsense\r\n\r\n", Code::kUnavailable}};
  for (const auto& [consent, code] : cases) {
    ProxyFixture fixture(consent);
    const auto answer = fixture.calls.ask(remote_of(fixture.options()));
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, code) << answer.error().message;
    EXPECT_THAT(answer.error().message, HasSubstr("GET api.invalid:6443/: "));
    EXPECT_THAT(answer.error().message, HasSubstr("the proxy 127.0.0.1"));
    EXPECT_THAT(answer.error().message, Not(HasSubstr("hidden")));
  }
}

TEST(Dialer, AProxyThatGoesIsUnavailable) {
  const TestPeer proxy([](TestTalk& talk) { talk.read_head(); });
  RemoteOptions options;
  options.url = "https://api.invalid";
  options.proxy = Secret(base::format("http://127.0.0.1:{}", proxy.port()));
  CallLoop calls;
  const auto answer = calls.ask(remote_of(options));
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, Code::kUnavailable);
  EXPECT_THAT(answer.error().message, HasSubstr("the other side closed the connection"));
}

}  // namespace
}  // namespace gangrun::net
