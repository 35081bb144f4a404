#include "net/certificate.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <array>
#include <memory>

#include "base/format.h"
#include "net/openssl_owners_internal.h"
#include "net/tls_internal.h"

namespace gangrun::net {

namespace {

constexpr long kClockDifferenceSeconds = 3600;
constexpr std::size_t kMaxCommonNameBytes = 64;  // X.520's limit
constexpr std::size_t kSerialBytes = 16;

base::Error openssl_error(std::string_view what) {
  return base::internal(base::format("{} failed: {}", what, take_openssl_error()));
}

base::Result<> add_extension(X509* certificate, int nid, const std::string& value) {
  const Extension extension(X509V3_EXT_conf_nid(nullptr, nullptr, nid, value.c_str()));
  if (extension == nullptr || X509_add_ext(certificate, extension.get(), -1) != 1) {
    return openssl_error("adding an extension to the certificate");
  }
  return {};
}

base::Result<> fill_in(X509* certificate, EVP_PKEY* key, const std::string& common_name,
                       base::Duration validity) {
  std::array<unsigned char, kSerialBytes> serial{};
  if (RAND_bytes(serial.data(), static_cast<int>(serial.size())) != 1) {
    return openssl_error("making a serial number");
  }
  serial[0] = static_cast<unsigned char>((serial[0] & 0x3f) | 0x40);  // positive, of full length
  const std::unique_ptr<BIGNUM, Freer<BN_free>> number(
      BN_bin2bn(serial.data(), static_cast<int>(serial.size()), nullptr));
  const long seconds =
      static_cast<long>(std::chrono::duration_cast<std::chrono::seconds>(validity).count());
  X509_NAME* const name = X509_get_subject_name(certificate);
  const auto* const bytes = reinterpret_cast<const unsigned char*>(common_name.data());
  const bool filled =
      number != nullptr && X509_set_version(certificate, X509_VERSION_3) == 1 &&
      BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr &&
      X509_gmtime_adj(X509_getm_notBefore(certificate), -kClockDifferenceSeconds) != nullptr &&
      X509_gmtime_adj(X509_getm_notAfter(certificate), seconds) != nullptr &&
      X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, bytes,
                                 static_cast<int>(common_name.size()), -1, 0) == 1 &&
      X509_set_issuer_name(certificate, name) == 1 && X509_set_pubkey(certificate, key) == 1;
  if (!filled) return openssl_error("filling in the certificate");
  GANGRUN_TRY(add_extension(certificate, NID_basic_constraints, "critical,CA:FALSE"));
  return add_extension(certificate, NID_ext_key_usage, "serverAuth");
}

base::Result<std::string> digest_of(X509* certificate) {
  Sha256 digest{};
  if (X509_digest(certificate, EVP_sha256(), digest.data(), nullptr) != 1) {
    return openssl_error("taking the certificate's fingerprint");
  }
  return to_hex(digest);
}

}  // namespace

base::Result<JobCertificate> make_job_certificate(const std::string& common_name,
                                                  base::Duration validity) {
  if (common_name.empty() || common_name.size() > kMaxCommonNameBytes) {
    return base::invalid_argument(base::format(
        "the certificate's name \"{}\" must have 1 to {} bytes", common_name, kMaxCommonNameBytes));
  }
  initialise_openssl();
  const Key key(EVP_EC_gen("P-256"));
  const Certificate certificate(X509_new());
  if (key == nullptr || certificate == nullptr) return openssl_error("making a key");
  GANGRUN_TRY(fill_in(certificate.get(), key.get(), common_name, validity));
  if (X509_sign(certificate.get(), key.get(), EVP_sha256()) == 0) {
    return openssl_error("signing the certificate");
  }
  // Secure memory where there is some, so that no copy of the key stays behind.
  const Bio certificate_text(BIO_new(BIO_s_mem()));
  const Bio key_text(BIO_new(BIO_s_secmem()));
  if (certificate_text == nullptr || key_text == nullptr ||
      PEM_write_bio_X509(certificate_text.get(), certificate.get()) != 1 ||
      PEM_write_bio_PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) !=
          1) {
    return openssl_error("writing the certificate");
  }
  GANGRUN_ASSIGN(std::string fingerprint, digest_of(certificate.get()));
  return JobCertificate{text_of(certificate_text), base::Secret(text_of(key_text)),
                        std::move(fingerprint)};
}

base::Result<std::string> fingerprint_of(std::string_view certificate_pem) {
  initialise_openssl();
  const Bio text(BIO_new_mem_buf(certificate_pem.data(), static_cast<int>(certificate_pem.size())));
  if (text == nullptr) return openssl_error("reading the certificate");
  const Certificate certificate(PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr));
  if (certificate == nullptr) {
    return base::invalid_argument(
        base::format("this is not a certificate in PEM form: {}", take_openssl_error()));
  }
  return digest_of(certificate.get());
}

}  // namespace gangrun::net
