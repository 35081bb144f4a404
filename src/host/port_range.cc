#include "host/port_range.h"

#include <optional>

#include "base/format.h"
#include "base/strings.h"

namespace gangrun::host {

namespace {

constexpr std::int64_t kMaxPort = 65'535;

std::optional<std::uint16_t> port_from(std::string_view text) {
  const auto number = base::parse_integer(text);
  if (!number || *number < 1 || *number > kMaxPort) return std::nullopt;
  return static_cast<std::uint16_t>(*number);
}

}  // namespace

base::Result<PortRange> port_range_from(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto first = port_from(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : port_from(text.substr(dash + 1));
  if (first && last && *first <= *last) return PortRange{*first, *last};
  return base::invalid_argument(
      base::format("{} is not a port; allowed: 1 to {}, or a range of them (4711-4720)",
                   base::shell_quote(base::shorten(text, 80)), kMaxPort));
}

}  // namespace gangrun::host
