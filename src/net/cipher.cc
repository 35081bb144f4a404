#include "net/cipher.h"

#include <openssl/evp.h>

#include <memory>

#include "base/check.h"
#include "base/format.h"
#include "net/digests.h"
#include "net/openssl_owners_internal.h"

namespace gangrun::net {

namespace {

using Cipher = std::unique_ptr<EVP_CIPHER_CTX, Freer<EVP_CIPHER_CTX_free>>;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

int size_of(std::string_view text) { return static_cast<int>(text.size()); }

base::Error failed() { return base::internal("OpenSSL has no AES-256-GCM, or no memory for it"); }

base::Error damaged(const char* how) {
  return {base::Code::kDataLoss, base::format("sealed bytes {}", how)};
}

}  // namespace

base::Result<std::string> seal(const base::Secret& key, std::string_view plain,
                               std::string_view about) {
  GANGRUN_CHECK(key.reveal().size() == kCipherKeyBytes, key.reveal().size());
  const Cipher cipher(EVP_CIPHER_CTX_new());
  const std::string nonce = random_bytes(kCipherNonceBytes);
  std::string hidden(plain.size(), '\0');
  std::string tag(kCipherTagBytes, '\0');
  int size = 0;
  const bool done =
      cipher != nullptr &&
      EVP_EncryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, bytes_of(key.reveal()),
                         bytes_of(nonce)) == 1 &&
      EVP_EncryptUpdate(cipher.get(), nullptr, &size, bytes_of(about), size_of(about)) == 1 &&
      EVP_EncryptUpdate(cipher.get(), bytes_of(hidden), &size, bytes_of(plain), size_of(plain)) ==
          1 &&
      EVP_EncryptFinal_ex(cipher.get(), bytes_of(tag), &size) == 1 &&
      EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_GET_TAG, size_of(tag), tag.data()) == 1;
  if (!done) return failed();
  return nonce + hidden + tag;
}

base::Result<std::string> unseal(const base::Secret& key, std::string_view sealed,
                                 std::string_view about) {
  GANGRUN_CHECK(key.reveal().size() == kCipherKeyBytes, key.reveal().size());
  if (sealed.size() < kCipherNonceBytes + kCipherTagBytes) return damaged("are cut");
  const std::string_view nonce = sealed.substr(0, kCipherNonceBytes);
  const std::string_view hidden =
      sealed.substr(kCipherNonceBytes, sealed.size() - kCipherNonceBytes - kCipherTagBytes);
  std::string tag(sealed.substr(sealed.size() - kCipherTagBytes));
  std::string plain(hidden.size(), '\0');
  std::string rest(kCipherTagBytes, '\0');
  const Cipher cipher(EVP_CIPHER_CTX_new());
  int size = 0;
  const bool begun =
      cipher != nullptr &&
      EVP_DecryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, bytes_of(key.reveal()),
                         bytes_of(nonce)) == 1 &&
      EVP_DecryptUpdate(cipher.get(), nullptr, &size, bytes_of(about), size_of(about)) == 1 &&
      EVP_DecryptUpdate(cipher.get(), bytes_of(plain), &size, bytes_of(hidden), size_of(hidden)) ==
          1 &&
      EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_SET_TAG, size_of(tag), tag.data()) == 1;
  if (!begun) return failed();
  if (EVP_DecryptFinal_ex(cipher.get(), bytes_of(rest), &size) != 1) {
    return damaged("are damaged, or were sealed with another key");
  }
  return plain;
}

}  // namespace gangrun::net
