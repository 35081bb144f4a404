#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace gangrun::sasl {

// How a call of the GSSAPI ended that did not succeed (RFC 2744, and MIT's krb5_err.et).
struct Failure {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;  // 2^32 more than MIT's error codes, which are negative
  std::string text{};       // what the library says of them
};

// The attempt, as far as it is known.
struct LoginAttempt {
  std::string client{};  // a principal; empty: who the ticket is of
  std::string server{};  // likewise; empty: no ticket for a server yet
  std::string keytab{};  // a file; empty: the ticket cache
};

// One sentence for the user, with the command that helps. kUnavailable where nobody answers, so
// that trying again may help; else kUnauthenticated, or kFailedPrecondition where this machine is
// not set up.
base::Error to_error(const Failure& failure, const LoginAttempt& attempt);

}  // namespace gangrun::sasl
