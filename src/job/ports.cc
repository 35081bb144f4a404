#include "job/ports.h"

#include <algorithm>

#include "base/format.h"
#include "base/strings.h"
#include "job/limits.h"
#include "job/task_id.h"
#include "job/units.h"

namespace gangrun::job {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string port_variable(std::string_view name) {
  return base::format("GANGRUN_PORT_{}", in_variable(name));
}

base::Result<> check_port_name(std::string_view name) {
  if (is_valid_type_name(name)) return {};
  return base::invalid_argument(
      base::format("{} is not the name of a port; allowed: {}", in_quotes(name), kTypeNameForm));
}

base::Result<std::string> parse_interface(std::string_view text) {
  const bool is_plain = std::none_of(text.begin(), text.end(), [](char c) {
    return c <= ' ' || c == '"' || c == '\'' || static_cast<unsigned char>(c) >= 0x7F;
  });
  if (is_plain && !text.empty() && text.size() <= kMaxInterfaceBytes) return std::string(text);
  return base::invalid_argument(
      base::format("{} is neither an interface nor a network; allowed: a name as eth0, or a "
                   "network as 10.0.0.0/8 or fd00::/8",
                   in_quotes(text)));
}

base::Result<PortsDraft> parse_ports(std::string_view text) {
  PortsDraft draft;
  if (text.empty() || is_digit(text.front()) || text.front() == '-') {
    GANGRUN_ASSIGN(draft.count, parse_count(text, 1, kMaxPortsPerTask));
    return draft;
  }
  draft.names.emplace(base::split(text, '+'));
  for (const std::string& name : *draft.names) GANGRUN_TRY(check_port_name(name));
  return draft;
}

Ports ports_of(const PortsDraft& draft) {
  Ports ports;
  ports.names = draft.names.value_or(ports.names);
  ports.count = draft.count.value_or(draft.names ? static_cast<int>(ports.names.size()) : 1);
  ports.hold = draft.hold.value_or(ports.hold);
  return ports;
}

}  // namespace gangrun::job
