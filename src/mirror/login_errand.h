#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/described.h"
#include "base/result.h"

// An errand that `gangrun` runs for a master, which cannot load Kerberos or would have to wait for
// it: to log in at a server by SASL's GSSAPI. The program reads the errand in a line, and then in
// each line what the server has said; it answers each of these with a line.
namespace gangrun::mirror {

// The hidden command of gangrun.
inline constexpr const char* kLoginErrandCommand = "__log-in";
// The limit for a line; a ticket with all groups of a user has some ten thousand.
inline constexpr std::size_t kMaxLoginLineBytes = std::size_t{256} << 10U;

struct LoginErrand {
  std::string server;         // its principal, "SERVICE/HOST" or "SERVICE/HOST@REALM"
  std::string principal{};    // whose ticket; empty: the ticket cache's, or the keytab's
  std::string keytab{};       // a file; empty: the ticket cache
  std::string krb5_config{};  // a file, used where it is there; may be empty

  static constexpr bool kIsOpen = true;
  GANGRUN_ROWS(LoginErrand, server, principal, keytab, krb5_config);
  friend bool operator==(const LoginErrand&, const LoginErrand&) = default;
};

std::string to_line(const LoginErrand& errand);
base::Result<LoginErrand> login_errand_from(std::string_view line);

// The line with what the server has said; that is empty before it has said anything.
std::string challenge_line(std::string_view challenge);
base::Result<std::string> challenge_from(std::string_view line);

// The answer that the server is to get.
struct LoginAnswer {
  std::string token{};
  bool is_last = false;

  friend bool operator==(const LoginAnswer&, const LoginAnswer&) = default;
};

std::string to_line(const base::Result<LoginAnswer>& answer);
// The error is the one that the program has told, or that this is no answer.
base::Result<LoginAnswer> login_answer_from(std::string_view line);

}  // namespace gangrun::mirror
