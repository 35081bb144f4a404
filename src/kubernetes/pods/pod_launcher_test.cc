#include "kubernetes/pods/pod_launcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "base/overloaded.h"
#include "base/test_deadline.h"
#include "base/test_log.h"
#include "kubernetes/pods/agent_parts_for_tests.h"
#include "kubernetes/pods/hint_ports.h"
#include "kubernetes/pods/kubernetes_options.h"
#include "kubernetes/pods/manifests_for_tests.h"
#include "kubernetes/pods/test_cluster_internal.h"
#include "net/digests.h"

namespace gangrun::kubernetes::pods {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const job::TaskId kFirst{"worker", 0};
const job::TaskId kSecond{"worker", 1};
const std::string kJob = "wine-20260131-120000-3fa1";
const std::string kFirstPod = kJob + "-worker-0";
const std::string kSecondPod = kJob + "-worker-1";
const std::string kRelayPod = kJob + "-relay";
const base::Secret kJobSecret(std::string(64, 's'));

// Empty: of no interest here.
std::string told_words(const cluster::LaunchEvent& event) {
  return std::visit(
      base::Overloaded{
          [](const cluster::AgentAllocated& it) {
            return base::format("allocated {} on {}", job::to_string(it.task), it.host);
          },
          [](const cluster::PreemptionNotice& it) {
            return base::format("notice {}/{}: {}", job::to_string(it.task), it.attempt,
                                it.loss ? to_words(*it.loss) : "perhaps");
          },
          [](const cluster::LossesTold&) { return std::string("losses told"); },
          [](const job::AgentEnded& it) {
            return base::format("ended {}/{}: {}", job::to_string(it.task), it.attempt,
                                to_words(it.why));
          },
          [](const gang::ClusterGone& it) { return "gone: " + it.detail; },
          [](const cluster::TasksWarning& it) { return "warning: " + it.sentence; },
          [](const base::OneOf<gang::ClusterWaiting, gang::HostSilent, cluster::Remark> auto&) {
            return std::string();
          },
      },
      event);
}

class PodLauncherTest : public testing::Test {
 protected:
  PodLauncherTest() { launch(test::wine_job()); }
  void launch(ManifestInput input) {
    edit_kubernetes(input.spec).agents = AgentsBy::kConfigMaps;
    input.agents = AgentPods{.source = by_config_maps(test::small_parts())};
    launcher.emplace(
        loop, log, cluster, Manifests::make(std::move(input)).value(),
        PodLauncher::Options{.random = [] { return 0.0; },
                             .is_checked = [](const std::string&) { return false; },
                             .on_checked = [](const std::string&, const std::string&) {}});
    launcher->on_event([this](const cluster::LaunchEvent& event) {
      if (std::string words = told_words(event); !words.empty()) told.push_back(std::move(words));
    });
  }

  bool until(const std::function<bool()>& done) { return loop.run_until(done, base::soon()); }
  bool until_told(const std::string& words) {
    return until([&] { return testing::Matches(Contains(HasSubstr(words)))(told); });
  }
  bool until_there(const std::string& pod) {
    return until([&] { return cluster.has_pod(pod); });
  }
  void start(const job::TaskId& task, int attempt = 1) {
    launcher->start(task, attempt,
                    {.resources = {},
                     .wanted = {},
                     .agent_config = {{"master_port", 4711}, {"secret", kJobSecret.reveal()}}});
  }
  // So many streams to this port of a pod have been asked for.
  [[nodiscard]] std::ptrdiff_t streams_to(const std::string& pod, int port) const {
    return std::ranges::count(cluster.asked, base::format("lab/{}:{}", pod, port));
  }
  TestPod& last_stream_to(const std::string& pod, int port) {
    std::size_t found = cluster.asked.size();
    const std::string wanted = base::format("lab/{}:{}", pod, port);
    while (found > 0 && cluster.asked[found - 1] != wanted) --found;
    EXPECT_GT(found, 0U);
    return cluster.pods[found - 1];
  }
  [[nodiscard]] base::Secret token() const {
    const base::Json& secret =
        cluster.objects.at(base::format("/api/v1/namespaces/lab/secrets/{}-agent", kJob));
    return base::Secret(*net::from_base64(secret.at("data").at("token").get<std::string>()));
  }
  // The relay gets a node, and listens; the so-many-th one.
  TestPod& bring_up_relay(const std::string& address, std::ptrdiff_t count = 1) {
    EXPECT_TRUE(until_there(kRelayPod));
    cluster.place(kRelayPod, "n1");
    cluster.run(kRelayPod);
    EXPECT_TRUE(until([&] { return streams_to(kRelayPod, kRelayClientPort) == count; }));
    TestPod& stream = last_stream_to(kRelayPod, kRelayClientPort);
    prove(stream, token(), kRelayGreeting);
    stream.say(to_bytes(HereFrame{address}));
    return stream;
  }
  // The gang has its nodes, and every agent its session.
  void bring_up_all() {
    start(kFirst);
    start(kSecond);
    bring_up_relay("10.0.0.7:17400");
    ASSERT_TRUE(until_there(kFirstPod) && until_there(kSecondPod));
    for (const std::string& pod : {kFirstPod, kSecondPod}) {
      cluster.place(pod, "n1");
      cluster.run(pod);
    }
    ASSERT_TRUE(until_told("allocated worker:1"));
    for (const job::TaskId& task : {kFirst, kSecond}) launcher->on_session_open(task);
    told.clear();
  }
  void clear() {
    std::optional<base::Result<>> cleared;
    launcher->clear([&](base::Result<> done) { cleared.emplace(std::move(done)); });
    ASSERT_TRUE(until([&] { return cleared.has_value(); }));
    EXPECT_TRUE(cleared->ok()) << cleared->error().message;
    EXPECT_THAT(cluster.objects, IsEmpty());
  }
  [[nodiscard]] std::vector<std::string> command_of(const std::string& pod) {
    return cluster.pod(pod)["spec"]["containers"].at(0)["command"].get<std::vector<std::string>>();
  }

  net::EventLoop loop;
  base::LogRecorder log;
  TestCluster cluster{loop};
  std::vector<std::string> told;
  std::optional<PodLauncher> launcher;
};

TEST_F(PodLauncherTest, AgentsReachTheMasterWhenAllOfTheGangHaveANode) {
  start(kFirst);
  start(kSecond);
  TestPod& relay = bring_up_relay("10.0.0.7:17400");
  ASSERT_TRUE(until_there(kFirstPod) && until_there(kSecondPod));
  cluster.place(kFirstPod, "n1");
  cluster.run(kFirstPod);
  cluster.place(kSecondPod, "n2");
  ASSERT_TRUE(until_told("allocated worker:1 on n2"));
  EXPECT_THAT(told, ElementsAre("allocated worker:0 on n1", "allocated worker:1 on n2"));
  ASSERT_TRUE(until([&] { return !relay.sent.empty(); }));
  EXPECT_THAT(taken_frames(relay), Contains(to_bytes(CarryFrame{})));
  clear();
}

TEST_F(PodLauncherTest, NobodyIsThereBeforeTheLastOfTheGangHasANode) {
  start(kFirst);
  start(kSecond);
  TestPod& relay = bring_up_relay("10.0.0.7:17400");
  ASSERT_TRUE(until_there(kFirstPod) && until_there(kSecondPod));
  cluster.place(kFirstPod, "n1");
  cluster.run(kFirstPod);
  bool has_run = false;
  loop.post([&] { has_run = true; });
  ASSERT_TRUE(until([&] { return has_run; }));
  EXPECT_THAT(told, IsEmpty());
  EXPECT_THAT(taken_frames(relay), Not(Contains(to_bytes(CarryFrame{}))));
  clear();
}

TEST_F(PodLauncherTest, ARelayThatIsGoneIsReplacedAndItsAgentsAreToldWhereTheNewOneIs) {
  bring_up_all();
  const std::string old = cluster.pod(kRelayPod)["metadata"]["uid"].get<std::string>();
  cluster.remove(kRelayPod);
  for (const job::TaskId& task : {kFirst, kSecond}) launcher->on_session_lost(task, std::nullopt);
  bring_up_relay("10.0.0.8:17400", 2);
  EXPECT_NE(cluster.pod(kRelayPod)["metadata"]["uid"].get<std::string>(), old);
  const std::ptrdiff_t before = streams_to(kFirstPod, kHintPort);
  ASSERT_TRUE(until([&] { return streams_to(kFirstPod, kHintPort) > before; }));
  TestPod& agent = last_stream_to(kFirstPod, kHintPort);
  prove(agent, kJobSecret, kAgentGreeting);
  EXPECT_THAT(taken_frames(agent), Contains(to_bytes(HintFrame{1, "10.0.0.8:17400"})));
  EXPECT_THAT(told, IsEmpty());
  clear();
}

TEST_F(PodLauncherTest, ARelayThatTheNamespaceDoesNotTakeEndsTheJobWithTheFieldsToSet) {
  cluster.refused[kRelayPod] =
      base::Error{base::Code::kPermissionDenied,
                  "the API server says \"pods is forbidden: minimum memory usage per Container is "
                  "128Mi, but request is 32Mi\""};
  start(kFirst);
  start(kSecond);
  ASSERT_TRUE(until_told("gone: "));
  EXPECT_THAT(told, Contains(testing::AllOf(
                        HasSubstr(base::format("the pod {} cannot be created", kRelayPod)),
                        HasSubstr("per Container is 128Mi"),
                        HasSubstr("; kubernetes.relay.memory and kubernetes.relay.vcores say"))));
  clear();
}

TEST_F(PodLauncherTest, APodThatSomebodyDeletesIsToldBeforeItsEndAndMadeAgain) {
  bring_up_all();
  cluster.take(kSecondPod, 30);
  ASSERT_TRUE(until_told("notice"));
  const std::string loss =
      base::format("lost its container: pod {}: somebody deleted it", kSecondPod);
  EXPECT_THAT(told, ElementsAre("notice worker:1/1: " + loss));
  launcher->on_session_lost(kSecond, std::nullopt);
  cluster.remove(kSecondPod);
  ASSERT_TRUE(until_told("ended"));
  EXPECT_EQ(told.back(), "ended worker:1/1: " + loss);
  start(kSecond, 2);
  ASSERT_TRUE(until_there(kSecondPod));
  EXPECT_EQ(cluster.pod(kSecondPod)["metadata"]["labels"][kAttemptLabel].get<std::string>(), "2");
  EXPECT_THAT(command_of(kSecondPod), Contains("10.0.0.7:17400"));
  cluster.place(kSecondPod, "n2");
  EXPECT_TRUE(until_told("allocated worker:1 on n2"));
  clear();
}

// The peer that broke for want of it was heard of first, and used up a restart.
TEST_F(PodLauncherTest, WhatTheWatchIsBehindWithIsToldWhenALossIsLookedFor) {
  bring_up_all();
  ASSERT_TRUE(launcher->look_for_losses());
  ASSERT_TRUE(until_told("losses told"));
  EXPECT_THAT(told, ElementsAre("losses told"));
  told.clear();
  cluster.pod(kSecondPod)["metadata"]["deletionTimestamp"] = "2026-01-31T12:00:30Z";
  ASSERT_TRUE(launcher->look_for_losses());
  ASSERT_TRUE(until_told("losses told"));
  EXPECT_THAT(told, ElementsAre(base::format("notice worker:1/1: lost its container: pod {}: "
                                             "somebody deleted it",
                                             kSecondPod),
                                "losses told"));
  // The watch goes on from there.
  cluster.remove(kSecondPod);
  ASSERT_TRUE(until_told("ended worker:1/1"));
  clear();
  EXPECT_FALSE(launcher->look_for_losses());
}

// A failure of another task may have told its end: the old pod still has its time.
TEST_F(PodLauncherTest, TheNextAgentWaitsForThePodThatIsBeingDeleted) {
  bring_up_all();
  cluster.take(kSecondPod, 30);
  ASSERT_TRUE(until_told("notice"));
  const std::string old = cluster.pod(kSecondPod)["metadata"]["uid"].get<std::string>();
  start(kSecond, 2);
  bool has_run = false;
  loop.post([&] { has_run = true; });
  ASSERT_TRUE(until([&] { return has_run; }));
  EXPECT_EQ(cluster.pod(kSecondPod)["metadata"]["uid"].get<std::string>(), old);
  cluster.remove(kSecondPod);
  ASSERT_TRUE(until_there(kSecondPod));
  EXPECT_EQ(cluster.pod(kSecondPod)["metadata"]["labels"][kAttemptLabel].get<std::string>(), "2");
  EXPECT_THAT(told, Not(Contains(HasSubstr("ended"))));
  clear();
}

// It was told to a link that was no more there.
TEST_F(PodLauncherTest, NothingIsToldAfterClear) {
  start(kFirst);
  start(kSecond);
  ASSERT_TRUE(until_there(kRelayPod) && until_there(kFirstPod) && until_there(kSecondPod));
  for (const std::string& pod : {kRelayPod, kFirstPod, kSecondPod}) cluster.place(pod, "n1");
  // The events are on their way.
  clear();
  EXPECT_FALSE(launcher->on_session_open(kFirst));
  launcher->on_session_lost(kFirst, std::nullopt);
  EXPECT_THAT(told, IsEmpty());
}

TEST_F(PodLauncherTest, OneThatWaitsForANodeCanBeStopped) {
  start(kFirst);
  ASSERT_TRUE(until_there(kFirstPod));
  launcher->stop(kFirst, 1, std::chrono::milliseconds(0));
  ASSERT_TRUE(until_told("ended"));
  EXPECT_THAT(told, ElementsAre("ended worker:0/1: was stopped"));
  EXPECT_FALSE(cluster.has_pod(kFirstPod));
  clear();
}

// Kueue keeps a pod that is deleted until another one is there, which has the same name here.
TEST_F(PodLauncherTest, KueueLetsGoOfThePodsThatAreDeleted) {
  ManifestInput input = test::wine_job();
  edit_kubernetes(input.spec).queue = "ml";
  input.gang_scheduling = GangScheduling::kKueue;
  launcher.reset();
  launch(std::move(input));
  bring_up_all();
  for (const std::string& pod : {kFirstPod, kSecondPod}) {
    cluster.pod(pod)["metadata"]["finalizers"] = {"kueue.x-k8s.io/managed"};
  }
  const std::string old = cluster.pod(kSecondPod)["metadata"]["uid"].get<std::string>();
  cluster.take(kSecondPod, 30);
  ASSERT_TRUE(until_told("ended worker:1/1"));
  start(kSecond, 2);
  ASSERT_TRUE(until_there(kSecondPod));
  EXPECT_NE(cluster.pod(kSecondPod)["metadata"]["uid"].get<std::string>(), old);
  clear();
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
