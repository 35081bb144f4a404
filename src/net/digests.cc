#include "net/digests.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/check.h"
#include "base/letters.h"

namespace gangrun::net {

namespace {

constexpr std::size_t kMd5Bytes = 16;
constexpr std::size_t kHmacBlockBytes = 64;  // of MD5 and of SHA-256
constexpr std::size_t kSha256Bytes = 32;

const unsigned char* raw(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

unsigned char* raw(std::string& bytes) { return reinterpret_cast<unsigned char*>(bytes.data()); }

// RFC 4648's tables 1 and 2.
std::optional<std::uint32_t> base64_digit(char letter) {
  if (base::is_small_letter(letter)) return static_cast<std::uint32_t>(letter - 'a') + 26;
  if (base::is_letter(letter)) return static_cast<std::uint32_t>(letter - 'A');
  if (base::is_digit(letter)) return static_cast<std::uint32_t>(letter - '0') + 52;
  if (letter == '+' || letter == '-') return 62;
  if (letter == '/' || letter == '_') return 63;
  return std::nullopt;
}

// RFC 2104 by hand: OpenSSL's own is deprecated in one form and a page long in the other.
template <typename Digest>
std::string hmac(Digest digest_of, std::string_view key, std::string_view bytes) {
  std::string padded = key.size() > kHmacBlockBytes ? digest_of(key) : std::string(key);
  padded.resize(kHmacBlockBytes, '\0');
  std::string inner;
  inner.reserve(kHmacBlockBytes + bytes.size());
  std::string outer;
  for (const char byte : padded) {
    inner += static_cast<char>(byte ^ 0x36);
    outer += static_cast<char>(byte ^ 0x5c);
  }
  inner += bytes;
  outer += digest_of(inner);
  std::string digest = digest_of(outer);
  OPENSSL_cleanse(padded.data(), padded.size());
  OPENSSL_cleanse(inner.data(), inner.size());
  OPENSSL_cleanse(outer.data(), outer.size());
  return digest;
}

}  // namespace

base::Result<> check_md5() {
  std::array<unsigned char, kMd5Bytes> digest{};
  if (EVP_Digest("", 0, digest.data(), nullptr, EVP_md5(), nullptr) == 1) return {};
  return base::Error{base::Code::kFailedPrecondition,
                     "this machine's OpenSSL has no MD5 (FIPS rules?), which Hadoop's tokens need"};
}

std::string md5(std::string_view bytes) {
  std::string digest(kMd5Bytes, '\0');
  const int done = EVP_Digest(bytes.data(), bytes.size(), raw(digest), nullptr, EVP_md5(), nullptr);
  GANGRUN_CHECK(done == 1, done);
  return digest;
}

std::string hmac_md5(std::string_view key, std::string_view bytes) { return hmac(md5, key, bytes); }

std::string hmac_sha256(std::string_view key, std::string_view bytes) {
  const auto sha256 = [](std::string_view of) {
    Sha256Stream stream;
    stream.put(of);
    return stream.finish();
  };
  return hmac(sha256, key, bytes);
}

struct Sha256Stream::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
};

Sha256Stream::Sha256Stream() : state_(std::make_unique<State>()) {
  const int done = EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr);
  GANGRUN_CHECK(done == 1, done);
}

Sha256Stream::~Sha256Stream() { EVP_MD_CTX_free(state_->context); }

void Sha256Stream::put(std::string_view bytes) {
  const int done = EVP_DigestUpdate(state_->context, bytes.data(), bytes.size());
  GANGRUN_CHECK(done == 1, done);
}

std::string Sha256Stream::finish() {
  std::string digest(kSha256Bytes, '\0');
  const int done = EVP_DigestFinal_ex(state_->context, raw(digest), nullptr);
  GANGRUN_CHECK(done == 1, done);
  return digest;
}

std::string to_base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // and a final zero
  const int length = EVP_EncodeBlock(raw(text), raw(bytes), static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  const std::size_t padding = text.size() - std::min(text.size(), text.find_last_not_of('=') + 1);
  if (padding > 2 || (padding > 0 && text.size() % 4 != 0)) return std::nullopt;
  text.remove_suffix(padding);
  if (text.size() % 4 == 1) return std::nullopt;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  std::uint32_t value = 0;
  unsigned bits = 0;
  for (const char letter : text) {
    const std::optional<std::uint32_t> digit = base64_digit(letter);
    if (!digit) return std::nullopt;
    value = (value << 6U | *digit) & 0xfffU;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes += static_cast<char>(value >> bits);
    }
  }
  // The bits that are left over are zeros in what an encoder makes.
  if ((value & ((1U << bits) - 1U)) != 0) return std::nullopt;
  return bytes;
}

std::string random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  const int done = RAND_bytes(raw(bytes), static_cast<int>(count));
  GANGRUN_CHECK(done == 1, done);
  return bytes;
}

}  // namespace gangrun::net
