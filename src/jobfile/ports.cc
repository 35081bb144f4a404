#include "jobfile/ports.h"

#include <algorithm>

#include "base/format.h"
#include "base/letters.h"
#include "base/strings.h"
#include "job/limits.h"
#include "job/task_id.h"
#include "job/units.h"

namespace gangrun::jobfile {

base::Result<> check_port_name(std::string_view name) {
  if (job::is_valid_type_name(name)) return {};
  return base::invalid_argument(base::format("{} is not the name of a port; allowed: {}",
                                             job::in_quotes(name), job::kTypeNameForm));
}

base::Result<std::string> parse_interface(std::string_view text) {
  const bool is_plain = std::none_of(text.begin(), text.end(), [](char c) {
    return c <= ' ' || c == '"' || c == '\'' || static_cast<unsigned char>(c) >= 0x7F;
  });
  if (is_plain && !text.empty() && text.size() <= job::kMaxInterfaceBytes) return std::string(text);
  return base::invalid_argument(
      base::format("{} is neither an interface nor a network; allowed: a name as eth0, or a "
                   "network as 10.0.0.0/8 or fd00::/8",
                   job::in_quotes(text)));
}

base::Result<PortsGiven> parse_ports(std::string_view text) {
  PortsGiven ports;
  if (text.empty() || base::is_digit(text.front()) || text.front() == '-') {
    GANGRUN_ASSIGN(ports.count, job::parse_count(text, 1, job::kMaxPortsPerTask));
    return ports;
  }
  ports.names = base::split(text, '+');
  for (const std::string& name : ports.names) GANGRUN_TRY(check_port_name(name));
  ports.count = static_cast<int>(ports.names.size());
  return ports;
}

}  // namespace gangrun::jobfile
