#include "kubernetes/pods/pod_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubernetes/pods/manifests.h"

namespace gangrun::kubernetes::pods {
namespace {

using base::Json;
using testing::SizeIs;

Json running_pod() {
  return Json::parse(R"({
    "metadata": {"name": "j-worker-3", "uid": "u1",
                 "labels": {"gangrun/job": "j", "gangrun/task": "worker-3", "gangrun/attempt": "2"}},
    "spec": {"nodeName": "node-1"},
    "status": {
      "phase": "Running",
      "conditions": [{"type": "PodScheduled", "status": "True"}],
      "containerStatuses": [
        {"name": "outputs", "state": {"running": {"startedAt": "2026-01-31T12:00:00Z"}}},
        {"name": "task", "image": "tf:2.15",
         "state": {"running": {"startedAt": "2026-01-31T12:00:00Z"}}}]}})");
}

TEST(PodFacts, ARunningPod) {
  const PodFacts facts = pod_facts(running_pod(), "task");
  EXPECT_EQ(facts.name, "j-worker-3");
  EXPECT_EQ(facts.uid, "u1");
  EXPECT_EQ(facts.job, "j");
  EXPECT_EQ(facts.attempt, 2);
  EXPECT_TRUE(facts.is_scheduled());
  EXPECT_FALSE(facts.is_over());
  EXPECT_FALSE(facts.is_deleting);
  EXPECT_EQ(facts.task.state, ContainerFacts::State::kRunning);
  EXPECT_TRUE(facts.task.has_run);
  EXPECT_EQ(facts.task.image, "tf:2.15");
}

TEST(PodFacts, TheTasksContainerIsTheOneThatIsNamed) {
  EXPECT_EQ(pod_facts(running_pod(), "outputs").task.image, "");
  EXPECT_EQ(pod_facts(running_pod(), "other").task.state, ContainerFacts::State::kUnknown);
}

TEST(PodFacts, WhyItHasNoNode) {
  Json waiting = running_pod();
  waiting["spec"].erase("nodeName");
  waiting["status"]["conditions"] = {
      {{"type", "PodScheduled"},
       {"status", "False"},
       {"reason", "Unschedulable"},
       {"message", "0/2 nodes are available:\n2 Insufficient cpu."}}};
  const PodFacts facts = pod_facts(waiting, "task");
  EXPECT_FALSE(facts.is_scheduled());
  EXPECT_TRUE(facts.is_seen_by_scheduler);
  waiting["status"].erase("conditions");
  waiting["spec"]["schedulerName"] = "nobody-s";
  EXPECT_FALSE(pod_facts(waiting, "task").is_seen_by_scheduler);
  EXPECT_EQ(pod_facts(waiting, "task").scheduler, "nobody-s");
  EXPECT_EQ(facts.unschedulable, "0/2 nodes are available: 2 Insufficient cpu.");
}

TEST(PodFacts, HowAContainerEnded) {
  Json ended = running_pod();
  ended["status"]["containerStatuses"][1]["state"] = {{"terminated",
                                                       {{"exitCode", 137},
                                                        {"reason", "OOMKilled"},
                                                        {"startedAt", "2026-01-31T12:00:00Z"},
                                                        {"finishedAt", "2026-01-31T12:00:05Z"}}}};
  const ContainerFacts task = pod_facts(ended, "task").task;
  EXPECT_EQ(task.state, ContainerFacts::State::kTerminated);
  EXPECT_EQ(task.exit_code, 137);
  EXPECT_EQ(task.reason, "OOMKilled");
  EXPECT_TRUE(task.has_run);
  ASSERT_TRUE(task.finished_at);
  EXPECT_EQ(*task.finished_at, base::WallTime(std::chrono::seconds(1769860805)));
}

// It was a success.
TEST(PodFacts, AStatusThatIsNoneIsAFailure) {
  for (const Json& status : {Json("0"), Json(0.5), Json(1UL << 63U), Json(1 << 20), Json()}) {
    Json ended = running_pod();
    ended["status"]["containerStatuses"][1]["state"] = {{"terminated", {{"exitCode", status}}}};
    EXPECT_EQ(pod_facts(ended, "task").task.exit_code, 1) << status;
  }
  Json ended = running_pod();
  ended["status"]["containerStatuses"][1]["state"] = {{"terminated", Json::object()}};
  EXPECT_EQ(pod_facts(ended, "task").task.exit_code, 1);
}

TEST(PodFacts, ThatItIsTakenAway) {
  Json taken = running_pod();
  taken["metadata"]["deletionTimestamp"] = "2026-01-31T12:00:30Z";
  taken["metadata"]["deletionGracePeriodSeconds"] = 30;
  taken["status"]["conditions"].push_back({{"type", "DisruptionTarget"},
                                           {"status", "True"},
                                           {"reason", "PreemptionByScheduler"},
                                           {"message", "preempting to accommodate a higher one"}});
  const PodFacts facts = pod_facts(taken, "task");
  EXPECT_TRUE(facts.is_deleting);
  EXPECT_EQ(facts.deletion_grace, std::chrono::seconds(30));
  EXPECT_EQ(facts.disruption, "PreemptionByScheduler");
}

TEST(PodFacts, ThatKueueTakesItAway) {
  const Json pod = {{"status",
                     {{"conditions",
                       {{{"type", "TerminationTarget"},
                         {"status", "True"},
                         {"reason", "WorkloadEvictedDueToPreempted"},
                         {"message", "Preempted to accommodate a workload"}}}}}}};
  const PodFacts facts = pod_facts(pod, "task");
  EXPECT_TRUE(facts.is_taken_by_kueue);
  EXPECT_EQ(facts.disruption, "WorkloadEvictedDueToPreempted");
  EXPECT_EQ(facts.disruption_message, "Preempted to accommodate a workload");
}

TEST(PodFacts, TheFirstGateThatKeepsItFromSchedulers) {
  const Json gates = Json::array({{{"name", "kueue.x-k8s.io/admission"}}, {{"name", "other"}}});
  EXPECT_EQ(pod_facts({{"spec", {{"schedulingGates", gates}}}}, "task").gate,
            "kueue.x-k8s.io/admission");
  EXPECT_EQ(pod_facts({{"spec", {{"schedulingGates", {1}}}}}, "task").gate, "");
  EXPECT_EQ(pod_facts({{"spec", Json::object()}}, "task").gate, "");
}

// As MarkPodsNotReady of Kubernetes' node controller leaves it.
TEST(PodFacts, ThatNothingIsHeardOfItsNode) {
  Json pod = running_pod();
  pod["status"]["conditions"].push_back({{"type", "Ready"}, {"status", "True"}});
  EXPECT_FALSE(pod_facts(pod, "task").is_node_lost);
  Json& ready = pod["status"]["conditions"].back();
  ready["status"] = "False";
  EXPECT_TRUE(pod_facts(pod, "task").is_node_lost);
  ready["reason"] = "ContainersNotReady";
  EXPECT_FALSE(pod_facts(pod, "task").is_node_lost);
  ready.erase("reason");
  pod["status"]["phase"] = "Failed";
  EXPECT_FALSE(pod_facts(pod, "task").is_node_lost);
}

TEST(PodFacts, NothingOfWhatIsOfAnotherType) {
  for (const char* text :
       {"null", "1", "[]", "{}", R"({"metadata": 1, "status": []})",
        R"({"metadata": {"labels": [], "name": 5, "deletionGracePeriodSeconds": "x"}})",
        R"({"metadata": {"labels": {"gangrun/attempt": "99999999999"}}})",
        R"({"status": {"containerStatuses": {"name": "task"}, "conditions": [1, null]}})",
        R"({"status": {"containerStatuses": [{"name": "task", "state": {"terminated": 3}}]}})",
        R"({"metadata": {"deletionGracePeriodSeconds": 18446744073709551615}})"}) {
    const PodFacts facts = pod_facts(Json::parse(text), "task");
    EXPECT_EQ(facts.name, "");
    EXPECT_EQ(facts.attempt, 0);
    EXPECT_EQ(facts.deletion_grace.count(), 0);
    const bool has_ended = facts.task.state == ContainerFacts::State::kTerminated;
    EXPECT_EQ(facts.task.exit_code, has_ended ? 1 : 0);
  }
}

TEST(PodFacts, TextsAreLimited) {
  Json talkative = running_pod();
  talkative["status"]["message"] = std::string(10'000, 'x');
  EXPECT_LT(pod_facts(talkative, "task").message.size(), 1000U);
  Json many = running_pod();
  for (int i = 0; i < 1000; ++i) many["status"]["initContainerStatuses"].push_back(Json::object());
  EXPECT_THAT(pod_facts(many, "task").init, SizeIs(64));
}

TEST(LatestWarning, IsTheLastOne) {
  const Json events = Json::parse(R"({"items": [
    {"type": "Warning", "lastTimestamp": "2026-01-31T12:00:05Z", "message": "later"},
    {"type": "Warning", "lastTimestamp": "2026-01-31T12:00:01Z", "message": "earlier"},
    {"type": "Normal", "lastTimestamp": "2026-01-31T12:00:09Z", "message": "Pulling image"}, 7]})");
  EXPECT_EQ(latest_warning(events), "later");
  EXPECT_EQ(latest_warning(Json::object()), "");
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
