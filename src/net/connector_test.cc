#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/test_server_internal.h"

namespace gangrun::net {
namespace {

using base::milliseconds;
using testing::HasSubstr;

using ConnectorFixture = TlsFixture;

TEST(Connector, AnotherCertificateThanThePinnedOneIsRefused) {
  ConnectorFixture fixture;
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

TEST(Connector, WithoutAFingerprintNothingIsTried) {
  ConnectorFixture fixture;
  Endpoint unpinned = fixture.endpoint();
  unpinned.fingerprint.clear();
  EXPECT_EQ(fixture.connect(unpinned).error().code, base::Code::kInvalidArgument);
  EXPECT_EQ(request(unpinned, {}, test_deadline()).error().code, base::Code::kInvalidArgument);
  EXPECT_EQ(request({}, {}, test_deadline()).error().code, base::Code::kInvalidArgument);
}

TEST(Connector, AHostThatDoesNotResolveIsNamed) {
  ConnectorFixture fixture;
  const auto channel = fixture.connect(fixture.endpoint("no-such-host.invalid"));
  ASSERT_FALSE(channel.ok());
  EXPECT_THAT(channel.error().message, HasSubstr("no-such-host.invalid"));
  const auto answer = request(fixture.endpoint("no-such-host.invalid"), {}, test_deadline());
  ASSERT_FALSE(answer.ok());
  EXPECT_THAT(answer.error().message, HasSubstr("no-such-host.invalid"));
}

TEST(Connector, NobodyThere) {
  TestFolder folder;
  ConnectorFixture fixture;
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

TEST(Connector, TheDeadlineHoldsAgainstAServerThatNeverAnswers) {
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

  ConnectorFixture fixture;
  const auto no_channel = fixture.connect(on_unix, milliseconds(30));
  ASSERT_FALSE(no_channel.ok());
  EXPECT_EQ(no_channel.error().code, base::Code::kDeadlineExceeded);

  // The first request still fills the queue of the Unix socket, which the kernel reports in its own
  // way.
  EXPECT_THAT(no_channel.error().message, HasSubstr("room in the full queue of"));
}

TEST(Connector, APastDeadlineIsExceeded) {
  TestFolder folder;
  const DeafServer deaf(*unix_address(folder / "deaf"));
  const auto answer = request(Endpoint::on_unix(folder / "deaf"), {}, base::Instant{});
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, base::Code::kDeadlineExceeded);
}

}  // namespace
}  // namespace gangrun::net
