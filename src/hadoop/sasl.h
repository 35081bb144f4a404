#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "hadoop/credentials.h"

namespace gangrun::hadoop {

// How much of what follows the handshake is guarded: hadoop.rpc.protection.
enum class Protection { kAuthentication, kIntegrity, kPrivacy };

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

// One side's half of a login, and the guard of the stream after it. For one connection.
class SaslMechanism {
 public:
  virtual ~SaslMechanism() = default;

  // The answer to a challenge; the first one is the offer's, empty where it has none.
  virtual base::Result<std::string> respond(std::string_view challenge) = 0;
  // The server calls it a success and says `token` with it. An error where it is not what it has to
  // be: then it is not the server.
  virtual base::Result<> finish(std::string_view token) = 0;

  // After finish(): above kAuthentication all bytes pass wrap() and unwrap(), in their order.
  [[nodiscard]] virtual Protection protection() const = 0;
  // How much wrap() takes at once.
  [[nodiscard]] virtual std::size_t max_piece_bytes() const = 0;
  virtual base::Result<std::string> wrap(std::string_view piece) = 0;
  virtual base::Result<std::string> unwrap(std::string_view token) = 0;
};

// `host` is how the server was called when it was connected to.
using SaslStart = std::function<base::Result<std::unique_ptr<SaslMechanism>>(
    const SaslOffer& offer, const std::string& host)>;

// Who we are to a server. Without methods the server is told the user's name and is to believe it.
struct Login {
  std::string user;         // with methods: for whom we act; empty: for ourselves
  std::string real_user{};  // without methods: who acts for `user`; empty: nobody else
  std::map<std::string, SaslStart> methods{};  // by SaslOffer::method
};

Login simple_login(std::string user);
Login token_login(const Token& token);

}  // namespace gangrun::hadoop
