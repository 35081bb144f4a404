// The messages of a command beside a task: an input is one message.
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

#include "base/check.h"
#include "base/overloaded.h"
#include "net/tunnel_flow.h"
#include "registry/exec_frames.h"

// Whatever can be read can be written and is understood as the same again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace registry = gangrun::registry;
  const auto frame = registry::parse_exec_frame({reinterpret_cast<const char*>(data), size});
  if (!frame.ok()) return 0;
  const std::string once = registry::to_frame(*frame);
  const auto again = registry::parse_exec_frame(once);
  GANGRUN_CHECK(again.ok() && *again == *frame, once);
  std::visit(gangrun::base::Overloaded{
                 [](const registry::ExecFlow& flow) {
                   net::TunnelFlow side;
                   (void)side.on_message(flow.message);
                 },
                 [](const registry::ExecBegin&) {},
                 [](const registry::ExecWindow&) {},
                 [](const registry::ExecSignal&) {},
                 [](const registry::ExecExit&) {},
             },
             *frame);
  return 0;
}
