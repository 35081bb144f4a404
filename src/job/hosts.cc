#include "job/hosts.h"

#include <utility>

#include "base/format.h"
#include "job/units.h"

namespace gangrun::job {

std::string to_string(const Host& host) {
  return host.slots ? base::format("{}:{}", host.name, *host.slots) : host.name;
}

base::Result<std::vector<Host>> hosts_from(const std::vector<std::string>& texts) {
  if (texts.empty()) {
    return base::invalid_argument("no host is named; allowed: one or more of NAME or NAME:SLOTS");
  }
  std::vector<Host> hosts;
  for (const std::string& text : texts) {
    Host host;
    const std::size_t colon = text.find(':');
    host.name = text.substr(0, colon);
    if (host.name.empty()) {
      return base::invalid_argument(
          base::format("{} has no name; a host is written NAME or NAME:SLOTS", in_quotes(text)));
    }
    if (colon != std::string::npos) {
      const auto slots = parse_count(std::string_view(text).substr(colon + 1), 1, kMaxTasks);
      if (!slots.ok()) {
        return base::invalid_argument(
            base::format("{}: slots: {}", in_quotes(text), slots.error().message));
      }
      host.slots = *slots;
    }
    hosts.push_back(std::move(host));
  }
  return hosts;
}

}  // namespace gangrun::job
