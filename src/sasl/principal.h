#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gangrun::sasl {

inline constexpr std::size_t kMaxPrincipalBytes = 1024;

// A name in Kerberos: "alice@REALM", "rm/host@REALM".
struct Principal {
  std::vector<std::string> components{};  // at least one
  std::string realm{};                    // empty: not said

  bool operator==(const Principal&) const = default;
};

// As krb5_parse_name() reads it: "/" parts components, "@" begins the realm, and a backslash takes
// either for a letter. kInvalidArgument where it is no name, or has a control character.
base::Result<Principal> parse_principal(std::string_view text);
// The other way round.
std::string to_string(const Principal& principal);

// The same with the server's host, in small letters as Hadoop has it, in place of "_HOST".
Principal with_host(const Principal& pattern, std::string_view host);

// The first component: what Hadoop calls the user, unless the cluster has other rules for it
// (hadoop.security.auth_to_local).
const std::string& short_name(const Principal& principal);

// Whether `text` fits `pattern`, in which "*" stands for any letters and "?" for one
// (…principal.pattern in Hadoop's configuration).
[[nodiscard]] bool fits_pattern(std::string_view pattern, std::string_view text);

}  // namespace gangrun::sasl
