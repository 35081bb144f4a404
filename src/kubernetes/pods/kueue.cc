#include "kubernetes/pods/kueue.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/format.h"
#include "base/strings.h"
#include "base/terminal_text.h"
#include "kubernetes/pods/pod_facts.h"
#include "kubernetes/value_at.h"

namespace gangrun::kubernetes::pods {

namespace {

using base::Json;

constexpr std::string_view kFinalizer = "kueue.x-k8s.io/managed";
// As many of those that wait are read; who is behind them hears how many that are.
constexpr int kMaxWaiting = 200;
constexpr int kMaxWorkloads = 500;
// The most that fits in a sentence.
constexpr std::size_t kMaxNamesInQueue = 4;
constexpr std::size_t kMaxSaid = 500;

std::string name_shown(const std::string& name) { return base::harmless_sentence(name); }

std::int64_t number_at(const Json& object, std::string_view key) {
  return base::json_member<std::int64_t>(object, key).value_or(0);
}

// The place of the group among those that wait, and the names of those before it in its queue.
struct Turn {
  bool is_known = false;
  bool is_listed = false;
  std::int64_t in_queue = 0;  // before it
  std::int64_t in_cluster = 0;
  std::vector<std::string> before;
};

Turn turn_of(const KueueGroup& group, const KueueTold& told) {
  Turn turn;
  if (!told.waiting) return turn;
  turn.is_known = true;
  for (const Json& item : list_at(*told.waiting, {"items"})) {
    const std::string name = name_of(item);
    if (name == group.name) {
      turn.is_listed = true;
      turn.in_queue = number_at(item, "positionInLocalQueue");
      turn.in_cluster = number_at(item, "positionInClusterQueue");
      return turn;
    }
    turn.before.push_back(name_shown(name));
  }
  return turn;
}

std::string place_words(const KueueGroup& group, const Turn& turn) {
  const std::string queue = base::format("queue {}", name_shown(group.queue));
  if (!turn.is_known) return base::format("it waits in {}", queue);
  const std::string names = base::first_and_more(turn.before, kMaxNamesInQueue);
  if (!turn.is_listed) {
    if (turn.before.size() < static_cast<std::size_t>(kMaxWaiting)) {
      return base::format("{} does not count it yet", queue);
    }
    return base::format("more than {} wait before it in {}: {}", kMaxWaiting, queue, names);
  }
  std::string words = turn.before.empty() ? base::format("it is next in {}", queue)
                                          : base::format("it is number {} in {}, after {}",
                                                         turn.in_queue + 1, queue, names);
  if (const std::int64_t others = turn.in_cluster - turn.in_queue; others > 0) {
    words += base::format(", and {} of other queues {} before it", others,
                          others == 1 ? "waits" : "wait");
  }
  return words;
}

// The cell of a table's row in the column of this name.
std::string cell_of(const Json& table, const Json& row, std::string_view column) {
  const Json& columns = list_at(table, {"columnDefinitions"});
  const Json& cells = list_at(row, {"cells"});
  for (std::size_t i = 0; i < columns.size() && i < cells.size(); ++i) {
    if (text_at(columns[i], {"name"}) != column) continue;
    return cells[i].is_string() ? cells[i].get<std::string>() : std::string();
  }
  return {};
}

// Those of the group's queue that have quota.
std::vector<std::string> holders_of(const KueueGroup& group, const KueueTold& told) {
  std::vector<std::string> names;
  if (!told.workloads) return names;
  for (const Json& row : list_at(*told.workloads, {"rows"})) {
    const auto cell = [&](std::string_view column) {
      return cell_of(*told.workloads, row, column);
    };
    const std::string name = cell("Name");
    const bool has_quota = !cell("Reserved in").empty() && cell("Finished") != "True";
    if (has_quota && cell("Queue") == group.queue && name != group.name) {
      names.push_back(name_shown(name));
    }
  }
  return names;
}

// Why the group has no quota, in Kueue's words.
std::string said_of(const KueueTold& told) {
  if (!told.own) return {};
  for (const Json& condition : list_at(*told.own, {"status", "conditions"})) {
    if (text_at(condition, {"type"}) != "QuotaReserved") continue;
    if (text_at(condition, {"status"}) == "False") return text_at(condition, {"message"});
  }
  return {};
}

std::string workloads_path(const KueueGroup& group, std::string_view version) {
  return base::format("/apis/kueue.x-k8s.io/{}/namespaces/{}/workloads", version, group.name_space);
}

}  // namespace

bool is_kept_by_kueue(const Json& pod) {
  const Json& finalizers = list_at(pod, {"metadata", "finalizers"});
  return is_being_deleted(pod) && std::ranges::find(finalizers, kFinalizer) != finalizers.end();
}

// Only of the pod with this uid: another one may have the name by now.
Request release_request(const std::string& name_space, const Json& pod) {
  Request request;
  request.method = "PATCH";
  request.path = base::format("/api/v1/namespaces/{}/pods/{}", name_space, name_of(pod));
  request.content_type = "application/strategic-merge-patch+json";
  request.body = {
      {"metadata",
       {{"uid", uid_of(pod)}, {"$deleteFromPrimitiveList/finalizers", Json::array({kFinalizer})}}}};
  request.wants_metadata_only = true;
  return request;
}

Request waiting_request(const KueueGroup& group, std::string_view version) {
  Request request;
  request.path = base::format(
      "/apis/visibility.kueue.x-k8s.io/{}/namespaces/{}/localqueues/{}/pendingworkloads", version,
      group.name_space, group.queue);
  request.query = {{"limit", base::format("{}", kMaxWaiting)}};
  return request;
}

Request workloads_request(const KueueGroup& group, std::string_view version) {
  Request request;
  request.path = workloads_path(group, version);
  request.query = {{"limit", base::format("{}", kMaxWorkloads)}, {"includeObject", "None"}};
  request.wants_table = true;
  return request;
}

Request own_request(const KueueGroup& group, std::string_view version) {
  Request request;
  request.path = base::format("{}/{}", workloads_path(group, version), group.name);
  return request;
}

std::string turn_words(const KueueGroup& group, const KueueTold& told) {
  std::vector<std::string> words = {place_words(group, turn_of(group, told))};
  if (const auto holders = holders_of(group, told); !holders.empty()) {
    words.push_back(base::format("{} {} quota there",
                                 base::first_and_more(holders, kMaxNamesInQueue),
                                 holders.size() == 1 ? "has" : "have"));
  }
  if (const std::string said = said_of(told); !said.empty()) {
    words.push_back(base::format("Kueue says {}", base::their_words(said, kMaxSaid)));
  }
  return base::format("{}", base::join(words, "; "));
}

}  // namespace gangrun::kubernetes::pods
