#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "base/test_deadline.h"
#include "base/test_log.h"
#include "kubernetes/pods/agent_parts_for_tests.h"
#include "kubernetes/pods/kubernetes_options.h"
#include "kubernetes/pods/manifests_for_tests.h"
#include "kubernetes/pods/master_names.h"
#include "kubernetes/pods/names.h"
#include "kubernetes/pods/pod_launcher.h"
#include "kubernetes/pods/test_cluster_internal.h"

// A launcher for a master in a pod.
namespace gangrun::kubernetes::pods {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const job::TaskId kOne{"worker", 0};
const job::TaskId kOther{"worker", 1};
const std::string kName = "wine-20260131-120000-3fa1";
const std::string kOnePod = kName + "-worker-0";
const std::string kOtherPod = kName + "-worker-1";

class DirectLauncherTest : public testing::Test {
 protected:
  DirectLauncherTest() {
    base::Json owner = manifests(1).owner(std::chrono::seconds(60));
    owner["metadata"]["uid"] = test::wine_owner().uid;
    cluster.objects[owner_path(test::wine_job())] = owner;
    base::Json pod = {{"metadata",
                       {{"name", kName + "-owner-x7k2p"},
                        {"uid", "u-master"},
                        {"labels", {{kJobLabel, kName}, {kMasterLabel, "1"}}},
                        {"ownerReferences", {{{"name", kName + "-owner"}, {"uid", "u-1"}}}}}}};
    cluster.objects["/api/v1/namespaces/lab/pods/" + kName + "-owner-x7k2p"] = std::move(pod);
  }

  static Manifests manifests(int master) {
    ManifestInput input = test::wine_job();
    edit_kubernetes(input.spec).agents = AgentsBy::kConfigMaps;
    input.agents =
        AgentPods{.source = by_config_maps(test::small_parts()), .master_number = master};
    return Manifests::make(std::move(input)).value();
  }

  // The master with this number takes the place of the one before.
  void begin(int master) {
    launcher.reset();
    let_in = 0;
    const PodLauncher::Options::Direct direct{.master = {"10.0.0.9", kMasterPort},
                                              .owner = test::wine_owner(),
                                              .let_agents_in = [this] { ++let_in; },
                                              .is_in_office = [this] { return is_in_office; },
                                              .master_lost = std::chrono::minutes(5)};
    launcher.emplace(
        loop, log, cluster, manifests(master),
        PodLauncher::Options{.random = [] { return 0.0; },
                             .master_attempt = master,
                             .is_checked = [](const std::string&) { return true; },
                             .on_checked = [](const std::string&, const std::string&) {},
                             .direct = direct});
    launcher->on_event([this](const cluster::LaunchEvent& event) {
      if (const auto* there = std::get_if<cluster::AgentAllocated>(&event)) {
        told.push_back("allocated " + job::to_string(there->task));
        handles[there->task] = there->handle;
      }
      if (const auto* end = std::get_if<job::AgentEnded>(&event)) {
        told.push_back(base::format("ended {}: {}", job::to_string(end->task), to_words(end->why)));
      }
    });
  }
  void start(const job::TaskId& task, int attempt = 1) {
    launcher->start(
        task, attempt,
        {.resources = {},
         .wanted = {},
         .agent_config = {{"master_port", kMasterPort}, {"secret", std::string(64, 's')}}});
  }
  // The first master has its gang.
  void bring_up_all() {
    begin(1);
    start(kOne);
    start(kOther);
    ASSERT_TRUE(until([&] { return cluster.has_pod(kOnePod) && cluster.has_pod(kOtherPod); }));
    EXPECT_EQ(let_in, 0);
    for (const std::string& pod : {kOnePod, kOtherPod}) {
      cluster.place(pod, "n1");
      cluster.run(pod);
    }
    ASSERT_TRUE(until([&] { return told.size() == 2; }));
  }
  bool until(const std::function<bool()>& done) { return loop.run_until(done, base::soon()); }
  // All that is on its way is done.
  void settle() {
    for (int i = 0; i < 20; ++i) {
      bool has_run = false;
      const net::Timer timer = loop.after(std::chrono::milliseconds(1), [&] { has_run = true; });
      ASSERT_TRUE(until([&] { return has_run; }));
    }
  }
  std::string uid(const std::string& pod) { return uid_of(cluster.pod(pod)); }

  net::EventLoop loop;
  base::LogRecorder log;
  TestCluster cluster{loop};
  std::vector<std::string> told;
  std::map<job::TaskId, base::Json> handles;
  int let_in = 0;
  bool is_in_office = true;
  std::optional<PodLauncher> launcher;
};

TEST_F(DirectLauncherTest, AgentsKnowTheMasterAndAreLetInWhenAllHaveANode) {
  bring_up_all();
  EXPECT_THAT(told, ElementsAre("allocated worker:0", "allocated worker:1"));
  EXPECT_GT(let_in, 0);
  EXPECT_FALSE(cluster.has_pod(kName + "-relay"));
  const base::Json& pod = cluster.pod(kOnePod);
  EXPECT_THAT(pod["spec"]["containers"][0]["command"].get<std::vector<std::string>>(),
              Contains("10.0.0.9:17403"));
  EXPECT_EQ(pod["metadata"]["labels"][kMadeByLabel], "1");
  EXPECT_TRUE(cluster.objects.contains("/api/v1/namespaces/lab/secrets/" + kName + "-agent-1"));
  EXPECT_EQ(handles[kOne], (base::Json{{"pod", kOnePod}, {"uid", uid(kOnePod)}}));
}

TEST_F(DirectLauncherTest, TheNextMasterHasThePodsOfItsAgentsAndNoOthers) {
  bring_up_all();
  told.clear();
  const std::string old = uid(kOtherPod);
  begin(2);
  launcher->adopt(kOne, 1, handles[kOne]);
  launcher->adopt(kOther, 1, {{"pod", kOtherPod}, {"uid", "u-of-another"}});
  launcher->release_others();
  ASSERT_TRUE(until([&] { return !told.empty() && !cluster.has_pod(kOtherPod); }));
  EXPECT_THAT(told, ElementsAre(HasSubstr("ended worker:1: lost its container: its pod is gone")));
  EXPECT_GT(let_in, 0);
  EXPECT_EQ(uid(kOnePod), handles[kOne]["uid"]);
  start(kOther, 2);
  ASSERT_TRUE(until([&] { return cluster.has_pod(kOtherPod); }));
  EXPECT_NE(uid(kOtherPod), old);
  EXPECT_EQ(cluster.pod(kOtherPod)["metadata"]["labels"][kMadeByLabel], "2");
  EXPECT_TRUE(cluster.objects.contains("/api/v1/namespaces/lab/secrets/" + kName + "-agent-2"));
}

// Its agent has the address of a master that is gone, and has told nobody where it is.
TEST_F(DirectLauncherTest, APodOfAnEarlierMasterIsNoneForARunThatBegins) {
  begin(1);
  start(kOne);
  ASSERT_TRUE(until([&] { return cluster.has_pod(kOnePod); }));
  const std::string old = uid(kOnePod);
  begin(2);
  launcher->release_others();
  start(kOne);
  ASSERT_TRUE(until([&] { return cluster.has_pod(kOnePod) && uid(kOnePod) != old; }));
  EXPECT_EQ(cluster.pod(kOnePod)["metadata"]["labels"][kMadeByLabel], "2");
}

TEST_F(DirectLauncherTest, TheEndLeavesTheOwnerAndTheMasterWhereTheyAre) {
  bring_up_all();
  std::optional<base::Result<>> cleared;
  launcher->clear([&](base::Result<> done) { cleared.emplace(std::move(done)); });
  ASSERT_TRUE(until([&] { return cleared.has_value(); }));
  EXPECT_TRUE(cleared->ok()) << cleared->error().message;
  EXPECT_FALSE(cluster.has_pod(kOnePod));
  EXPECT_FALSE(cluster.has_pod(kOtherPod));
  EXPECT_TRUE(cluster.has_pod(kName + "-owner-x7k2p"));
  EXPECT_TRUE(cluster.objects.contains(owner_path(test::wine_job())));
}

TEST_F(DirectLauncherTest, WhoIsInOfficeNoMoreMakesAndDeletesNothing) {
  bring_up_all();
  is_in_office = false;
  launcher->stop(kOne, 1, std::chrono::milliseconds(0));
  settle();
  EXPECT_TRUE(cluster.has_pod(kOnePod));
  cluster.remove(kOtherPod);
  ASSERT_TRUE(until([&] { return told.size() > 2; }));
  start(kOther, 2);
  settle();
  EXPECT_FALSE(cluster.has_pod(kOtherPod));
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
