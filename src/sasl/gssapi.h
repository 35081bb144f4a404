#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "sasl/identity.h"

namespace gangrun::sasl {

struct IdentityOptions {
  std::string principal{};  // empty: who the ticket cache, or the keytab, is of
  std::string keytab{};     // a file; empty: the ticket cache (KRB5CCNAME), which kinit fills
};

// Loads the system's Kerberos library and looks for the ticket, or asks the KDC for one by the
// keytab; that ticket is kept in this process's memory only, and renewed by itself. Not for static
// programs. Errors are sentences for the user: see to_error(Failure) and find_in_keytab();
// kFailedPrecondition where the library is missing.
base::Result<std::unique_ptr<Identity>> open_identity(const IdentityOptions& options);

}  // namespace gangrun::sasl
