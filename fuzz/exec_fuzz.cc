// The messages of a command beside a task: an input is one message.
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

#include "base/check.h"
#include "base/overloaded.h"
#include "net/tunnel_flow.h"
#include "wire/exec_frames.h"

using namespace gangrun;  // NOLINT: a program of its own

// Whatever can be read can be written and is understood as the same again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto frame = wire::parse_exec_frame({reinterpret_cast<const char*>(data), size});
  if (!frame.ok()) return 0;
  const std::string once = wire::to_frame(*frame);
  const auto again = wire::parse_exec_frame(once);
  GANGRUN_CHECK(again.ok() && *again == *frame, once);
  std::visit(base::Overloaded{
                 [](const wire::ExecFlow& flow) {
                   net::TunnelFlow side;
                   (void)side.on_message(flow.message);
                 },
                 [](const wire::ExecBegin&) {},
                 [](const wire::ExecWindow&) {},
                 [](const wire::ExecSignal&) {},
                 [](const wire::ExecExit&) {},
             },
             *frame);
  return 0;
}
