#include "job/cluster_spec.h"

#include <algorithm>
#include <set>

#include "base/format.h"
#include "base/strings.h"
#include "job/spec.h"

namespace gangrun::job {

namespace {

constexpr std::size_t kMaxHostLength = 253;  // RFC 1035, 2.3.4

base::Error not_addresses(std::string_view type) {
  return base::invalid_argument(base::format("\"{}\" must be a list of addresses", type));
}

base::Result<std::vector<Address>> read_addresses(std::string_view type, const base::Json& list) {
  std::vector<Address> addresses;
  addresses.reserve(list.size());
  for (const base::Json& text : list) {
    if (!text.is_string()) return not_addresses(type);
    GANGRUN_ASSIGN(Address address, parse_address(text.get_ref<const std::string&>()));
    addresses.push_back(std::move(address));
  }
  return addresses;
}

// A place for each address, and no task in two of them.
base::Result<> read_members(const base::Json& json, ClusterSpec& spec) {
  if (!json.is_object()) {
    return base::invalid_argument("\"members\" must be an object of task types");
  }
  for (const auto& [type, list] : json.items()) {
    const auto tasks = spec.tasks.find(type);
    if (tasks == spec.tasks.end()) {
      return base::invalid_argument(
          base::format("members: '{}' has no addresses", base::shorten(type, 80)));
    }
    GANGRUN_ASSIGN(auto indexes, base::json_member<std::vector<int>>(json, type));
    const bool known = std::all_of(indexes.begin(), indexes.end(),
                                   [](int index) { return index >= 0 && index < kMaxTasks; });
    const bool distinct = std::set<int>(indexes.begin(), indexes.end()).size() == indexes.size();
    if (!known || !distinct || indexes.size() != tasks->second.size()) {
      return base::invalid_argument(
          base::format("members: {} needs one task index for each of its {} addresses, all "
                       "different, from 0 to {}",
                       type, tasks->second.size(), kMaxTasks - 1));
    }
    spec.members.emplace(type, std::move(indexes));
  }
  return {};
}

// {"worker": [10000, "host:port"]}: how many, and the first.
base::Result<> read_outlined_types(const base::Json& types, ClusterSpec& spec) {
  std::int64_t count = 0;
  for (const auto& [type, pair] : types.items()) {
    const auto wrong = [&type = type] {
      return base::invalid_argument(
          base::format("types: '{}' needs a type's name and [count, first address], with from 1 to "
                       "{} tasks together",
                       base::shorten(type, 80), kMaxTasks));
    };
    const bool has_form =
        pair.is_array() && pair.size() == 2 && pair[0].is_number_integer() && pair[1].is_string();
    if (!is_valid_type_name(type) || !has_form) return wrong();
    const auto size = pair[0].get<std::int64_t>();
    if (size < 1 || size > kMaxTasks - count) return wrong();
    count += size;
    GANGRUN_ASSIGN(Address first, parse_address(pair[1].get_ref<const std::string&>()));
    std::vector<Address>& addresses = spec.tasks[type];
    addresses.resize(static_cast<std::size_t>(size));
    addresses.front() = std::move(first);
  }
  return {};
}

// Only where one task stands is known: no other index may be requested.
base::Result<> read_own_place(const base::Json& json, ClusterSpec& spec) {
  GANGRUN_ASSIGN(const auto name, base::json_member<std::string>(json, "task"));
  GANGRUN_ASSIGN(const TaskId task, parse_task_id(name));
  GANGRUN_ASSIGN(const int place, base::json_member<int>(json, "place"));
  GANGRUN_ASSIGN(const auto text, base::json_member<std::string>(json, "address"));
  GANGRUN_ASSIGN(Address address, parse_address(text));
  const auto own = spec.tasks.find(task.type);
  if (own == spec.tasks.end() || place < 0 || std::cmp_greater_equal(place, own->second.size())) {
    return base::invalid_argument(base::format("place {} is none of {}", place, to_string(task)));
  }
  own->second[static_cast<std::size_t>(place)] = std::move(address);
  std::vector<int>& indexes = spec.members[task.type];
  indexes.assign(own->second.size(), -1);
  indexes[static_cast<std::size_t>(place)] = task.index;
  return {};
}

}  // namespace

std::string to_string(const Address& address) {
  const bool is_ipv6 = address.host.find(':') != std::string::npos;
  std::string text = is_ipv6 ? '[' + address.host + ']' : address.host;
  text += ':';
  return text += std::to_string(address.port);
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

std::optional<int> ClusterSpec::place_of(const TaskId& task) const {
  const auto addresses = tasks.find(task.type);
  if (addresses == tasks.end()) return std::nullopt;
  const auto listed = members.find(task.type);
  if (listed == members.end()) {
    const bool is_one = task.index >= 0 && std::cmp_less(task.index, addresses->second.size());
    return is_one ? std::optional(task.index) : std::nullopt;
  }
  const auto found = std::find(listed->second.begin(), listed->second.end(), task.index);
  if (found == listed->second.end()) return std::nullopt;
  return static_cast<int>(found - listed->second.begin());
}

const Address* ClusterSpec::find(const TaskId& task) const {
  const auto place = place_of(task);
  return place ? &tasks.at(task.type).at(static_cast<std::size_t>(*place)) : nullptr;
}

base::Json to_json(const ClusterSpec& spec) {
  base::Json tasks = base::Json::object();
  for (const auto& [type, addresses] : spec.tasks) {
    base::Json list = base::Json::array();
    for (const Address& address : addresses) list.push_back(to_string(address));
    tasks[type] = std::move(list);
  }
  base::Json json{{"generation", spec.generation}, {"tasks", std::move(tasks)}};
  if (!spec.members.empty()) json["members"] = spec.members;
  return json;
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
    if (!list.is_array()) return not_addresses(type);
    count += list.size();
    if (count > static_cast<std::size_t>(kMaxTasks)) {
      return base::invalid_argument(
          base::format("more than {} tasks in a cluster spec", kMaxTasks));
    }
    if (list.empty()) continue;
    GANGRUN_ASSIGN(spec.tasks[type], read_addresses(type, list));
  }
  if (const auto members = json.find("members"); members != json.end()) {
    GANGRUN_TRY(read_members(*members, spec));
  }
  return spec;
}

base::Json outline_to_json(const ClusterSpec& spec, const TaskId& task) {
  base::Json types = base::Json::object();
  for (const auto& [type, addresses] : spec.tasks) {
    if (!addresses.empty()) types[type] = {addresses.size(), to_string(addresses.front())};
  }
  base::Json json{{"generation", spec.generation}, {"types", std::move(types)}};
  if (const auto place = spec.place_of(task)) {
    json["task"] = to_string(task);
    json["place"] = *place;
    json["address"] = to_string(*spec.find(task));
  }
  return json;
}

base::Result<ClusterSpec> cluster_spec_from_outline(const base::Json& json) {
  ClusterSpec spec;
  spec.is_outline = true;
  GANGRUN_ASSIGN(spec.generation, base::json_member<int>(json, "generation"));
  const auto types = json.find("types");
  if (types == json.end() || !types->is_object()) {
    return base::invalid_argument("\"types\" must be an object of task types");
  }
  GANGRUN_TRY(read_outlined_types(*types, spec));
  if (json.contains("task")) GANGRUN_TRY(read_own_place(json, spec));
  return spec;
}

std::string comma_separated(const std::vector<Address>& addresses) {
  std::string list;
  for (const Address& address : addresses) {
    if (!list.empty()) list += ',';
    list += to_string(address);
  }
  return list;
}

}  // namespace gangrun::job
