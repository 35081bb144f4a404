#include "kubernetes/node/pod_master.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>

#include "base/files.h"
#include "base/strings.h"
#include "base/test_folder.h"
#include "base/test_log.h"
#include "kubernetes/node/test_client_internal.h"
#include "kubernetes/pods/kubernetes_options.h"
#include "kubernetes/pods/manifests_for_tests.h"
#include "kubernetes/pods/master_config.h"
#include "kubernetes/pods/master_pod.h"
#include "kubernetes/pods/names.h"
#include "kubernetes/records/job_volume.h"
#include "kubernetes/records/record_server_for_tests.h"
#include "net/certificate.h"
#include "net/digests.h"
#include "wire/rest_client.h"
#include "wire/test_registry.h"

namespace gangrun::kubernetes::node {
namespace {

using base::Json;
using records::Head;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::string kName = "wine-20260131-120000-3fa1";
const std::string kHead = kName + "-head";
const std::string kPods = "/api/v1/namespaces/lab/pods";
const base::Secret kSecret(std::string(64, 's'));

// A namespace with the records of a job, whose pods never get a node.
struct Namespace : records::test::RecordServer {
  Namespace() {
    Head head;
    head.job = kName;
    store.perform("POST", std::string(records::test::kRecordFolder),
                  records::head_map({{"name", kHead}}, head));
    pods["master-1"] = {{"metadata", {{"name", "master-1"}, {"uid", "u-master-1"}}}};
    meddle = [this](TestTalk& talk, const std::string&) {
      if (talk.path.starts_with(records::test::kRecordFolder)) return false;
      answer_other(talk);
      return true;
    };
  }

  void answer_other(TestTalk& talk) {
    const Json body = body_of(talk);
    if (talk.path.ends_with("selfsubjectaccessreviews")) {
      const std::string resource = text_at(body, {"spec", "resourceAttributes", "resource"});
      return talk.answer(Json{{"status", {{"allowed", resource != forbidden}}}});
    }
    if (talk.path.starts_with(kPods)) return answer_pods(talk, body);
    if (talk.path.find("/jobs/") != std::string::npos) {
      if (talk.method == "PATCH") owner.merge_patch(body);
      return talk.answer(owner);
    }
    if (talk.path.ends_with("/events")) return talk.answer(Json{{"items", Json::array()}});
    // The agents' Secret.
    talk.answer(body);
  }
  void answer_pods(TestTalk& talk, const Json& body) {
    if (talk.path == kPods && talk.method == "POST") {
      Json& pod = pods[pods::name_of(body)] = body;
      pod["metadata"]["uid"] = base::format("u-pod-{}", ++made);
      talk.answer(pod);
      tell("ADDED", pod);
      if (on_pod) on_pod();
      return;
    }
    if (talk.path == kPods && talk.query.contains("watch")) {
      watcher = &talk;
      return talk.begin();
    }
    if (talk.path == kPods) {
      Json items = Json::array();
      for (const auto& [name, pod] : pods) {
        if (!name.starts_with("master")) items.push_back(pod);
      }
      return talk.answer(
          Json{{"metadata", {{"resourceVersion", "1"}}}, {"items", std::move(items)}});
    }
    const auto found = pods.find(talk.path.substr(kPods.size() + 1));
    if (found == pods.end()) return talk.refuse(404, "NotFound", "no such pod");
    const Json pod = found->second;
    talk.answer(pod);
    if (talk.method != "DELETE") return;
    pods.erase(found);
    tell("DELETED", pod);
  }
  void tell(const std::string& type, const Json& pod) const {
    if (watcher == nullptr || !watcher->is_open()) return;
    watcher->piece(Json{{"type", type}, {"object", pod}}.dump() + "\n");
  }

  Head head() { return records::head_in(store.maps[kHead]).value().head; }
  // As somebody else changes it.
  void change_head(const std::function<void(Head&)>& change) {
    const auto read = records::head_in(store.maps[kHead]).value();
    Head to = read.head;
    change(to);
    store.perform("PATCH", base::format("{}/{}", records::test::kRecordFolder, kHead),
                  records::head_patch(read, to));
  }
  [[nodiscard]] std::vector<std::string> task_pods() const {
    std::vector<std::string> names;
    for (const auto& [name, pod] : pods) {
      if (!name.starts_with("master")) names.push_back(name);
    }
    return names;
  }

  std::map<std::string, Json> pods;
  Json owner = {
      {"metadata",
       {{"name", kName + "-owner"}, {"uid", "u-1"}, {"labels", {{"gangrun/job", kName}}}}},
      {"spec", {{"activeDeadlineSeconds", 100}}}};
  TestTalk* watcher = nullptr;
  int made = 0;
  std::string forbidden;  // a resource
  std::function<void()> on_pod;
};

class PodMasterTest : public testing::Test {
 protected:
  void SetUp() override { write_config({}, std::chrono::milliseconds(0)); }

  void write_config(const pods::JournalOptions& journal, std::chrono::milliseconds keep) {
    std::filesystem::remove_all(folder / "config");
    pods::ManifestInput input = pods::test::wine_job();
    pods::KubernetesOptions& options = pods::edit_kubernetes(input.spec);
    options.agents = pods::AgentsBy::kImage;
    options.agent_image = "hub/agent:1";
    options.master.service_account = "gangrun-master";
    options.master.keep = keep;
    options.journal = journal;
    const auto certificate = net::make_job_certificate("wine", std::chrono::hours(1));
    ASSERT_TRUE(certificate.ok());
    fingerprint = certificate->fingerprint;
    const pods::PodMasterConfig config =
        pods::master_config_of(input, pods::test::wine_owner(), "alice",
                               std::chrono::system_clock::now(), kSecret, *certificate);
    const auto secret = pods::master_secret(input, config, pods::test::wine_owner());
    ASSERT_TRUE(secret.ok()) << secret.error().message;
    ASSERT_TRUE(base::make_folders(folder / "config", 0700).ok());
    for (const auto& [key, value] : secret->at("data").items()) {
      const std::string bytes = net::from_base64(value.get<std::string>()).value();
      ASSERT_TRUE(base::write_private_file(folder / "config/" + key, bytes).ok());
    }
  }

  // A master in this pod, from its start to its end.
  int run(const std::string& pod, const std::string& uid) {
    const PodMasterOptions options{
        .config_folder = folder / "config",
        .run_folder = folder / pod,
        .journal_folder = folder / "volume",
        .reason_file = folder / "reason",
        .port = port = free_port(),
        .pod_name = pod,
        .pod_uid = uid,
        .pod_address = "127.0.0.1",
        .look_interval = std::chrono::milliseconds(100),
        .make_client = [this](net::EventLoop& loop, base::Logger& logger) {
          return Client::make(loop, logger, server.access, {});
        }};
    return wire::while_serving(server.loop, [&] {
      const base::SystemClock clock;
      return run_pod_master(options, clock, log);
    });
  }

  // Once, while a master runs.
  void when(std::function<bool()> is_so, std::function<void()> work) {
    tick = server.loop.after(std::chrono::milliseconds(5), [this, is_so, work] {
      if (is_so()) return work();
      when(is_so, work);
    });
  }
  [[nodiscard]] std::string of_job(const std::string& path) const {
    return folder / base::format("volume/runs/{}{}", kName, path);
  }

  base::TestFolder folder;
  base::LogRecorder log;
  Namespace server;
  std::string fingerprint;
  std::uint16_t port = 0;
  net::Timer tick;
};

TEST_F(PodMasterTest, OneWhosePodIsGivenUpClaimsNothing) {
  EXPECT_EQ(run("master-1", "u-of-an-earlier-pod"), 1);
  server.pods["master-1"]["metadata"]["deletionTimestamp"] = "2026-01-31T12:00:30Z";
  EXPECT_EQ(run("master-1", "u-master-1"), 1);
  EXPECT_EQ(server.head().master, 0);
}

TEST_F(PodMasterTest, OneThatMayNotLeadSaysWhyInTheHead) {
  server.forbidden = "events";
  EXPECT_EQ(run("master-1", "u-master-1"), 1);
  EXPECT_EQ(server.head().master, 0);
  EXPECT_THAT(server.head().refusal, HasSubstr("list events"));
  EXPECT_EQ(server.head().refusal_code, "permission_denied");
}

// Each next one would find the same, and the cluster made them until the job's deadline.
TEST_F(PodMasterTest, OneWhoseJobCannotBeReadEndsForGoodAndSaysWhy) {
  ASSERT_TRUE(base::write_file_atomically(folder / "config/config", "{}", 0600).ok());
  EXPECT_EQ(run("master-1", "u-master-1"), 0);
  const auto reason = base::read_file(folder / "reason", 4096);
  ASSERT_TRUE(reason.ok()) << reason.error().message;
  EXPECT_THAT(*reason, HasSubstr("the configuration of the job's master"));
}

TEST_F(PodMasterTest, OneWhoseRecordsAreLostEndsForGoodAndSaysWhyInTheHead) {
  server.change_head([](Head& head) { head.chains["journal-000001"] = 1; });
  EXPECT_EQ(run("master-1", "u-master-1"), 0);
  EXPECT_EQ(server.head().refusal_code, "data_loss");
  EXPECT_THAT(server.head().refusal, HasSubstr("journal-000001"));
  const auto reason = base::read_file(folder / "reason", 4096);
  ASSERT_TRUE(reason.ok()) << reason.error().message;
  EXPECT_EQ(*reason, server.head().refusal);
}

TEST_F(PodMasterTest, AJobThatIsToStopEndsAndItsRecordsSaySo) {
  server.on_pod = [this] {
    if (server.made == 1) {
      server.change_head([](Head& head) { head.stop = records::StopWish{.by = "bob"}; });
    }
  };
  EXPECT_EQ(run("master-1", "u-master-1"), 0) << testing::PrintToString(log.lines);
  EXPECT_EQ(server.head().master, 1);
  EXPECT_EQ(server.head().summary.state, "killed");
  EXPECT_EQ(server.head().summary.user, "alice");
  const auto end = records::end_in(records::records_key(kSecret), server.head());
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->state, job::JobState::kKilled);
  EXPECT_THAT(server.task_pods(), IsEmpty());
  // All of it goes at last, also where the pod goes on.
  EXPECT_GE(server.owner["spec"]["activeDeadlineSeconds"].get<int>(), 24 * 3600);
  // Another one would start nothing.
  const int made = server.made;
  EXPECT_EQ(run("master-1", "u-master-1"), 0);
  EXPECT_EQ(server.made, made);
  EXPECT_EQ(server.head().summary.state, "killed");
}

TEST_F(PodMasterTest, OneThatIsReplacedTouchesNothingAndTheNextOneGoesOn) {
  server.on_pod = [this] {
    if (server.made == 2) server.change_head([](Head& head) { head.master = 7; });
  };
  EXPECT_EQ(run("master-1", "u-master-1"), 1);
  EXPECT_EQ(server.head().master, 7);
  EXPECT_THAT(server.head().end, IsEmpty());
  EXPECT_THAT(server.task_pods(), SizeIs(2));
  server.on_pod = [this] {
    server.change_head([](Head& head) { head.stop = records::StopWish{.by = "bob"}; });
  };
  server.pods["master-2"] = {{"metadata", {{"name", "master-2"}, {"uid", "u-master-2"}}}};
  EXPECT_EQ(run("master-2", "u-master-2"), 0) << testing::PrintToString(log.lines);
  EXPECT_EQ(server.head().master, 8);
  EXPECT_EQ(server.head().summary.state, "killed");
  // The first one had recorded nothing that counts.
  EXPECT_TRUE(server.head().chains.contains("journal-000001"));
  EXPECT_THAT(server.task_pods(), IsEmpty());
}

TEST_F(PodMasterTest, OneGoesOnWithAJournalThatIsOnAVolume) {
  write_config({.claim = "models", .path = "runs"}, std::chrono::milliseconds(0));
  server.on_pod = [this] {
    if (server.made == 2) server.change_head([](Head& head) { head.master = 7; });
  };
  EXPECT_EQ(run("master-1", "u-master-1"), 1);
  EXPECT_EQ(server.head().folder, 1);
  EXPECT_TRUE(std::filesystem::exists(of_job("/000001/journal/000001.jsonl")));
  EXPECT_THAT(server.task_pods(), SizeIs(2));
  server.change_head([](Head& head) { head.stop = records::StopWish{.by = "bob"}; });
  server.pods["master-2"] = {{"metadata", {{"name", "master-2"}, {"uid", "u-master-2"}}}};
  EXPECT_EQ(run("master-2", "u-master-2"), 0) << testing::PrintToString(log.lines);
  EXPECT_EQ(server.head().folder, 8);
  EXPECT_EQ(server.head().summary.state, "killed");
  EXPECT_THAT(server.head().chains, IsEmpty());
  EXPECT_THAT(server.task_pods(), IsEmpty());
  // All was kept for as long as it says.
  EXPECT_FALSE(std::filesystem::exists(of_job("")));
}

TEST_F(PodMasterTest, OneThatBeginsAfterTheVerdictHandsOutWhatIsOnTheVolume) {
  write_config({.claim = "models", .path = "runs"}, std::chrono::hours(1));
  const auto volume =
      records::JobVolume::open(folder / "volume/runs", kName, pods::test::wine_owner().uid);
  ASSERT_TRUE(volume.ok() && volume->begin(1, 0).ok());
  const std::string kept = volume->outputs_of(1) + "/worker-0";
  ASSERT_TRUE(base::make_folders(kept, 0700).ok());
  ASSERT_TRUE(base::write_file_atomically(kept + "/model", "kept", 0600).ok());
  // As the first one left it.
  server.change_head([](Head& head) {
    job::JobStatus ended;
    ended.state = job::JobState::kSucceeded;
    head.master = 7;
    head.folder = 1;
    head.end = records::sealed_end(records::records_key(kSecret), kName, ended).value();
    head.summary.kept_until =
        base::to_iso8601(std::chrono::system_clock::now() + std::chrono::hours(1));
  });
  server.pods["master-2"] = {{"metadata", {{"name", "master-2"}, {"uid", "u-master-2"}}}};
  std::thread fetching;
  std::string fetched;
  when([this] { return server.head().master == 8 && server.head().address.has_value(); },
       [&] {
         fetching = std::thread([&] {
           fetched = wire::read_output(net::Endpoint::on_tls("127.0.0.1", port, fingerprint),
                                       kSecret, "worker-0", "model", 0, wire::test_deadline())
                         .value_or("nothing");
           // Then the job is removed.
           server.loop.post([&] { server.store.maps.erase(kHead); });
         });
       });
  EXPECT_EQ(run("master-2", "u-master-2"), 1);
  ASSERT_TRUE(fetching.joinable()) << testing::PrintToString(log.lines);
  fetching.join();
  EXPECT_EQ(fetched, "kept");
  EXPECT_FALSE(std::filesystem::exists(of_job("")));
}

}  // namespace
}  // namespace gangrun::kubernetes::node
