#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <mutex>

#include "base/format.h"
#include "base/hex.h"
#include "net/openssl_owners_internal.h"
#include "net/tls_internal.h"

namespace gangrun::net {

namespace {

// The files in which distributions keep the certificates that they trust: a static program's
// OpenSSL knows only the place of the distribution that it was built on.
constexpr std::array kSystemAuthorities{
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
};

constexpr std::size_t kSmallestSecureBytes = 32;

base::Result<std::shared_ptr<asio::ssl::context>> tls_context(int oldest) {
  initialise_openssl();
  std::shared_ptr<asio::ssl::context> context;
  try {
    context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls);
  } catch (const boost::system::system_error& error) {
    return base::internal(base::format("TLS cannot be used: {}", error.what()));
  }
  SSL_CTX* const native = context->native_handle();
  if (SSL_CTX_set_min_proto_version(native, oldest) != 1) {
    return base::internal(base::format("TLS cannot be used: {}", take_openssl_error()));
  }
  SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
  return context;
}

void trust_system(SSL_CTX* context) {
  SSL_CTX_set_default_verify_paths(context);
  for (const char* const path : kSystemAuthorities) {
    if (SSL_CTX_load_verify_file(context, path) == 1) break;
  }
  ERR_clear_error();
}

// Owned by the SSL_CTX whose connections share it, whatever threads they are in.
struct KeptSession {
  std::mutex mutex;
  Session session;
};

void free_kept_session(void*, void* kept, CRYPTO_EX_DATA*, int, long, void*) {
  std::unique_ptr<KeptSession>(static_cast<KeptSession*>(kept)).reset();
}

int kept_session_index() {
  static const int kIndex =
      SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, free_kept_session);
  return kIndex;
}

KeptSession* kept_session_of(SSL* tls) {
  return static_cast<KeptSession*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(tls), kept_session_index()));
}

// A copy: OpenSSL spoils the session of a connection that ends without a farewell.
int on_session(SSL* tls, SSL_SESSION* session) {
  KeptSession* const kept = kept_session_of(tls);
  Session copy(SSL_SESSION_dup(session));
  const std::lock_guard lock(kept->mutex);
  kept->session.swap(copy);
  return 0;
}

}  // namespace

void initialise_openssl() {
  OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
  static std::once_flag keys;
  // The memory of private keys: locked, and in no core file. Without it they are where all else
  // is.
  std::call_once(keys, [] { CRYPTO_secure_malloc_init(kSecureHeapBytes, kSmallestSecureBytes); });
}

std::string take_openssl_error() {
  const unsigned long error = ERR_get_error();
  ERR_clear_error();
  std::array<char, 256> text{};
  ERR_error_string_n(error, text.data(), text.size());
  return error == 0 ? "no reason given" : text.data();
}

std::string to_hex(const Sha256& digest) {
  return base::to_hex(
      std::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()));
}

base::Result<std::shared_ptr<asio::ssl::context>> server_tls(const JobCertificate& certificate) {
  GANGRUN_ASSIGN(auto context, tls_context(TLS1_3_VERSION));
  const std::string& key = certificate.key_pem.reveal();
  ErrorCode error;
  context->use_certificate(asio::buffer(certificate.certificate_pem), asio::ssl::context::pem,
                           error);
  if (!error) context->use_private_key(asio::buffer(key), asio::ssl::context::pem, error);
  if (error) return base::invalid_argument("the job's certificate: " + error.message());
  // A job's clients connect once and stay: resumption would cost more than it saves.
  SSL_CTX_set_num_tickets(context->native_handle(), 0);
  return context;
}

base::Result<std::shared_ptr<asio::ssl::context>> client_tls() {
  GANGRUN_ASSIGN(auto context, tls_context(TLS1_3_VERSION));
  SSL_CTX_set_verify(context->native_handle(), SSL_VERIFY_NONE, nullptr);
  return context;
}

base::Result<std::shared_ptr<asio::ssl::context>> authorities_tls(
    const std::string& authorities_file) {
  GANGRUN_ASSIGN(auto context, tls_context(TLS1_2_VERSION));
  SSL_CTX* const native = context->native_handle();
  SSL_CTX_set_verify(native, SSL_VERIFY_PEER, nullptr);
  if (!authorities_file.empty()) {
    if (SSL_CTX_load_verify_file(native, authorities_file.c_str()) != 1) {
      return base::invalid_argument(base::format("no certificates can be read from {}: {}",
                                                 authorities_file, take_openssl_error()));
    }
    return context;
  }
  trust_system(native);
  return context;
}

base::Result<std::shared_ptr<asio::ssl::context>> authorities_pem_tls(
    const std::string& authorities_pem) {
  GANGRUN_ASSIGN(auto context, tls_context(TLS1_2_VERSION));
  SSL_CTX* const native = context->native_handle();
  SSL_CTX_set_verify(native, SSL_VERIFY_PEER, nullptr);
  if (authorities_pem.empty()) {
    trust_system(native);
    return context;
  }
  ErrorCode error;
  context->add_certificate_authority(asio::buffer(authorities_pem), error);
  if (error) {
    return base::invalid_argument("there are no certificates in PEM form: " + error.message());
  }
  X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(native), X509_V_FLAG_PARTIAL_CHAIN);
  return context;
}

base::Result<> keep_session(SSL_CTX* context) {
  auto kept = std::make_unique<KeptSession>();
  if (SSL_CTX_set_ex_data(context, kept_session_index(), kept.get()) != 1) {
    return base::internal("TLS cannot be used: " + take_openssl_error());
  }
  (void)kept.release();  // freed with the context
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(context, on_session);
  return {};
}

void continue_session(SSL* tls) {
  KeptSession* const kept = kept_session_of(tls);
  if (kept == nullptr) return;
  Session copy;
  {
    const std::lock_guard lock(kept->mutex);
    if (kept->session != nullptr) copy.reset(SSL_SESSION_dup(kept->session.get()));
  }
  if (copy != nullptr) SSL_set_session(tls, copy.get());
}

std::string peer_fingerprint(SSL* tls) {
  X509* const certificate = SSL_get0_peer_certificate(tls);
  Sha256 digest{};
  if (certificate == nullptr ||
      X509_digest(certificate, EVP_sha256(), digest.data(), nullptr) != 1) {
    return {};
  }
  return to_hex(digest);
}

}  // namespace gangrun::net
