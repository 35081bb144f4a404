#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sasl/principal.h"

// The part of Kerberos that other rooms see. Behind these interfaces is the system's library
// (gssapi.h), which only a program that loads shared libraries can have.
namespace gangrun::sasl {

struct Unwrapped {
  std::string bytes;
  bool confidential = false;  // it was encrypted, not only signed
};

// The client's side of one login at one server, and the guard of what follows it. One thread at a
// time.
class SecurityContext {
 public:
  virtual ~SecurityContext() = default;

  // The next token for the server, from its last one; the first is empty. The answer may be empty:
  // then nothing more is to be said. May ask the KDC, which the library gives up by itself after
  // about a minute. Each side has proved who it is when established() is true.
  virtual base::Result<std::string> step(std::string_view token) = 0;
  [[nodiscard]] virtual bool established() const = 0;

  // When established.
  virtual base::Result<std::string> wrap(std::string_view bytes, bool confidential) = 0;
  virtual base::Result<Unwrapped> unwrap(std::string_view token) = 0;
  // How many bytes wrap() may be given so that it makes at most `max_token_bytes` of them.
  virtual base::Result<std::uint32_t> max_wrapped(bool confidential,
                                                  std::uint32_t max_token_bytes) = 0;
};

enum class GssMechanism {
  kKerberos,
  kNegotiate,  // SPNEGO: what a web server takes
};

// Somebody who has tickets. From any thread.
class Identity {
 public:
  virtual ~Identity() = default;

  [[nodiscard]] virtual const Principal& principal() const = 0;
  // For how long the ticket is good from now on.
  virtual base::Result<std::chrono::seconds> lifetime() const = 0;
  // A login at `server`: service and host, and its realm where that is known. Looks at the ticket
  // first, so that one that is missing or has expired is an error here: see to_error(Failure).
  virtual base::Result<std::unique_ptr<SecurityContext>> open(const Principal& server,
                                                              GssMechanism mechanism) const = 0;
};

}  // namespace gangrun::sasl
