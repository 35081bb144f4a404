#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "job/task_id.h"

namespace gangrun::job {

// The address of a task: a host name or address, and the port that is held for it.
struct Address {
  std::string host;
  std::uint16_t port = 0;

  friend bool operator==(const Address&, const Address&) = default;
};

// "host:port"; an IPv6 address stands in brackets.
std::string to_string(const Address& address);
base::Result<Address> parse_address(std::string_view text);

// Task type to addresses by place: all tasks of one generation but the sidecars. What each task is
// shown of it is decided by frameworks/.
struct ClusterSpec {
  int generation = 0;
  std::map<std::string, std::vector<Address>> tasks;
  // Which tasks of a type are in this generation: their indexes in the order of their places. A
  // type that is absent here has place i taken by the task with index i.
  std::map<std::string, std::vector<int>> members{};
  // Only the first address of each type is there, and the one of the task that was told; the others
  // are empty. All counts are right.
  bool is_outline = false;

  // The place that a task has in this generation, in which it is known to the others; none: it is
  // not part of it.
  [[nodiscard]] std::optional<int> place_of(const TaskId& task) const;
  [[nodiscard]] const Address* find(const TaskId& task) const;

  friend bool operator==(const ClusterSpec&, const ClusterSpec&) = default;
};

// {"generation": 1, "tasks": {"worker": ["host:port", …]}}, and "members": {"worker": [0, 4, 2]}
// where a type has them.
base::Json to_json(const ClusterSpec& spec);
base::Result<ClusterSpec> cluster_spec_from_json(const base::Json& json);

// The part of a spec for one task, if the whole is too large to be sent to each: {"generation": 1,
// "types":
// {"worker": [10000, "host:port"]}, "task": "worker:20", "place": 17, "address": "host:port"};
// without a place of the task, the last three are absent. The spec itself must not be an outline.
base::Json outline_to_json(const ClusterSpec& spec, const TaskId& task);
base::Result<ClusterSpec> cluster_spec_from_outline(const base::Json& json);

// "host:port,host:port": the form of the DTF_*_HOSTS that ytf-submit gave its tasks.
std::string comma_separated(const std::vector<Address>& addresses);

}  // namespace gangrun::job
