#include "hadoop/sasl.h"

#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "net/digests.h"
#include "sasl/digest_md5.h"

namespace gangrun::hadoop {

base::Result<std::unique_ptr<sasl::Mechanism>> start_digest_md5(const Token& token,
                                                                const SaslOffer& offer) {
  if (offer.mechanism != "DIGEST-MD5") {
    return base::Error{base::Code::kFailedPrecondition,
                       base::format("the server wants tokens by {}; DIGEST-MD5 is known",
                                    base::shorten(offer.mechanism, 64))};
  }
  return std::unique_ptr<sasl::Mechanism>(std::make_unique<sasl::DigestMd5>(
      sasl::DigestMd5::Identity{.user = net::to_base64(token.identifier),
                                .password = base::Secret(net::to_base64(token.password.reveal())),
                                .digest_uri = base::format("{}/{}", offer.protocol.value_or(""),
                                                           offer.server_id.value_or("")),
                                .client_nonce = sasl::DigestMd5::new_nonce()}));
}

Login token_login(const Token& token) {
  Login login;
  login.methods["TOKEN"] = [token](const SaslOffer& offer, const std::string&) {
    return start_digest_md5(token, offer);
  };
  return login;
}

}  // namespace gangrun::hadoop
