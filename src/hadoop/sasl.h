#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "hadoop/credentials.h"
#include "sasl/mechanism.h"

namespace gangrun::hadoop {

// One way to log in that a server offers.
struct SaslOffer {
  std::string method;     // "TOKEN", "KERBEROS", "SIMPLE"
  std::string mechanism;  // "DIGEST-MD5", "GSSAPI", ""
  // Named again as they were offered: absent is not empty.
  std::optional<std::string> protocol{};
  std::optional<std::string> server_id{};
  std::optional<std::string> challenge{};

  friend bool operator==(const SaslOffer&, const SaslOffer&) = default;
};

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
// kFailedPrecondition where the offer has another mechanism.
base::Result<std::unique_ptr<sasl::Mechanism>> start_digest_md5(const Token& token,
                                                                const SaslOffer& offer);

}  // namespace gangrun::hadoop
