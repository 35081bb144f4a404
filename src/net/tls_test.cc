#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/crypto.h>
#include <openssl/ssl.h>

#include <vector>

#include "net/test_server_internal.h"

namespace gangrun::net {
namespace {

using testing::HasSubstr;

using TlsFixture = TlsFixture;

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

// With 64 KiB, a master had no room for more than 2,020 agents.
TEST(Tls, TheKeysOfAllConnectionsOfAServerHaveRoom) {
  constexpr std::size_t kKeyBytes = 32;
  initialise_openssl();
  std::vector<void*> keys;
  for (std::size_t i = 0; i < ServerOptions().max_connections; ++i) {
    keys.push_back(OPENSSL_secure_malloc(kKeyBytes));
    ASSERT_NE(keys.back(), nullptr) << i;
  }
  for (void* const key : keys) OPENSSL_secure_free(key);
}

TEST(Tls, Tls12IsRefusedByTheServer) {
  TlsFixture fixture;
  bool old_one = true;
  bool new_one = false;
  run_beside(fixture.loop, [&] {
    old_one = handshake_succeeds(fixture.port, TLS1_2_VERSION);
    new_one = handshake_succeeds(fixture.port, TLS1_3_VERSION);
  });
  EXPECT_FALSE(old_one);
  EXPECT_TRUE(new_one);
}

TEST(Tls, PlainTextOnATlsPortIsRefused) {
  TlsFixture fixture;
  run_beside(fixture.loop, [&] {
    RawClient client(*ip_address("127.0.0.1", fixture.port));
    client.write("GET / HTTP/1.1\r\n\r\n");
    EXPECT_THAT(client.read_until(), testing::Not(HasSubstr("hello")));
  });
}

TEST(Tls, ADamagedCertificateIsAnErrorWhenListening) {
  EventLoop loop;
  Server server(loop);
  auto certificate = make_job_certificate("job", std::chrono::hours(1));
  ASSERT_TRUE(certificate.ok());
  certificate->key_pem = make_job_certificate("other", std::chrono::hours(1))->key_pem;
  const auto mismatch = server.listen_tls("127.0.0.1", 0, *certificate);
  ASSERT_FALSE(mismatch.ok());
  EXPECT_EQ(mismatch.error().code, base::Code::kInvalidArgument);
  certificate->certificate_pem = "nothing";
  EXPECT_FALSE(server.listen_tls("127.0.0.1", 0, *certificate).ok());
}

TEST(Tls, TheAddressToListenOnIsNumericAndOurs) {
  EventLoop loop;
  Server server(loop);
  const auto certificate = make_job_certificate("job", std::chrono::hours(1));
  ASSERT_TRUE(certificate.ok());
  EXPECT_THAT(server.listen_tls("localhost", 0, *certificate).error().message,
              HasSubstr("localhost"));
  EXPECT_THAT(server.listen_tls("192.0.2.77", 0, *certificate).error().message,
              HasSubstr("192.0.2.77"));
}

}  // namespace
}  // namespace gangrun::net
