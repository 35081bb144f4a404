#include "sasl/gssapi_mechanism.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/format.h"

namespace gangrun::sasl {

namespace {

constexpr std::size_t kLayersBytes = 4;
constexpr std::uint32_t kMaxBytes = 0xffffff;  // that three bytes can say
// The largest piece of ours: a server often takes more at once than it likes to.
constexpr std::uint32_t kMaxPieceBytes = 65536;
constexpr std::uint32_t kMinPieceBytes = 64;

struct Layer {
  Protection protection;
  unsigned bit;
  std::string_view name;  // as people call it
};

// The strongest first.
constexpr std::array<Layer, 3> kLayers{{{Protection::kPrivacy, 4, "privacy"},
                                        {Protection::kIntegrity, 2, "integrity"},
                                        {Protection::kAuthentication, 1, "authentication"}}};

base::Error wrong(std::string_view what) {
  return base::Error{base::Code::kUnauthenticated, base::format("GSSAPI: {}", what)};
}

std::string protection_names(const std::vector<Protection>& protections) {
  std::vector<std::string_view> names;
  for (const Layer& layer : kLayers) {
    if (std::ranges::find(protections, layer.protection) != protections.end()) {
      names.push_back(layer.name);
    }
  }
  return base::format("{}", base::join(names, ", "));
}

}  // namespace

std::optional<Protection> protection_of(std::string_view name) {
  const auto* const layer = std::ranges::find(kLayers, name, &Layer::name);
  return layer == kLayers.end() ? std::nullopt : std::optional(layer->protection);
}

base::Result<SecurityLayers> parse_security_layers(std::string_view bytes) {
  if (bytes.size() != kLayersBytes) {
    return wrong(
        base::format("the server's offer of layers has {} bytes; 4 are expected", bytes.size()));
  }
  SecurityLayers layers;
  const auto mask = static_cast<unsigned char>(bytes[0]);
  for (const Layer& layer : kLayers) {
    if ((mask & layer.bit) != 0) layers.offered.push_back(layer.protection);
  }
  for (const char byte : bytes.substr(1)) {
    layers.max_bytes = layers.max_bytes << 8U | static_cast<unsigned char>(byte);
  }
  if (layers.offered.empty()) return wrong("the server offers no layer that is known");
  return layers;
}

std::string encode_security_layer(Protection chosen, std::uint32_t max_bytes) {
  const auto* const layer = std::ranges::find(kLayers, chosen, &Layer::protection);
  std::string out(1, static_cast<char>(layer->bit));
  for (int shift = 16; shift >= 0; shift -= 8) {
    out += static_cast<char>(max_bytes >> static_cast<unsigned>(shift));
  }
  return out;
}

base::Result<std::string> Gssapi::respond(std::string_view challenge) {
  switch (step_) {
    case Step::kContext: return next_token(challenge);
    case Step::kLayers: return choose_layer(challenge);
    case Step::kAnswered: break;
  }
  return wrong("the server asks again");
}

base::Result<std::string> Gssapi::next_token(std::string_view challenge) {
  // An empty token would begin the login again.
  if (challenge.empty() == began_) return wrong("the server answers in the wrong order");
  began_ = true;
  GANGRUN_ASSIGN(std::string token, context_->step(challenge));
  if (context_->established()) step_ = Step::kLayers;
  return token;
}

base::Result<std::string> Gssapi::choose_layer(std::string_view challenge) {
  GANGRUN_ASSIGN(const Unwrapped offer, context_->unwrap(challenge));
  GANGRUN_ASSIGN(const SecurityLayers layers, parse_security_layers(offer.bytes));
  const auto chosen = std::ranges::find_if(layers.offered, [this](Protection one) {
    return std::ranges::find(accepted_, one) != accepted_.end();
  });
  if (chosen == layers.offered.end()) {
    return wrong(base::format("the server offers the protection {}, {} wants {}",
                              protection_names(layers.offered), asker_,
                              protection_names(accepted_)));
  }
  protection_ = *chosen;
  const bool guarded = protection_ != Protection::kAuthentication;
  if (guarded) {
    GANGRUN_ASSIGN(const std::uint32_t size,
                   context_->max_wrapped(protection_ == Protection::kPrivacy,
                                         std::min(layers.max_bytes, kMaxPieceBytes)));
    if (size < kMinPieceBytes) {
      return wrong(
          base::format("the server takes {} bytes at once, which is too few", layers.max_bytes));
    }
    max_piece_bytes_ = size;
  }
  step_ = Step::kAnswered;
  // Signed and not encrypted, whatever was chosen; without a name, as which to act: protocols
  // have that elsewhere.
  return context_->wrap(encode_security_layer(protection_, guarded ? kMaxBytes : 0), false);
}

base::Result<> Gssapi::finish(std::string_view token) {
  if (step_ != Step::kAnswered) return wrong("the server is content before its time");
  if (!token.empty()) return wrong("the server says more than is expected at the end");
  return {};
}

base::Result<std::string> Gssapi::wrap(std::string_view piece) {
  return context_->wrap(piece, protection_ == Protection::kPrivacy);
}

base::Result<std::string> Gssapi::unwrap(std::string_view token) {
  GANGRUN_ASSIGN(Unwrapped piece, context_->unwrap(token));
  if (protection_ == Protection::kPrivacy && !piece.confidential) {
    return wrong("a piece came signed only, where it has to be encrypted");
  }
  return std::move(piece.bytes);
}

}  // namespace gangrun::sasl
