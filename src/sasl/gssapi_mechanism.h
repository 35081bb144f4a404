#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sasl/identity.h"
#include "sasl/mechanism.h"

namespace gangrun::sasl {

// The one that people call "authentication", "integrity" or "privacy"; none for another word.
std::optional<Protection> protection_of(std::string_view name);

// The agreement of the two sides after a login by Kerberos (RFC 4752, 3.1 and 3.3): four bytes, of
// which the first names layers and the others how much a side takes at once.
struct SecurityLayers {
  std::vector<Protection> offered{};  // the strongest first
  std::uint32_t max_bytes = 0;
};

// kUnauthenticated where it is no such offer.
base::Result<SecurityLayers> parse_security_layers(std::string_view bytes);
std::string encode_security_layer(Protection chosen, std::uint32_t max_bytes);

// The client's side of GSSAPI, the SASL mechanism of Kerberos.
class Gssapi final : public Mechanism {
 public:
  // The strongest of `accepted` that the server offers is taken; `asker` is what accepts
  // nothing else, for people.
  Gssapi(std::unique_ptr<SecurityContext> context, std::vector<Protection> accepted,
         std::string asker)
      : context_(std::move(context)), accepted_(std::move(accepted)), asker_(std::move(asker)) {}

  base::Result<std::string> respond(std::string_view challenge) override;
  [[nodiscard]] bool has_answered() const override { return step_ == Step::kAnswered; }
  base::Result<> finish(std::string_view token) override;
  [[nodiscard]] Protection protection() const override { return protection_; }
  [[nodiscard]] std::size_t max_piece_bytes() const override { return max_piece_bytes_; }
  base::Result<std::string> wrap(std::string_view piece) override;
  base::Result<std::string> unwrap(std::string_view token) override;

 private:
  enum class Step { kContext, kLayers, kAnswered };

  base::Result<std::string> next_token(std::string_view challenge);
  base::Result<std::string> choose_layer(std::string_view challenge);

  const std::unique_ptr<SecurityContext> context_;
  const std::vector<Protection> accepted_;
  const std::string asker_;
  Step step_ = Step::kContext;
  bool began_ = false;
  Protection protection_ = Protection::kAuthentication;
  std::size_t max_piece_bytes_ = 0;
};

}  // namespace gangrun::sasl
