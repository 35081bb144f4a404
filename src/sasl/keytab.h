#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sasl/principal.h"

namespace gangrun::sasl {

inline constexpr std::size_t kMaxKeytabBytes = std::size_t{4} << 20U;

// The principals whose keys a keytab file holds (MIT's format, version 2), each once; the keys are
// not read. kInvalidArgument where it is no keytab, kDataLoss where it is cut off.
base::Result<std::vector<Principal>> parse_keytab(std::string_view bytes);

// The principal of the file's that `principal` names: with or without a realm, or, where it names
// none, the only one. Errors are one sentence with the file's name and what helps: kNotFound and
// kPermissionDenied (the file), kInvalidArgument (what is in it).
base::Result<Principal> find_in_keytab(const std::string& path, const std::string& principal);

}  // namespace gangrun::sasl
