// A token file of Hadoop.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "hadoop/credentials.h"

using namespace gangrun;  // NOLINT: a program of its own

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto credentials = hadoop::parse_credentials(input);
  if (!credentials.ok()) return 0;
  // Whatever can be read can be written and is understood as the same again.
  const std::string written = hadoop::encode_credentials(*credentials);
  const auto again = hadoop::parse_credentials(written);
  GANGRUN_CHECK(again.ok() && hadoop::encode_credentials(*again) == written, input);
  for (const auto& [alias, token] : credentials->tokens) (void)hadoop::to_url_text(token);
  return 0;
}
