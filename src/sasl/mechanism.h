#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

// Simple Authentication and Security Layer (RFC 4422): how a client and a server prove to each
// other who they are, whatever protocol carries their messages.
namespace gangrun::sasl {

// How much of what follows the login is guarded.
enum class Protection { kAuthentication, kIntegrity, kPrivacy };

// The client's half of a login, and the guard of the stream after it. For one connection.
class Mechanism {
 public:
  virtual ~Mechanism() = default;

  // The answer to a challenge; the first one is the offer's, empty where it has none.
  virtual base::Result<std::string> respond(std::string_view challenge) = 0;
  // Whether all has been said from our side: the server has the last word, which finish() takes.
  [[nodiscard]] virtual bool has_answered() const = 0;
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

}  // namespace gangrun::sasl
