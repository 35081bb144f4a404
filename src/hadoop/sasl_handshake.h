#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "hadoop/rpc_frames.h"
#include "hadoop/sasl.h"

namespace gangrun::hadoop {

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
