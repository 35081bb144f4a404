#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/secret.h"
#include "sasl/mechanism.h"
#include "sasl/rc4.h"

namespace gangrun::sasl {

// name=value and name="value" between commas, as in a challenge of DIGEST-MD5. Of a name that
// stands there more than once the first value.
base::Result<std::map<std::string, std::string>> parse_digest_directives(std::string_view text);

// The client's side of DIGEST-MD5 (RFC 2831, md5-sess).
class DigestMd5 final : public Mechanism {
 public:
  struct Identity {
    std::string user;
    base::Secret password;
    std::string digest_uri;
    std::string client_nonce;  // another one for each login
  };
  // A `client_nonce`.
  static std::string new_nonce();
  explicit DigestMd5(Identity identity) : identity_(std::move(identity)) {}

  base::Result<std::string> respond(std::string_view challenge) override;
  [[nodiscard]] bool has_answered() const override { return responded_; }
  base::Result<> finish(std::string_view token) override;
  [[nodiscard]] Protection protection() const override { return protection_; }
  [[nodiscard]] std::size_t max_piece_bytes() const override { return max_piece_bytes_; }
  base::Result<std::string> wrap(std::string_view piece) override;
  base::Result<std::string> unwrap(std::string_view token) override;

 private:
  // One direction of a guarded stream.
  struct Guard {
    base::Secret signing_key;
    std::optional<Rc4> cipher;
    std::uint32_t sequence = 0;
  };
  base::Result<> choose_protection(const std::map<std::string, std::string>& challenge);
  void derive_keys(std::string_view challenge_nonce, std::string_view realm);
  [[nodiscard]] Guard guard(std::string_view direction) const;
  [[nodiscard]] std::string proof(std::string_view verb) const;

  Identity identity_;
  std::string nonce_;
  base::Secret session_hash_;  // H(A1)
  Protection protection_ = Protection::kAuthentication;
  std::size_t max_piece_bytes_ = 0;
  bool responded_ = false;
  Guard outgoing_;
  Guard incoming_;
};

}  // namespace gangrun::sasl
