// Messages of a WebSocket into a pod: those of a command, with its exit status, and those of a
// forwarded port. Each is preceded by its size in one byte.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "kubernetes/frames.h"

namespace {

using namespace gangrun;  // NOLINT: a program of its own

void take_command(std::string_view message) {
  const auto frame = kubernetes::read_frame(message);
  GANGRUN_CHECK(frame.has_value() == !message.empty(), message);
  if (!frame) return;
  GANGRUN_CHECK(static_cast<char>(frame->channel) == message.front(), message);
  GANGRUN_CHECK(frame->bytes == message.substr(1), message);
  const auto status = kubernetes::read_exit_status(frame->bytes);
  if (status.ok()) {
    GANGRUN_CHECK(*status >= 0 && *status <= 255, *status);
  } else {
    GANGRUN_CHECK(!status.error().message.empty(), frame->bytes);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  kubernetes::PortFrames port(80);
  while (!input.empty()) {
    const std::size_t length = static_cast<unsigned char>(input.front());
    const std::string_view message = input.substr(1, length);
    input.remove_prefix(1 + message.size());
    take_command(message);
    const auto event = port.take(message);
    if (!event.ok()) break;
    GANGRUN_CHECK(event->bytes.size() < message.size() || message.empty(), message);
  }
  return 0;
}
