#include "kubernetes/pods/gang_scheduling.h"

#include <gmock/gmock.h>

#include "kubernetes/pods/kubernetes_options.h"
#include "kubernetes/pods/manifests_for_tests.h"

namespace gangrun::kubernetes::pods {
namespace {

using base::Json;
using testing::ElementsAre;
using testing::HasSubstr;

ManifestInput gang_job(GangScheduling scheduling) {
  ManifestInput input = test::wine_job();
  input.spec.tasks = {test::tasks_of("chief", 1), test::tasks_of("worker", 3),
                      test::tasks_of("tensorboard", 1)};
  input.spec.tasks[1].min_instances = 2;
  edit_kubernetes(input.spec).queue = "gpus";
  input.gang_scheduling = scheduling;
  return input;
}

Json joined(GangScheduling scheduling, const job::TaskId& task) {
  Json pod = {{"metadata", {{"name", "p"}}}, {"spec", Json::object()}};
  join_gang(gang_job(scheduling), task, pod);
  return pod;
}

TEST(GangScheduling, IsOfTheTasksThatTheGangNeeds) {
  EXPECT_THAT(
      gang_of(gang_job(GangScheduling::kHold).spec),
      ElementsAre(job::TaskId{"chief", 0}, job::TaskId{"worker", 0}, job::TaskId{"worker", 1}));
}

TEST(GangScheduling, ByKueueIsLabels) {
  const Json pod = joined(GangScheduling::kKueue, {"worker", 1});
  EXPECT_EQ(pod["metadata"]["labels"],
            (Json{{"kueue.x-k8s.io/queue-name", "gpus"},
                  {"kueue.x-k8s.io/pod-group-name", "wine-20260131-120000-3fa1"}}));
  EXPECT_EQ(pod["metadata"]["annotations"], (Json{{"kueue.x-k8s.io/pod-group-total-count", "3"}}));
  EXPECT_EQ(joined(GangScheduling::kKueue, {"worker", 2})["metadata"]["labels"],
            (Json{{"kueue.x-k8s.io/queue-name", "gpus"}}));
  EXPECT_EQ(gang_object(gang_job(GangScheduling::kKueue), test::wine_owner()), std::nullopt);
}

TEST(GangScheduling, ByVolcanoIsAPodGroup) {
  const Json group = gang_object(gang_job(GangScheduling::kVolcano), test::wine_owner()).value();
  EXPECT_EQ(group["apiVersion"], "scheduling.volcano.sh/v1beta1");
  EXPECT_EQ(group["spec"], (Json{{"minMember", 3}, {"queue", "gpus"}}));
  const Json pod = joined(GangScheduling::kVolcano, {"chief", 0});
  EXPECT_EQ(pod["metadata"]["annotations"],
            (Json{{"scheduling.k8s.io/group-name", group["metadata"]["name"]}}));
  EXPECT_EQ(pod["spec"], (Json{{"schedulerName", "volcano"}}));
  EXPECT_EQ(joined(GangScheduling::kVolcano, {"tensorboard", 0})["metadata"]["annotations"],
            (Json{{"scheduling.volcano.sh/queue-name", "gpus"}}));
}

TEST(GangScheduling, ByKubernetesItselfIsAWorkload) {
  const Json workload =
      gang_object(gang_job(GangScheduling::kWorkload), test::wine_owner()).value();
  EXPECT_EQ(workload["apiVersion"], "scheduling.k8s.io/v1alpha1");
  EXPECT_EQ(workload["spec"]["podGroups"].at(0),
            (Json{{"name", "gang"}, {"policy", {{"gang", {{"minCount", 3}}}}}}));
  EXPECT_EQ(joined(GangScheduling::kWorkload, {"worker", 0})["spec"]["workloadRef"],
            (Json{{"name", workload["metadata"]["name"]}, {"podGroup", "gang"}}));
  EXPECT_FALSE(joined(GangScheduling::kWorkload, {"worker", 2})["spec"].contains("workloadRef"));
}

TEST(GangScheduling, ByHoldingTellsNobody) {
  EXPECT_EQ(gang_object(gang_job(GangScheduling::kHold), test::wine_owner()), std::nullopt);
  EXPECT_EQ(joined(GangScheduling::kHold, {"worker", 0}),
            (Json{{"metadata", {{"name", "p"}}}, {"spec", Json::object()}}));
}

TEST(GangScheduling, NeedsAQueueForKueue) {
  ManifestInput input = gang_job(GangScheduling::kKueue);
  EXPECT_TRUE(check_gang_scheduling(input).ok());
  edit_kubernetes(input.spec).queue = "";
  EXPECT_THAT(check_gang_scheduling(input).error().message, HasSubstr("kubernetes.queue: "));
  input.gang_scheduling = GangScheduling::kWorkload;
  EXPECT_TRUE(check_gang_scheduling(input).ok());
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
