// A token file of Hadoop, and the input as one token.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "hadoop/credentials.h"
#include "hadoop/delegation_token.h"

using namespace gangrun;  // NOLINT: a program of its own

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto token = hadoop::token_from_url_text(input);
  if (token.ok()) {
    (void)hadoop::life_of(*token);
    (void)hadoop::to_url_text(*token);
  }
  const auto credentials = hadoop::parse_credentials(input);
  if (!credentials.ok()) return 0;
  // Whatever can be read can be written and is understood as the same again.
  const std::string written = hadoop::encode_credentials(*credentials);
  const auto again = hadoop::parse_credentials(written);
  GANGRUN_CHECK(again.ok() && hadoop::encode_credentials(*again) == written, input);
  (void)hadoop::life_of(*credentials);
  for (const auto& [alias, one] : credentials->tokens) (void)hadoop::to_url_text(one);
  return 0;
}
