// A keytab file, and the input as a principal and a pattern.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "sasl/keytab.h"
#include "sasl/principal.h"

using namespace gangrun;  // NOLINT: a program of its own

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  (void)sasl::parse_keytab(input);
  const auto principal = sasl::parse_principal(input);
  if (principal.ok()) {
    // Whatever can be read can be written and is understood as the same again.
    const auto again = sasl::parse_principal(sasl::to_string(*principal));
    GANGRUN_CHECK(again.ok() && *again == *principal, input);
    (void)sasl::with_host(*principal, "host");
  }
  (void)sasl::fits_pattern(input.substr(0, size / 2), input.substr(size / 2));
  return 0;
}
