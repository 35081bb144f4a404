#include "kubernetes/commands/tf_spawner_objects.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/format.h"
#include "kubernetes/test_idle_client.h"

namespace gangrun::kubernetes::commands {
namespace {

using base::Json;
using testing::ElementsAre;
using testing::HasSubstr;

class Asked final : public kubernetes::Activity {};

Json made(const std::string& name, const std::string& tag, bool is_owned, const std::string& job) {
  Json metadata = {{"name", name}, {"labels", Json::object()}};
  if (!job.empty()) metadata["labels"]["gangrun/job"] = job;
  if (!tag.empty()) metadata["labels"]["training_attempt"] = tag;
  if (is_owned) metadata["ownerReferences"] = Json::array({{{"name", "owner"}}});
  return {{"metadata", std::move(metadata)}};
}

// A namespace of an API server: objects by their collection's path, selected as the server does it.
class FakeServer final : public kubernetes::IdleClient {
 public:
  explicit FakeServer(net::EventLoop& loop) : IdleClient("ml"), loop_(loop) {}

  void add(const std::string& resource, const std::string& name, const std::string& tag,
           bool is_owned = false, const std::string& job = "") {
    const std::string group = resource == "jobs" ? "/apis/batch/v1" : "/api/v1";
    objects_[group + "/namespaces/ml/" + resource].push_back(made(name, tag, is_owned, job));
  }
  void forbid_deleting(const std::string& path) { forbidden_ = path; }
  void keep_pods() { keeps_pods_ = true; }
  [[nodiscard]] const std::vector<std::string>& deleted() const { return deleted_; }
  void page_by(std::size_t size) { page_ = size; }

  [[nodiscard]] kubernetes::ActivityHandle request(
      kubernetes::Request request, base::Instant, std::function<void(ApiAnswer)> on_done) override {
    loop_.post([this, request = std::move(request), on_done = std::move(on_done)] {
      on_done({request.method == "DELETE" ? remove(request) : list(request), std::nullopt});
    });
    return std::make_unique<Asked>();
  }

  // The pods stop one after the other once they are watched.
  [[nodiscard]] kubernetes::ActivityHandle watch(kubernetes::WatchRequest request,
                                                 kubernetes::WatchCallbacks callbacks) override {
    loop_.post([this, request = std::move(request), callbacks = std::move(callbacks)] {
      const std::vector<Json> pods = stopping_;
      callbacks.on_list(pods);
      if (keeps_pods_) return;
      for (const Json& pod : pods) callbacks.on_change({true, pod});
    });
    return std::make_unique<Asked>();
  }

 private:
  base::Result<Json> remove(const kubernetes::Request& request) {
    if (request.path == forbidden_) {
      return base::Error{base::Code::kPermissionDenied, "no right to delete"};
    }
    const std::size_t slash = request.path.rfind('/');
    auto& list = objects_[request.path.substr(0, slash)];
    const std::string name = request.path.substr(slash + 1);
    const auto found = std::ranges::find_if(
        list, [&](const Json& object) { return object["metadata"]["name"] == name; });
    if (found == list.end()) return base::not_found(name);
    deleted_.push_back(name);
    if (request.path.find("/pods/") != std::string::npos) stopping_.push_back(*found);
    list.erase(found);
    return Json::object();
  }

  base::Result<Json> list(const kubernetes::Request& request) {
    std::string field;
    std::string label;
    std::size_t first = 0;
    for (const auto& [name, value] : request.query) {
      if (name == "fieldSelector") field = value;
      if (name == "labelSelector") label = value;
      if (name == "continue") first = std::stoul(value);
    }
    std::vector<Json> chosen;
    for (const Json& object : objects_[request.path]) {
      const Json& metadata = object["metadata"];
      const bool by_name = "metadata.name=" + metadata["name"].get<std::string>() == field;
      const std::string tag = metadata["labels"].value("training_attempt", "");
      const std::string job = metadata["labels"].value("gangrun/job", "");
      const bool by_label =
          label == "training_attempt"
              ? !tag.empty()
              : label == "training_attempt=" + tag ||
                    (!job.empty() &&
                     (label == "training_attempt=" + tag + ",gangrun/job" ||
                      (tag.empty() && label == "gangrun/job=" + job + ",!training_attempt")));
      if (field.empty() ? by_label : by_name) chosen.push_back(object);
    }
    Json page = {{"items", Json::array()}, {"metadata", Json::object()}};
    const std::size_t end = std::min(chosen.size(), first + page_);
    for (std::size_t i = first; i < end; ++i) page["items"].push_back(chosen[i]);
    if (end < chosen.size()) page["metadata"]["continue"] = base::format("{}", end);
    return page;
  }

  net::EventLoop& loop_;
  std::map<std::string, std::vector<Json>> objects_;
  std::vector<Json> stopping_;
  std::vector<std::string> deleted_;
  std::string forbidden_;
  bool keeps_pods_ = false;
  std::size_t page_ = 500;
};

class TfSpawnerObjects : public testing::Test {
 protected:
  [[nodiscard]] base::Instant soon() const { return loop_.now() + std::chrono::seconds(20); }

  std::vector<std::string> names(const std::string& tag) {
    const auto found = objects_with_tag(loop_, server_, tag, soon());
    std::vector<std::string> text;
    for (const RunObject& object : found.value()) text.push_back(to_string(object));
    return text;
  }

  void add_run(const std::string& tag, const std::string& end, bool is_owned) {
    server_.add("pods", "worker0" + end, tag, is_owned);
    server_.add("pods", "worker1" + end, tag, is_owned);
    server_.add("services", "worker0" + end, tag, is_owned);
    server_.add("configmaps", "script" + end, tag, is_owned);
  }

  net::EventLoop loop_;
  FakeServer server_{loop_};
};

TEST_F(TfSpawnerObjects, AreThoseOfTheTagOnAllPages) {
  add_run("a", "", false);
  add_run("b", "-b", false);
  server_.page_by(1);
  EXPECT_THAT(names("a"),
              ElementsAre("service/worker0", "configmap/script", "pod/worker0", "pod/worker1"));
  EXPECT_THAT(names("c"), ElementsAre());
}

TEST_F(TfSpawnerObjects, ATakenNameIsFoundWhoseverItIs) {
  const pods::ManifestNames names{.pods = {{{"worker", 0}, "worker0"}, {{"worker", 1}, "worker1"}},
                                  .script_config_map = "script"};
  server_.add("pods", "another", "");
  server_.add("pods", "worker1-b", "b");
  EXPECT_EQ(first_taken(loop_, server_, names, soon()).value(), std::nullopt);
  server_.add("pods", "worker1", "b");
  EXPECT_EQ(first_taken(loop_, server_, names, soon()).value()->tag, "b");
  server_.add("configmaps", "script", "");
  const auto taken = first_taken(loop_, server_, names, soon()).value();
  EXPECT_EQ(to_string(*taken), "configmap/script");
  EXPECT_EQ(taken->tag, "");
}

TEST_F(TfSpawnerObjects, AreDeletedAndThoseOfAnotherTagAreNot) {
  add_run("a", "", false);
  add_run("b", "-b", false);
  const auto objects = objects_with_tag(loop_, server_, "a", soon());
  const auto gone = delete_objects(loop_, server_, "a", *objects, soon());
  EXPECT_TRUE(gone.ok()) << gone.error().message;
  EXPECT_THAT(server_.deleted(), ElementsAre("worker0", "script", "worker0", "worker1"));
  EXPECT_EQ(names("b").size(), 4U);
}

// It is no worker, which users count by the tag.
TEST_F(TfSpawnerObjects, ARelayOfItsAgentsIsOfTheRun) {
  add_run("a", "", true);
  server_.add("jobs", "a-1-owner", "a", false, "a-1");
  server_.add("pods", "a-1-relay", "", true, "a-1");
  server_.add("pods", "b-1-relay", "", true, "b-1");
  EXPECT_THAT(names("a"), ElementsAre("job/a-1-owner", "service/worker0", "configmap/script",
                                      "pod/worker0", "pod/worker1", "pod/a-1-relay"));
  const auto objects = objects_with_tag(loop_, server_, "a", soon());
  EXPECT_TRUE(delete_objects(loop_, server_, "a", *objects, soon()).ok());
  EXPECT_THAT(server_.deleted(), testing::Contains("a-1-relay"));
  EXPECT_THAT(server_.deleted(), testing::Not(testing::Contains("b-1-relay")));
}

TEST_F(TfSpawnerObjects, WhatGoesWithItsOwnerNeedsNoRight) {
  add_run("a", "", true);
  server_.add("jobs", "owner", "a");
  server_.forbid_deleting("/api/v1/namespaces/ml/services/worker0");
  const auto objects = objects_with_tag(loop_, server_, "a", soon());
  EXPECT_TRUE(delete_objects(loop_, server_, "a", *objects, soon()).ok());
}

TEST_F(TfSpawnerObjects, WhatNobodyMayDeleteIsNamed) {
  add_run("a", "", false);
  server_.forbid_deleting("/api/v1/namespaces/ml/configmaps/script");
  const auto objects = objects_with_tag(loop_, server_, "a", soon());
  const auto gone = delete_objects(loop_, server_, "a", *objects, soon());
  ASSERT_FALSE(gone.ok());
  EXPECT_EQ(gone.error().message, "deleting configmap/script: no right to delete");
}

TEST_F(TfSpawnerObjects, PodsThatStayAreNamedAtTheLimit) {
  add_run("a", "", false);
  server_.keep_pods();
  const auto objects = objects_with_tag(loop_, server_, "a", soon());
  const auto gone =
      delete_objects(loop_, server_, "a", *objects, loop_.now() + std::chrono::milliseconds(200));
  ASSERT_FALSE(gone.ok());
  EXPECT_THAT(gone.error().message, HasSubstr("worker0, worker1"));
}

}  // namespace
}  // namespace gangrun::kubernetes::commands
