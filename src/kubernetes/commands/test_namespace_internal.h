#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/json.h"
#include "base/test_folder.h"
#include "kubernetes/commands/pod_master_job.h"
#include "kubernetes/pods/manifests_for_tests.h"
#include "kubernetes/test_api_server_internal.h"
#include "kubernetes/value_at.h"

namespace gangrun::kubernetes::commands {

inline constexpr const char* kWine = "wine-20260131-120000-3fa1";
inline const base::Secret kWineSecret("the job's secret");

// A namespace with detached jobs, as its API server shows it, and a machine that asks it. No pod of
// a master runs.
struct TestNamespace : TestApiServer {
  TestNamespace() {
    access.name_space = "lab";
    on_request = [this](TestTalk& talk) { serve(talk); };
  }

  JobsHere here() {
    return {.home = folder.path(),
            .clock = clock,
            .way = [this](const ClusterRecord&) -> base::Result<std::shared_ptr<ClusterWay>> {
              return std::make_shared<ClusterWay>(loop, *logger, client());
            },
            .next_master = std::chrono::milliseconds(200)};
  }

  // A job, with its owner.
  void put(const records::Head& head) {
    const std::string& id = head.job;
    heads[id + "-head"] = records::head_map(
        {{"name", id + "-head"},
         {"resourceVersion", base::format("{}", ++version)},
         {"labels", {{"gangrun/job", id}}},
         {"ownerReferences", {{{"kind", "Job"}, {"name", id + "-owner"}, {"uid", "u-" + id}}}}},
        head);
    owners[id + "-owner"] = {
        {"metadata",
         {{"name", id + "-owner"}, {"uid", "u-" + id}, {"labels", {{"gangrun/job", id}}}}}};
  }
  records::Head head(const std::string& id) { return records::head_in(heads[id + "-head"])->head; }

  // The record of it on this machine.
  ClusterRecord record(const std::string& id = kWine) const {
    ClusterRecord record;
    record.id = id;
    record.name = "wine";
    record.name_space = "lab";
    record.server = access.remote.url;
    record.head_name = id + "-head";
    record.owner_name = id + "-owner";
    record.owner_uid = "u-" + id;
    record.secret = kWineSecret;
    record.fingerprint = std::string(64, 'a');
    record.submitted = "2026-01-31T12:00:00.000Z";
    record.spec = pods::test::wine_job().spec;
    return record;
  }
  void remember(const ClusterRecord& record) const {
    const auto written = write_cluster_record(folder.path(), record);
    ASSERT_TRUE(written.ok()) << written.error().message;
  }
  std::optional<ClusterRecord> remembered(const std::string& id = kWine) const {
    auto record = read_cluster_record(folder.path(), id);
    EXPECT_TRUE(record.ok()) << record.error().message;
    return *record;
  }

  void serve(TestTalk& talk) {
    asked.push_back(talk.method + " " + talk.path);
    if (talk.path == kMaps) return list(talk);
    if (talk.path.starts_with(kMaps)) return serve(talk, heads, talk.path.substr(kMaps.size() + 1));
    if (talk.path.starts_with(kJobs)) {
      return serve(talk, owners, talk.path.substr(kJobs.size() + 1));
    }
    if (talk.path == "/api/v1/namespaces/lab/pods") {
      return talk.answer({{"items", base::Json::array()}});
    }
    const bool is_secret = talk.path.starts_with("/api/v1/namespaces/lab/secrets/");
    talk.refuse(is_secret ? 403 : 404, is_secret ? "Forbidden" : "NotFound", "refused");
  }
  void list(TestTalk& talk) {
    const std::string selector = talk.query["labelSelector"];
    base::Json items = base::Json::array();
    for (const auto& [name, map] : heads) {
      const std::string job = text_at(map, {"metadata", "labels", "gangrun/job"});
      const bool is_of_all = selector == "gangrun/records=head";
      if (is_of_all || selector == "gangrun/records=head,gangrun/job=" + job) items.push_back(map);
    }
    talk.answer({{"items", items}});
  }
  void serve(TestTalk& talk, std::map<std::string, base::Json>& objects, const std::string& name) {
    const auto found = objects.find(name);
    if (found == objects.end()) return talk.refuse(404, "NotFound", "refused");
    if (talk.method == "PATCH") {
      found->second = found->second.patch(base::Json::parse(talk.body));
      found->second["metadata"]["resourceVersion"] = base::format("{}", ++version);
    }
    const base::Json object = found->second;
    if (talk.method == "DELETE") {
      objects.erase(found);
      // All that it owns goes too.
      heads.erase(name.substr(0, name.rfind('-')) + "-head");
    }
    talk.answer(object);
  }

  static constexpr std::string_view kMaps = "/api/v1/namespaces/lab/configmaps";
  static constexpr std::string_view kJobs = "/apis/batch/v1/namespaces/lab/jobs";
  base::TestFolder folder;
  base::SystemClock clock;
  std::map<std::string, base::Json> heads;
  std::map<std::string, base::Json> owners;
  int version = 0;
  std::vector<std::string> asked;
};

// A job that a master leads, or led.
inline records::Head running_head(const std::string& id = kWine) {
  records::Head head;
  head.job = id;
  head.master = 1;
  head.pod_name = "wine-master-x";
  head.pod_uid = "u-pod";
  head.address = job::Address{"10.0.0.7", 17403};
  head.summary = {.name = "wine",
                  .user = "alice",
                  .state = "running",
                  .submitted = "2026-01-31T12:00:00.000Z",
                  .tasks = 2};
  return head;
}

// One whose end is recorded.
inline records::Head ended_head(const job::JobStatus& status) {
  records::Head head = running_head(status.id);
  head.summary.state = job::to_string(status.state);
  head.end = *records::sealed_end(records::records_key(kWineSecret), status.id, status);
  return head;
}

inline job::JobStatus succeeded(const std::string& id = kWine) {
  job::JobStatus status;
  status.id = id;
  status.name = "wine";
  status.state = job::JobState::kSucceeded;
  status.submitted = "2026-01-31T12:00:00.000Z";
  status.ended = "2026-01-31T13:00:00.000Z";
  job::TaskStatus task;
  task.task = {"worker", 0};
  task.state = job::TaskState::kSucceeded;
  status.tasks = {task};
  return status;
}

}  // namespace gangrun::kubernetes::commands
