#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "hadoop/credentials.h"
#include "hadoop/rpc_frames.h"
#include "sasl/mechanism.h"

namespace gangrun::hadoop {

// `host` is how the server was called when it was connected to.
using SaslStart = std::function<base::Result<std::unique_ptr<sasl::Mechanism>>(
    const SaslOffer& offer, const std::string& host)>;

// Our identity to a server. Without methods the server is told the user's name and is to believe
// it.
struct Login {
  std::string user;         // with methods: the user for which we act; empty: we act for ourselves
  std::string real_user{};  // without methods: who acts for `user`; empty: nobody else
  std::map<std::string, SaslStart> methods{};  // by SaslOffer::method
};

// With a token of Hadoop's, by DIGEST-MD5.
Login token_login(const Token& token);
// kFailedPrecondition where the server wants another one; `what` is "tokens" or "Kerberos".
base::Result<> check_mechanism(const SaslOffer& offer, std::string_view what,
                               std::string_view mechanism);

// The client's side of the login that comes before the first call: messages in, messages out.
class SaslHandshake {
 public:
  // `login` must outlive it. `host` is the server's, as it is known to us.
  SaslHandshake(const Login& login, std::string host) : login_(login), host_(std::move(host)) {}

  static SaslMessage first_message() { return {.state = SaslMessage::State::kNegotiate}; }

  // The answer; none if the server awaits nothing more. An error where we cannot or must
  // not log in.
  base::Result<std::optional<SaslMessage>> on_message(const SaslMessage& message);
  [[nodiscard]] bool done() const { return done_; }

  // When it is done: what guards the stream from now on; null where nothing does.
  std::unique_ptr<sasl::Mechanism> take_guard();

 private:
  base::Result<SaslMessage> choose(const std::vector<SaslOffer>& offers);
  base::Result<std::optional<SaslMessage>> on_success(const SaslMessage& message);

  const Login& login_;
  const std::string host_;
  std::unique_ptr<sasl::Mechanism> mechanism_;
  int rounds_ = 0;
  bool done_ = false;
};

}  // namespace gangrun::hadoop
