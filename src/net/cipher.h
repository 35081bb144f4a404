#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/secret.h"

// AES-256-GCM, for bytes that lie where others may read or change them.
namespace gangrun::net {

inline constexpr std::size_t kCipherKeyBytes = 32;
inline constexpr std::size_t kCipherNonceBytes = 12;
inline constexpr std::size_t kCipherTagBytes = 16;

// The nonce, the ciphertext, the tag. `key` has kCipherKeyBytes. `about` is not in the result; who
// opens it must say the same. kInternal: OpenSSL fails.
base::Result<std::string> seal(const base::Secret& key, std::string_view plain,
                               std::string_view about);

// kDataLoss: it is cut or changed, or sealed with another key, or about something else.
base::Result<std::string> unseal(const base::Secret& key, std::string_view sealed,
                                 std::string_view about);

}  // namespace gangrun::net
