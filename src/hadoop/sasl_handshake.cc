#include "hadoop/sasl_handshake.h"

#include <algorithm>

#include "base/format.h"
#include "base/strings.h"
#include "net/digests.h"
#include "sasl/digest_md5.h"

namespace gangrun::hadoop {

namespace {

using State = SaslMessage::State;

constexpr int kMaxRounds = 16;
constexpr std::size_t kMaxNameBytes = 64;

base::Error refused(std::string_view what) {
  return base::Error{base::Code::kUnauthenticated, std::string(what)};
}

std::string mechanism_names(const std::vector<SaslOffer>& offers) {
  std::vector<std::string> names;
  for (const SaslOffer& offer : offers) {
    names.push_back(base::shorten(offer.method, kMaxNameBytes));
  }
  return base::format("{}", base::join(names, ", "));
}

}  // namespace

base::Result<> check_mechanism(const SaslOffer& offer, std::string_view what,
                               std::string_view mechanism) {
  if (offer.mechanism == mechanism) return {};
  return base::Error{base::Code::kFailedPrecondition,
                     base::format("the server wants {} by {}; {} is known", what,
                                  base::shorten(offer.mechanism, kMaxNameBytes), mechanism)};
}

Login token_login(const Token& token) {
  Login login;
  login.methods["TOKEN"] =
      [token](const SaslOffer& offer,
              const std::string&) -> base::Result<std::unique_ptr<sasl::Mechanism>> {
    GANGRUN_TRY(check_mechanism(offer, "tokens", "DIGEST-MD5"));
    return std::make_unique<sasl::DigestMd5>(sasl::DigestMd5::Identity{
        .user = net::to_base64(token.identifier),
        .password = base::Secret(net::to_base64(token.password.reveal())),
        .digest_uri =
            base::format("{}/{}", offer.protocol.value_or(""), offer.server_id.value_or("")),
        .client_nonce = sasl::DigestMd5::new_nonce()});
  };
  return login;
}

base::Result<SaslMessage> SaslHandshake::choose(const std::vector<SaslOffer>& offers) {
  for (const SaslOffer& offer : offers) {
    const auto method = login_.methods.find(offer.method);
    if (method == login_.methods.end()) continue;
    GANGRUN_ASSIGN(mechanism_, method->second(offer, host_));
    GANGRUN_ASSIGN(std::string answer, mechanism_->respond(offer.challenge.value_or("")));
    SaslOffer chosen = offer;
    chosen.challenge.reset();
    return SaslMessage{
        .state = State::kInitiate, .token = std::move(answer), .offers = {std::move(chosen)}};
  }
  std::vector<std::string> ours;
  for (const auto& [name, start] : login_.methods) ours.push_back(name);
  return refused(
      base::format("it accepts {}; we have {}", mechanism_names(offers), base::join(ours, ", ")));
}

base::Result<std::optional<SaslMessage>> SaslHandshake::on_success(const SaslMessage& message) {
  // A success before anything was proved would let anybody pose as the server.
  if (mechanism_ == nullptr) return refused("it wants no proof of who we are, and gives none");
  GANGRUN_TRY(mechanism_->finish(message.token.value_or("")));
  done_ = true;
  return std::optional<SaslMessage>();
}

base::Result<std::optional<SaslMessage>> SaslHandshake::on_message(const SaslMessage& message) {
  if (done_ || ++rounds_ > kMaxRounds) return refused("its login does not come to an end");
  switch (message.state) {
    case State::kNegotiate: {
      if (mechanism_ != nullptr) return refused("it begins the login again");
      GANGRUN_ASSIGN(SaslMessage answer, choose(message.offers));
      return std::optional<SaslMessage>(std::move(answer));
    }
    case State::kChallenge: {
      if (mechanism_ == nullptr) return refused("it asks before it offers");
      GANGRUN_ASSIGN(std::string answer, mechanism_->respond(message.token.value_or("")));
      return std::optional<SaslMessage>(
          SaslMessage{.state = State::kResponse, .token = std::move(answer)});
    }
    case State::kSuccess: return on_success(message);
    case State::kInitiate:
    case State::kResponse:
    case State::kWrap: break;
  }
  return refused("it says in the login what only a client says");
}

std::unique_ptr<sasl::Mechanism> SaslHandshake::take_guard() {
  if (mechanism_ == nullptr || mechanism_->protection() == sasl::Protection::kAuthentication) {
    return nullptr;
  }
  return std::move(mechanism_);
}

}  // namespace gangrun::hadoop
