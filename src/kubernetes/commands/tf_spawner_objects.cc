#include "kubernetes/commands/tf_spawner_objects.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/format.h"
#include "base/json.h"
#include "base/letters.h"
#include "base/strings.h"
#include "kubernetes/commands/tf_spawner.h"
#include "kubernetes/value_at.h"

namespace gangrun::kubernetes::commands {

namespace {

using base::Json;
using base::Result;

// How many objects an error names.
constexpr std::size_t kMaxNamed = 10;

struct Collection {
  const char* kind;
  const char* group;
  const char* resource;
};

constexpr Collection kPods{"Pod", "/api/v1", "pods"};
constexpr Collection kServices{"Service", "/api/v1", "services"};
constexpr Collection kConfigMaps{"ConfigMap", "/api/v1", "configmaps"};
// The objects that tf-spawner makes, and deletes by the label.
constexpr std::array kTheirs{kServices, kConfigMaps, kPods};
// The objects that gangrun makes besides. Others may have the label, too: of these it is gangrun's
// own label that counts.
constexpr Collection kOwner{"Job", "/apis/batch/v1", "jobs"};
constexpr std::array kOurs{kOwner, Collection{"Secret", "/api/v1", "secrets"}};

std::string path_of(const Collection& collection, const kubernetes::Client& client) {
  return base::format("{}/namespaces/{}/{}", collection.group, client.access().name_space,
                      collection.resource);
}

std::string name_of(const Json& object) { return text_at(object, {"metadata", "name"}); }

RunObject object_of(const Json& json, const Collection& collection, const std::string& path) {
  return {.kind = collection.kind,
          .name = name_of(json),
          .path = base::format("{}/{}", path, name_of(json)),
          .tag = text_at(json, {"metadata", "labels", kAttemptTag}),
          .job = text_at(json, {"metadata", "labels", pods::kJobLabel}),
          .is_owned = !list_at(json, {"metadata", "ownerReferences"}).empty()};
}

// Those of a collection that a selector (its kind and its value) chooses.
Result<> add(net::EventLoop& loop, kubernetes::Client& client, const Collection& collection,
             const std::pair<std::string, std::string>& selector, base::Instant deadline,
             std::vector<RunObject>& objects) {
  const std::string path = path_of(collection, client);
  GANGRUN_ASSIGN(const auto items, kubernetes::list(loop, client, path, {selector}, deadline));
  for (const Json& item : items) objects.push_back(object_of(item, collection, path));
  return {};
}

// One request for each; the first refusal that matters is the error.
Result<> ask_for_deletion(net::EventLoop& loop, kubernetes::Client& client,
                          const std::vector<RunObject>& objects, base::Instant deadline) {
  std::size_t missing = objects.size();
  Result<> outcome;
  std::vector<kubernetes::ActivityHandle> asked;
  for (const RunObject& object : objects) {
    kubernetes::Request request{
        .method = "DELETE",
        .path = object.path,
        .body = {
            {"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"propagationPolicy", "Background"}}};
    asked.push_back(client.request(std::move(request), deadline, [&](const ApiAnswer& a) {
      --missing;
      if (a.object.ok() || a.object.error().code == base::Code::kNotFound) return;
      const bool goes_with_owner =
          object.is_owned && a.object.error().code == base::Code::kPermissionDenied;
      if (!goes_with_owner && outcome.ok()) {
        outcome = a.object.error().context(base::format("deleting {}", to_string(object)));
      }
    }));
  }
  const bool answered = loop.run_until([&] { return missing == 0; }, deadline);
  if (answered || !outcome.ok()) return outcome;
  return base::deadline_exceeded(base::format(
      "the API server has not answered {} of {} requests to delete", missing, objects.size()));
}

std::string with_tag(const std::string& tag) { return base::format("{}={}", kAttemptTag, tag); }

std::string beside_workers(const std::string& job) {
  return base::format("{}={},!{}", pods::kJobLabel, job, kAttemptTag);
}

// The jobs of gangrun among the runs that these objects are of.
std::set<std::string> jobs_of(const std::vector<RunObject>& objects) {
  std::set<std::string> jobs;
  for (const RunObject& object : objects) {
    if (object.kind == kOwner.kind && !object.job.empty()) jobs.insert(object.job);
  }
  return jobs;
}

// Until no pod that the selector chooses is left: they may take their time to stop.
Result<> wait_for_pods(net::EventLoop& loop, kubernetes::Client& client,
                       const std::string& selector, base::Instant deadline) {
  bool is_known = false;
  std::set<std::string> left;
  Result<> outcome;
  kubernetes::WatchCallbacks callbacks;
  callbacks.on_list = [&](const std::vector<Json>& pods) {
    is_known = true;
    left.clear();
    for (const Json& pod : pods) left.insert(name_of(pod));
  };
  callbacks.on_change = [&](const kubernetes::Change& change) {
    if (change.is_deleted) left.erase(name_of(change.object));
  };
  callbacks.on_trouble = [&](const base::Error& error, bool is_final) {
    if (is_final) outcome = error;
  };
  const auto watching = client.watch({.path = path_of(kPods, client), .label_selector = selector},
                                     std::move(callbacks));
  const auto ended = [&] { return !outcome.ok() || (is_known && left.empty()); };
  if (loop.run_until(ended, deadline) && outcome.ok()) return {};
  if (!outcome.ok()) return outcome;
  return base::deadline_exceeded(base::format(
      "pods that are still there: {}", base::join(std::vector(left.begin(), left.end()), ", ")));
}

}  // namespace

std::string to_string(const RunObject& object) {
  return base::format("{}/{}", base::in_small_letters(object.kind), object.name);
}

Result<std::vector<RunObject>> objects_with_tag(net::EventLoop& loop, kubernetes::Client& client,
                                                const std::string& tag, base::Instant deadline) {
  std::vector<RunObject> objects;
  const std::string label = with_tag(tag);
  for (const Collection& collection : kOurs) {
    GANGRUN_TRY(add(loop, client, collection,
                    {"labelSelector", base::format("{},{}", label, pods::kJobLabel)}, deadline,
                    objects));
  }
  for (const Collection& collection : kTheirs) {
    GANGRUN_TRY(add(loop, client, collection, {"labelSelector", label}, deadline, objects));
  }
  for (const std::string& job : jobs_of(objects)) {
    GANGRUN_TRY(
        add(loop, client, kPods, {"labelSelector", beside_workers(job)}, deadline, objects));
  }
  return objects;
}

Result<> check_namespace_exists(net::EventLoop& loop, kubernetes::Client& client,
                                base::Instant deadline) {
  const std::string& name = client.access().name_space;
  const auto found =
      kubernetes::ask(loop, client, {.path = "/api/v1/namespaces/" + name}, deadline);
  if (found.ok() || found.error().code != base::Code::kNotFound) return {};
  return base::not_found(base::format("-n: there is no namespace '{}'", name));
}

Result<std::optional<RunObject>> first_taken(net::EventLoop& loop, kubernetes::Client& client,
                                             const pods::ManifestNames& names,
                                             base::Instant deadline) {
  std::vector<RunObject> found;
  const auto by_name = [](const std::string& name) {
    return std::pair<std::string, std::string>("fieldSelector", "metadata.name=" + name);
  };
  GANGRUN_TRY(add(loop, client, kConfigMaps, by_name(names.script_config_map), deadline, found));
  for (const Collection& collection : {kPods, kServices}) {
    // Those of runs; and of what is none, the name that each run begins with.
    GANGRUN_TRY(add(loop, client, collection, {"labelSelector", std::string(kAttemptTag)}, deadline,
                    found));
    GANGRUN_TRY(
        add(loop, client, collection, by_name(names.pods.begin()->second), deadline, found));
  }
  const auto taken = std::find_if(found.begin(), found.end(), [&names](const RunObject& object) {
    return object.kind == kConfigMaps.kind || std::ranges::any_of(names.pods, [&](const auto& pod) {
             return pod.second == object.name;
           });
  });
  return taken == found.end() ? std::nullopt : std::optional(*taken);
}

Result<> delete_objects(net::EventLoop& loop, kubernetes::Client& client, const std::string& tag,
                        const std::vector<RunObject>& objects, base::Instant deadline) {
  // The owner first: by its absence a client that still leads the run knows that all is deleted.
  std::vector<RunObject> rest = objects;
  const auto owned = std::stable_partition(
      rest.begin(), rest.end(), [](const RunObject& object) { return object.kind == kOwner.kind; });
  GANGRUN_TRY(ask_for_deletion(loop, client, {rest.begin(), owned}, deadline));
  GANGRUN_TRY(ask_for_deletion(loop, client, {owned, rest.end()}, deadline));
  GANGRUN_TRY(wait_for_pods(loop, client, with_tag(tag), deadline));
  for (const std::string& job : jobs_of(objects)) {
    GANGRUN_TRY(wait_for_pods(loop, client, beside_workers(job), deadline));
  }
  GANGRUN_ASSIGN(auto left, objects_with_tag(loop, client, tag, deadline));
  // The owner is gone, and the cluster removes what it owned.
  std::erase_if(left, [](const RunObject& object) { return object.is_owned; });
  if (left.empty()) return {};
  return base::Error{base::Code::kFailedPrecondition,
                     base::format("still there: {}",
                                  base::first_and_more(left, kMaxNamed, [](const RunObject& one) {
                                    return to_string(one);
                                  }))};
}

}  // namespace gangrun::kubernetes::commands
