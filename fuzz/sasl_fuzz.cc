// A challenge of DIGEST-MD5, what follows a success, and what comes guarded: lines of the input.
// And an offer of layers as GSSAPI has it.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "sasl/digest_md5.h"
#include "sasl/gssapi_mechanism.h"

using namespace gangrun;  // NOLINT: a program of its own

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  (void)sasl::parse_security_layers(input);
  sasl::DigestMd5 mechanism({.user = "user",
                             .password = base::Secret("password"),
                             .digest_uri = "/default",
                             .client_nonce = "nonce"});
  std::vector<std::string> lines = base::split(input, '\n');
  if (!mechanism.respond(lines[0]).ok()) return 0;
  (void)mechanism.wrap("piece");
  for (std::size_t i = 1; i < lines.size(); ++i) {
    (void)mechanism.finish(lines[i]);
    (void)mechanism.unwrap(lines[i]);
  }
  return 0;
}
