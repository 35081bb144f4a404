#pragma once

#include <gtest/gtest.h>
#include <openssl/pem.h>

#include <string>

#include "base/secret.h"
#include "net/openssl_owners_internal.h"

namespace gangrun::net {

struct TestIdentity {
  std::string certificate_pem;
  base::Secret key_pem;
};

// Somebody who vouches for others, made for a test.
class TestAuthority {
 public:
  explicit TestAuthority(const std::string& name = "authority")
      : key_(EVP_EC_gen("P-256")), certificate_(make(name, key_.get())) {
    add(certificate_.get(), NID_basic_constraints, "critical,CA:TRUE");
    sign(certificate_.get());
  }

  [[nodiscard]] std::string certificate_pem() const { return pem_of(certificate_.get()); }

  // `alternatives`: what it is for, as OpenSSL writes it: "DNS:a.b,IP:127.0.0.1".
  [[nodiscard]] TestIdentity issue(const std::string& name, const std::string& alternatives) const {
    const Key key(EVP_EC_gen("P-256"));
    const Certificate certificate = make(name, key.get());
    add(certificate.get(), NID_subject_alt_name, alternatives);
    sign(certificate.get());
    const Bio text(BIO_new(BIO_s_mem()));
    EXPECT_EQ(
        PEM_write_bio_PrivateKey(text.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr), 1);
    return {pem_of(certificate.get()), base::Secret(text_of(text))};
  }

 private:
  static Certificate make(const std::string& name, EVP_PKEY* key) {
    Certificate certificate(X509_new());
    static long serial = 0;
    X509_set_version(certificate.get(), X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), ++serial);
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
    const auto* const bytes = reinterpret_cast<const unsigned char*>(name.data());
    EXPECT_EQ(
        X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_UTF8,
                                   bytes, static_cast<int>(name.size()), -1, 0),
        1);
    X509_set_pubkey(certificate.get(), key);
    return certificate;
  }

  static void add(X509* certificate, int kind, const std::string& value) {
    const Extension extension(X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str()));
    EXPECT_NE(extension, nullptr) << value;
    EXPECT_EQ(X509_add_ext(certificate, extension.get(), -1), 1);
  }

  void sign(X509* certificate) const {
    X509_set_issuer_name(certificate, X509_get_subject_name(certificate_.get()));
    EXPECT_NE(X509_sign(certificate, key_.get(), EVP_sha256()), 0);
  }

  static std::string pem_of(X509* certificate) {
    const Bio text(BIO_new(BIO_s_mem()));
    EXPECT_EQ(PEM_write_bio_X509(text.get(), certificate), 1);
    return text_of(text);
  }

  Key key_;
  Certificate certificate_;
};

}  // namespace gangrun::net
