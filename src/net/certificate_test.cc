#include "net/certificate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "net/openssl_owners_internal.h"

namespace gangrun::net {
namespace {

using testing::HasSubstr;

Certificate parse(const std::string& pem) {
  const Bio text(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  return Certificate(PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr));
}

TEST(Certificate, IsSelfSignedAndValidFromNowOn) {
  const auto made = make_job_certificate("job_1", std::chrono::hours(24));
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_THAT(made->key_pem.reveal(), HasSubstr("PRIVATE KEY"));
  EXPECT_EQ(made->certificate_pem.find("PRIVATE"), std::string::npos);
  const auto certificate = parse(made->certificate_pem);
  ASSERT_NE(certificate, nullptr);
  EXPECT_EQ(X509_verify(certificate.get(), X509_get0_pubkey(certificate.get())), 1);
  EXPECT_LT(X509_cmp_current_time(X509_get0_notBefore(certificate.get())), 0);
  EXPECT_GT(X509_cmp_current_time(X509_get0_notAfter(certificate.get())), 0);
}

TEST(Certificate, TheFingerprintIsOfTheCertificateAndEachIsDifferent) {
  const auto a = make_job_certificate("job_1", std::chrono::hours(24));
  const auto b = make_job_certificate("job_1", std::chrono::hours(24));
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(a->fingerprint.size(), 64U);
  EXPECT_NE(a->fingerprint, b->fingerprint);
  const auto again = fingerprint_of(a->certificate_pem);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*again, a->fingerprint);
}

TEST(Certificate, BadInputIsRefused) {
  EXPECT_FALSE(make_job_certificate("", std::chrono::hours(1)).ok());
  EXPECT_FALSE(make_job_certificate(std::string(65, 'x'), std::chrono::hours(1)).ok());
  const auto wrong =
      fingerprint_of("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().code, base::Code::kInvalidArgument);
}

}  // namespace
}  // namespace gangrun::net
