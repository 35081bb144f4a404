#include "job/cluster_spec.h"

#include "base/format.h"
#include "base/strings.h"
#include "job/spec.h"

namespace gangrun::job {

namespace {

constexpr std::size_t kMaxHostLength = 253;  // RFC 1035, 2.3.4

}  // namespace

std::string to_string(const Address& address) {
  const bool is_ipv6 = address.host.find(':') != std::string::npos;
  return is_ipv6 ? base::format("[{}]:{}", address.host, address.port)
                 : base::format("{}:{}", address.host, address.port);
}

base::Result<Address> parse_address(std::string_view text) {
  const auto wrong = [&] {
    return base::invalid_argument(
        base::format("'{}' is not an address; it is written host:port", base::shorten(text, 300)));
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return wrong();
  const auto port = base::parse_integer(text.substr(colon + 1));
  if (!port || *port < 1 || *port > 65535) return wrong();
  std::string_view host = text.substr(0, colon);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (host.empty() || host.size() > kMaxHostLength) return wrong();
  if (!bracketed && host.find(':') != std::string_view::npos) return wrong();
  if (host.find_first_of(" \t\r\n[],/\"") != std::string_view::npos) return wrong();
  return Address{std::string(host), static_cast<std::uint16_t>(*port)};
}

const Address* ClusterSpec::find(const TaskId& task) const {
  const auto found = tasks.find(task.type);
  if (found == tasks.end() || task.index < 0) return nullptr;
  const auto index = static_cast<std::size_t>(task.index);
  return index < found->second.size() ? &found->second[index] : nullptr;
}

base::Json to_json(const ClusterSpec& spec) {
  base::Json tasks = base::Json::object();
  for (const auto& [type, addresses] : spec.tasks) {
    base::Json list = base::Json::array();
    for (const Address& address : addresses) list.push_back(to_string(address));
    tasks[type] = std::move(list);
  }
  return {{"generation", spec.generation}, {"tasks", std::move(tasks)}};
}

base::Result<ClusterSpec> cluster_spec_from_json(const base::Json& json) {
  ClusterSpec spec;
  GANGRUN_ASSIGN(spec.generation, base::json_member<int>(json, "generation"));
  const auto tasks = json.find("tasks");
  if (tasks == json.end() || !tasks->is_object()) {
    return base::invalid_argument("\"tasks\" must be an object of task types");
  }
  std::size_t count = 0;
  for (const auto& [type, list] : tasks->items()) {
    if (!is_valid_type_name(type)) {
      return base::invalid_argument(
          base::format("'{}' is not a task type", base::shorten(type, 80)));
    }
    GANGRUN_ASSIGN(const auto texts, base::json_member<std::vector<std::string>>(*tasks, type));
    count += texts.size();
    if (count > static_cast<std::size_t>(kMaxTasks)) {
      return base::invalid_argument(
          base::format("more than {} tasks in a cluster spec", kMaxTasks));
    }
    for (const std::string& text : texts) {
      GANGRUN_ASSIGN(Address address, parse_address(text));
      spec.tasks[type].push_back(std::move(address));
    }
  }
  return spec;
}

}  // namespace gangrun::job
