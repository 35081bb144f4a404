// The messages of a host's keeper, and those to it: an input is the JSON of one message.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/json.h"
#include "ssh/keeper_messages.h"

namespace {

using namespace gangrun;  // NOLINT: a program of its own

constexpr std::size_t kMaxBytes = std::size_t{1} << 20U;

}  // namespace

// Whatever can be read can be written and is understood as the same again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto json = base::parse_json({reinterpret_cast<const char*>(data), size}, kMaxBytes);
  if (!json.ok()) return 0;
  const auto message = ssh::keeper_message_from_json(*json);
  if (!message.ok()) return 0;
  const base::Json once = ssh::to_json(*message);
  const auto again = ssh::keeper_message_from_json(once);
  GANGRUN_CHECK(again.ok() && ssh::to_json(*again) == once, base::dump_json(once));
  return 0;
}
