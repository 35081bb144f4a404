// The packets between a starter and its cluster: an input is the text of one.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "process/starter_messages.h"

namespace {

using namespace gangrun;  // NOLINT: a program of its own
namespace starter = process::starter;

// Whatever can be read can be written and is understood as the same again.
template <auto kRead>
void read_again(std::string_view text) {
  const auto message = kRead(text);
  if (!message.ok()) return;
  const std::string once = starter::to_text(*message);
  const auto again = kRead(once);
  GANGRUN_CHECK(again.ok() && starter::to_text(*again) == once, once);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_again<starter::order_from>(text);
  read_again<starter::report_from>(text);
  return 0;
}
