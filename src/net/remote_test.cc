#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/remote_internal.h"
#include "net/test_authority_internal.h"

namespace gangrun::net {
namespace {

using base::Code;
using base::Secret;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Why no Remote comes of these; "" if one does.
std::string refusal(const RemoteOptions& options) {
  const auto remote = Remote::make(options);
  if (remote.ok()) return {};
  EXPECT_EQ(remote.error().code, Code::kInvalidArgument);
  return remote.error().message;
}

RemoteOptions good() {
  const TestAuthority authority;
  const TestIdentity us = authority.issue("us", "DNS:us");
  RemoteOptions options;
  options.url = "https://10.0.0.1:6443/ignored";
  options.authorities_pem = authority.certificate_pem();
  options.certificate_pem = us.certificate_pem;
  options.key_pem = us.key_pem;
  return options;
}

TEST(Remote, IsMadeOfGoodOptions) {
  const auto remote = Remote::make(good());
  ASSERT_TRUE(remote.ok()) << remote.error().message;
  EXPECT_EQ((*remote)->state().address, "10.0.0.1:6443");
  EXPECT_EQ((*remote)->state().server_name, "10.0.0.1");
  RemoteOptions bare;
  bare.url = "http://[::1]:80";
  bare.server_name = "api.example";
  const auto plain = Remote::make(bare);
  ASSERT_TRUE(plain.ok()) << plain.error().message;
  EXPECT_EQ((*plain)->state().address, "[::1]:80");
  EXPECT_EQ((*plain)->state().server_name, "api.example");
  EXPECT_EQ((*plain)->state().tls, nullptr);
}

TEST(Remote, NamesTheFieldThatIsWrong) {
  RemoteOptions wrong = good();
  wrong.url = "10.0.0.1";
  EXPECT_THAT(refusal(wrong), StartsWith("url: "));
  wrong = good();
  wrong.authorities_pem = "nothing";
  EXPECT_THAT(refusal(wrong), StartsWith("authorities_pem: "));
  wrong = good();
  wrong.certificate_pem = "nothing";
  EXPECT_THAT(refusal(wrong), StartsWith("certificate_pem: "));
  wrong = good();
  wrong.key_pem = good().key_pem;
  EXPECT_THAT(refusal(wrong), StartsWith("key_pem: "));
  wrong.key_pem = Secret();
  EXPECT_THAT(refusal(wrong), HasSubstr("one is given without the other"));
  wrong = good();
  wrong.server_name = "a/b";
  EXPECT_THAT(refusal(wrong), StartsWith("server_name: "));
  wrong = good();
  wrong.proxy = Secret("https://me:hidden@proxy:3128");
  EXPECT_THAT(refusal(wrong), StartsWith("proxy: "));
  EXPECT_THAT(refusal(wrong), Not(HasSubstr("hidden")));
}

TEST(Remote, AnEncryptedKeyIsRefusedAndNobodyIsAsked) {
  RemoteOptions options = good();
  const std::string& key = options.key_pem.reveal();
  BIO* const in = BIO_new_mem_buf(key.data(), static_cast<int>(key.size()));
  EVP_PKEY* const read = PEM_read_bio_PrivateKey(in, nullptr, nullptr, nullptr);
  BIO* const out = BIO_new(BIO_s_mem());
  const auto* const password = reinterpret_cast<const unsigned char*>("abc");
  ASSERT_EQ(
      PEM_write_bio_PKCS8PrivateKey(out, read, EVP_aes_128_cbc(),
                                    reinterpret_cast<const char*>(password), 3, nullptr, nullptr),
      1);
  char* data = nullptr;
  const long size = BIO_get_mem_data(out, &data);
  options.key_pem = Secret(std::string(data, static_cast<std::size_t>(size)));
  BIO_free_all(out);
  BIO_free_all(in);
  EVP_PKEY_free(read);
  EXPECT_THAT(refusal(options), StartsWith("key_pem: "));
}

TEST(Proxy, IsReadWithAndWithoutAUser) {
  auto proxy = parse_proxy("http://proxy.example:3128/");
  ASSERT_TRUE(proxy.ok()) << proxy.error().message;
  EXPECT_EQ(proxy->host, "proxy.example");
  EXPECT_EQ(proxy->port, 3128);
  EXPECT_TRUE(proxy->authorization.empty());
  proxy = parse_proxy("http://me:a%40b:c@[::1]");
  ASSERT_TRUE(proxy.ok()) << proxy.error().message;
  EXPECT_EQ(proxy->host, "::1");
  EXPECT_EQ(proxy->port, 80);
  EXPECT_EQ(proxy->authorization.reveal(), "Basic bWU6YUBiOmM=");  // me:a@b:c
  EXPECT_EQ(parse_proxy("http://me@h:1")->authorization.reveal(), "Basic bWU6");
}

TEST(Proxy, ThatIsNoneIsRefusedWithoutItsPassword) {
  for (const char* const text :
       {"", "proxy:3128", "socks5://me:hidden@h:1", "http://me:hidden@", "http://me:hidden@h:x",
        "http://me:hidden%@h:1", "http://me:hidden@a b:1", "http://me:hidden@h:0"}) {
    const auto proxy = parse_proxy(text);
    ASSERT_FALSE(proxy.ok()) << text;
    EXPECT_EQ(proxy.error().code, Code::kInvalidArgument);
    EXPECT_THAT(proxy.error().message, Not(HasSubstr("hidden")));
  }
}

}  // namespace
}  // namespace gangrun::net
