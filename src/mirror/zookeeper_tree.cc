#include "mirror/zookeeper_tree.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/format.h"
#include "base/hex.h"
#include "base/json.h"
#include "base/letters.h"
#include "job/units.h"
#include "net/digests.h"

namespace gangrun::mirror {

using zookeeper::Access;
using zookeeper::Kind;
using zookeeper::Node;

namespace {

// A service record of YARN's registry; the attributes stand beside its own members.
base::Json record(const std::string& description) {
  return {{"type", "JSONServiceRecord"},
          {"description", description},
          {"external", base::Json::array()},
          {"internal", base::Json::array()}};
}

std::string hosts_key(const std::string& type) {
  return base::format("DTF_{}_HOSTS", job::in_variable(type));
}

void add_hosts(const job::ClusterSpec& spec, base::Json& json) {
  std::map<std::string, int> uses;
  for (const auto& [type, addresses] : spec.tasks) ++uses[hosts_key(type)];
  for (const auto& [type, addresses] : spec.tasks) {
    // Two types that differ in case or in '-' only, as in the tasks' variables.
    if (uses[hosts_key(type)] > 1) continue;
    json[hosts_key(type)] = job::comma_separated(addresses);
  }
}

std::string instance_record(const ZooKeeperPlace& place, const job::ClusterSpec& spec) {
  base::Json json = record(base::format("gangrun job {}", place.job_name));
  json["yarn:id"] = place.job_id;
  json["yarn:persistence"] = "application";
  if (spec.generation > 0) json["generation"] = base::format("{}", spec.generation);
  base::Json with_hosts = json;
  add_hosts(spec, with_hosts);
  std::string text = base::dump_json(with_hosts);
  if (text.size() <= kMaxRecordBytes) return text;
  json["description"] = base::format(
      "gangrun job {}: its {} bytes of addresses are more than a node of ZooKeeper holds; the "
      "components have them",
      place.job_name, text.size());
  return base::dump_json(json);
}

std::string component_record(const ZooKeeperTask& task, const std::string& name) {
  base::Json json = record(base::format("task {}", job::to_string(task.task)));
  json["yarn:id"] = task.container.empty() ? name : task.container;
  json["yarn:persistence"] = "container";
  json["task_job_name"] = task.task.type;
  json["task_job_index"] = base::format("{}", task.task.index);
  json["task_port"] = base::format("{}", task.address.port);
  json["task_host"] = task.address.host;
  return base::dump_json(json);
}

Node shared_node(std::string path, Kind kind) {
  return {.path = std::move(path),
          .data = {},
          .kind = kind,
          .access = Access::kAnyone,
          .is_shared = true};
}

// The root may be of several parts; each is a node. ZooKeeper's own root is there.
void add_root(const std::string& root, std::vector<Node>& nodes) {
  if (root == "/") return;
  for (std::size_t end = root.find('/', 1);; end = root.find('/', end + 1)) {
    nodes.push_back(shared_node(root.substr(0, end), Kind::kPersistent));
    if (end == std::string::npos) return;
  }
}

}  // namespace

base::Result<std::string> registry_user(std::string_view name) {
  std::string user;
  for (const char c : name) {
    const bool is_printable = c > ' ' && c < '\x7f';
    if (!is_printable) {
      return base::invalid_argument(
          base::format("the user's name '{}' cannot stand in the registry; allowed: printable "
                       "ASCII without spaces",
                       name));
    }
    user += base::small_letter(c);
  }
  for (const char end : {'@', '/'}) {
    const std::size_t at = user.find(end);
    if (at != std::string::npos && at > 0) user.resize(at);
  }
  if (user.empty() || user == "." || user == ".." || user.find('/') != std::string::npos) {
    return base::invalid_argument(
        base::format("the user's name '{}' cannot stand in the registry", name));
  }
  return user;
}

std::string registry_container(std::string_view id) {
  constexpr std::string_view kPrefix = "container";
  std::string name(id);
  for (std::size_t at = name.find(kPrefix); at != std::string::npos; at = name.find(kPrefix, at)) {
    name.replace(at, kPrefix.size(), "ctr");
  }
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

base::Secret zookeeper_credentials(const base::Secret& secret) {
  net::Sha256Stream digest;
  digest.put("gangrun zookeeper ");
  digest.put(secret.reveal());
  return base::Secret(base::format("gangrun:{}", base::to_hex(digest.finish())));
}

std::vector<Node> zookeeper_tree(const ZooKeeperPlace& place, const job::ClusterSpec& spec,
                                 const std::vector<ZooKeeperTask>& tasks) {
  std::vector<Node> nodes;
  // A container node without children that never had one stays for good.
  if (tasks.empty()) return nodes;
  add_root(place.root, nodes);
  std::string path = place.root == "/" ? "/users" : place.root + "/users";
  nodes.push_back(shared_node(path, Kind::kPersistent));
  for (const auto& [part, kind] :
       {std::pair(place.user, Kind::kPersistent), std::pair(place.job_name, Kind::kContainer)}) {
    path += "/" + part;
    nodes.push_back(shared_node(path, kind));
    if (place.has_login) nodes.back().access = Access::kOwnerAndReaders;
  }
  const Access access = place.is_public ? Access::kOwnerAndReaders : Access::kOwner;
  const auto own = [&](std::string own_path, std::string data, Kind kind) {
    nodes.push_back({std::move(own_path), std::move(data), kind, access, false});
  };
  path += "/" + place.job_id;
  own(path, instance_record(place, spec), Kind::kContainer);
  path += "/components";
  own(path, "", Kind::kContainer);
  for (const ZooKeeperTask& task : tasks) {
    std::string name = task.container.empty()
                           ? base::format("{}-{}", task.task.type, task.task.index)
                           : registry_container(task.container);
    std::string data = component_record(task, name);
    own(base::format("{}/{}", path, name), std::move(data), Kind::kEphemeral);
  }
  return nodes;
}

}  // namespace gangrun::mirror
