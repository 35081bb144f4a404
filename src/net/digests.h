#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

// Small pieces of cryptography that foreign protocols ask for. All in and out is raw bytes unless
// said.
namespace gangrun::net {

// An error where MD5 is not available, as on a machine with FIPS rules. To be asked before the two
// below are used.
base::Result<> check_md5();

std::string md5(std::string_view bytes);                             // 16 bytes
std::string hmac_md5(std::string_view key, std::string_view bytes);  // 16 bytes

std::string hmac_sha256(std::string_view key, std::string_view bytes);  // 32 bytes

// SHA-256 of what comes piece by piece.
class Sha256Stream {
 public:
  Sha256Stream();
  Sha256Stream(const Sha256Stream&) = delete;
  Sha256Stream& operator=(const Sha256Stream&) = delete;
  ~Sha256Stream();

  void put(std::string_view bytes);
  // 32 bytes. Nothing may be put afterwards.
  std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// RFC 4648, with padding, in one line.
std::string to_base64(std::string_view bytes);

// Base64 in one line, in either of RFC 4648's alphabets, with its padding or without it; none where
// it is something else.
std::optional<std::string> from_base64(std::string_view text);

// From the operating system's generator.
std::string random_bytes(std::size_t count);

}  // namespace gangrun::net
