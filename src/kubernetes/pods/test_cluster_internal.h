#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/json.h"
#include "base/strings.h"
#include "kubernetes/pods/errands.h"
#include "kubernetes/pods/pod_facts.h"
#include "kubernetes/pods/test_proven_pods_internal.h"
#include "kubernetes/value_at.h"
#include "net/event_loop.h"

// For tests.
namespace gangrun::kubernetes::pods {

// A cluster that keeps objects as an API server does, with the watch of pods and their forwarded
// ports. The test is its scheduler and its kubelets. What is deleted by request is gone at once.
class TestCluster final : public ForwardingClient {
 public:
  explicit TestCluster(net::EventLoop& loop) : ForwardingClient("lab"), loop_(loop) {}

  ActivityHandle request(Request request, base::Instant,
                         std::function<void(ApiAnswer)> on_done) override {
    auto answering = std::make_unique<Answering>();
    answering->timer = loop_.after(
        base::Duration(0), [this, request = std::move(request), on_done = std::move(on_done)] {
          // The call may be the end of what holds it.
          const auto tell = on_done;
          tell({.object = serve(request), .refusal = {}});
        });
    return answering;
  }
  ActivityHandle watch(WatchRequest, WatchCallbacks callbacks) override {
    watcher_ = std::make_shared<WatchCallbacks>(std::move(callbacks));
    auto answering = std::make_unique<Answering>();
    answering->timer = loop_.after(base::Duration(0), [this] { watcher_->on_list(task_pods()); });
    answering->end = [this] { watcher_.reset(); };
    return answering;
  }

  [[nodiscard]] bool has_pod(const std::string& name) const {
    return objects.contains(path_of(name));
  }
  base::Json& pod(const std::string& name) { return objects.at(path_of(name)); }
  void place(const std::string& name, const std::string& node) {
    pod(name)["spec"]["nodeName"] = node;
    tell(pod(name), false);
  }
  void run(const std::string& name) {
    base::Json& status = pod(name)["status"];
    status["phase"] = "Running";
    const base::Json& container = pod(name)["spec"]["containers"].at(0);
    status["containerStatuses"] = base::Json::array(
        {{{"name", container["name"]}, {"state", {{"running", base::Json::object()}}}}});
    tell(pod(name), false);
  }
  // By somebody; it has its time to end.
  void take(const std::string& name, int grace_seconds) {
    pod(name)["metadata"]["deletionTimestamp"] = "2026-01-31T12:00:30Z";
    pod(name)["metadata"]["deletionGracePeriodSeconds"] = grace_seconds;
    tell(pod(name), false);
  }
  void remove(const std::string& name) { drop(path_of(name)); }

  std::map<std::string, base::Json> objects;   // by their paths
  std::map<std::string, base::Error> refused;  // objects that it does not take, by their names

 private:
  struct Answering final : Activity {
    Answering() = default;
    Answering(const Answering&) = delete;
    Answering& operator=(const Answering&) = delete;
    ~Answering() override {
      if (end) end();
    }
    net::Timer timer;
    std::function<void()> end;
  };

  static std::string path_of(const std::string& pod) {
    return "/api/v1/namespaces/lab/pods/" + pod;
  }
  static bool is_pod(const std::string& path) { return path.starts_with(path_of("")); }

  void tell(const base::Json& pod, bool is_deleted) {
    const auto watcher = watcher_;
    if (watcher) watcher->on_change({is_deleted, pod});
  }

  void drop(const std::string& path) {
    const auto node = objects.extract(path);
    if (!node.empty() && is_pod(path)) tell(node.mapped(), true);
  }

  base::Result<base::Json> serve(const Request& request) {
    if (request.method == "POST") return create(request);
    const auto found = objects.find(request.path);
    if (found == objects.end()) {
      const bool is_collection = request.method == "GET" && !request.query.empty();
      if (is_collection) return list(request);
      return base::not_found("no such object");
    }
    if (request.method == "PATCH" && request.content_type.starts_with("application/strategic")) {
      return let_go(request);
    }
    const base::Json object = found->second;
    if (request.method == "DELETE") {
      end(request.path);
      if (text_at(object, {"kind"}) == "Job") collect(uid_of(object));
    }
    return object;
  }

  // A pod that somebody keeps is only being deleted.
  void end(const std::string& path) {
    const base::Json& object = objects.at(path);
    if (list_at(object, {"metadata", "finalizers"}).empty()) return drop(path);
    take(name_of(object), 0);
  }

  // Only the one patch that removes finalizers.
  base::Result<base::Json> let_go(const Request& request) {
    const base::Json object = objects.at(request.path);
    if (text_at(request.body, {"metadata", "uid"}) != uid_of(object)) {
      return base::invalid_argument("the uid is another one");
    }
    objects.at(request.path)["metadata"]["finalizers"] = base::Json::array();
    if (is_being_deleted(object)) drop(request.path);
    return object;
  }

  base::Result<base::Json> create(const Request& request) {
    const std::string path = base::format("{}/{}", request.path, name_of(request.body));
    if (objects.contains(path)) return base::Error{base::Code::kAlreadyExists, "it exists"};
    const auto refusal = refused.find(name_of(request.body));
    if (refusal != refused.end()) return refusal->second;
    base::Json& object = objects[path] = request.body;
    object["metadata"]["uid"] = base::format("u-{}", ++made_);
    if (is_pod(path)) tell(object, false);
    return object;
  }

  base::Result<base::Json> list(const Request& request) {
    base::Json items = base::Json::array();
    for (const auto& [path, object] : objects) {
      const base::Json& found = object;  // which a lambda may take
      const bool is_there = path.starts_with(request.path + "/");
      if (is_there && std::ranges::all_of(request.query, [&](const auto& condition) {
            return is_chosen(found, condition.first, condition.second);
          })) {
        items.push_back(object);
      }
    }
    return base::Json{{"items", std::move(items)}};
  }

  static bool is_chosen(const base::Json& object, const std::string& kind,
                        const std::string& condition) {
    const std::size_t at = condition.find('=');
    if (kind == "fieldSelector") return name_of(object) == condition.substr(at + 1);
    if (kind != "labelSelector") return true;
    return std::ranges::all_of(base::split(condition, ','), [&](const std::string& one) {
      const base::Json& labels = value_at(object, {"metadata", "labels"});
      if (one.starts_with('!')) return !labels.contains(one.substr(1));
      const std::size_t equal = one.find('=');
      return text_at(labels, {one.substr(0, equal)}) == one.substr(equal + 1);
    });
  }

  [[nodiscard]] std::vector<base::Json> task_pods() const {
    std::vector<base::Json> pods;
    for (const auto& [path, object] : objects) {
      const bool is_masters = value_at(object, {"metadata", "labels"}).contains("gangrun/master");
      if (is_pod(path) && !is_masters) pods.push_back(object);
    }
    return pods;
  }

  void collect(const std::string& owner) {
    std::vector<std::string> owned;
    for (const auto& [path, object] : objects) {
      for (const base::Json& each : list_at(object, {"metadata", "ownerReferences"})) {
        if (text_at(each, {"uid"}) == owner) owned.push_back(path);
      }
    }
    for (const std::string& path : owned) end(path);
  }

  net::EventLoop& loop_;
  std::shared_ptr<WatchCallbacks> watcher_;
  int made_ = 0;
};

}  // namespace gangrun::kubernetes::pods
