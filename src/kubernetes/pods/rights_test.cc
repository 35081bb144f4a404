#include "kubernetes/pods/rights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gangrun::kubernetes::pods {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Not;

TEST(ClientRights, AskForNoMoreThanTheJobNeeds) {
  job::JobSpec spec;
  edit_kubernetes(spec).agents = AgentsBy::kNone;
  const Right get_exec{"get", "", "pods", "exec"};
  const Right create_exec{"create", "", "pods", "exec"};
  EXPECT_THAT(client_rights(spec), AllOf(Not(Contains(get_exec)), Not(Contains(create_exec))));
  spec.outputs = {"model"};
  EXPECT_THAT(client_rights(spec), AllOf(Contains(get_exec), Contains(create_exec)));
  edit_kubernetes(spec).agents = AgentsBy::kConfigMaps;
  EXPECT_THAT(client_rights(spec), Not(Contains(get_exec)));
  edit_kubernetes(spec).gang_scheduling = GangScheduling::kVolcano;
  EXPECT_THAT(client_rights(spec), Contains(Right{"create", "scheduling.volcano.sh", "podgroups"}));
  edit_kubernetes(spec).gang_scheduling = GangScheduling::kWorkload;
  EXPECT_THAT(client_rights(spec), Contains(Right{"create", "scheduling.k8s.io", "workloads"}));
}

TEST(ClientRights, AgentsNeedConfigMapsOnlyWhereTheyComeByThem) {
  const Right patch_maps{"patch", "", "configmaps", "", true};
  const Right forward{"create", "", "pods", "portforward", true};
  job::JobSpec spec;
  EXPECT_THAT(client_rights(spec), AllOf(Contains(patch_maps), Contains(forward)));
  KubernetesOptions& own = edit_kubernetes(spec);
  own.agents = AgentsBy::kNone;
  EXPECT_THAT(client_rights(spec), AllOf(Not(Contains(patch_maps)), Not(Contains(forward))));
  own.agents = AgentsBy::kConfigMaps;
  EXPECT_THAT(client_rights(spec), AllOf(Contains(patch_maps), Contains(forward)));
  own.agents = AgentsBy::kImage;
  EXPECT_THAT(client_rights(spec), AllOf(Not(Contains(patch_maps)), Contains(forward)));
}

TEST(Rights, KueueMayKeepPodsOfWhoMakesThem) {
  const Right patch_pods{"patch", "", "pods"};
  job::JobSpec spec;
  KubernetesOptions& own = edit_kubernetes(spec);
  EXPECT_THAT(client_rights(spec), Not(Contains(patch_pods)));
  EXPECT_THAT(master_rights(spec), Not(Contains(patch_pods)));
  own.queue = "ml";
  EXPECT_THAT(client_rights(spec), Contains(patch_pods));
  EXPECT_THAT(master_rights(spec), Contains(patch_pods));
  EXPECT_THAT(detached_client_rights(spec), Not(Contains(patch_pods)));
  own.gang_scheduling = GangScheduling::kVolcano;
  EXPECT_THAT(client_rights(spec), Not(Contains(patch_pods)));
}

TEST(Right, IsWrittenAsARoleHasIt) {
  EXPECT_EQ(to_string({"create", "", "pods", "exec"}), "create pods/exec");
  EXPECT_EQ(to_string({"patch", "batch", "jobs"}), "patch jobs.batch");
  const auto review = access_review({"get", "", "pods", "log"}, "ml");
  EXPECT_EQ(
      review["spec"]["resourceAttributes"],
      (base::Json{
          {"namespace", "ml"}, {"verb", "get"}, {"resource", "pods"}, {"subresource", "log"}}));
}

TEST(DeniedBy, IsWhatAReviewDoesNotAllow) {
  const std::vector<Right> rights = {{"get", "", "pods"}, {"list", "", "pods"}, {"get", "", "x"}};
  const auto review = [](const base::Json& status) {
    return base::Result<base::Json>(base::Json{{"status", status}});
  };
  std::vector<base::Result<base::Json>> reviews = {review({{"allowed", false}}),
                                                   review({{"allowed", true}}), review({})};
  const auto denied = denied_by(reviews, rights);
  ASSERT_TRUE(denied.ok()) << denied.error().message;
  EXPECT_EQ(*denied, (std::vector<Right>{rights[0], rights[2]}));
  reviews[1] = base::unavailable("no answer");
  EXPECT_EQ(denied_by(reviews, rights).error().message, "no answer");
}

// The client makes no pods, and a master reads no Secret.
TEST(DetachedRights, AreSharedByClientAndMaster) {
  const job::JobSpec spec;
  EXPECT_THAT(detached_client_rights(spec), AllOf(Contains(Right{"create", "batch", "jobs"}),
                                                  Contains(Right{"create", "", "secrets"}),
                                                  Not(Contains(Right{"create", "", "pods"}))));
  EXPECT_THAT(master_rights(spec), AllOf(Contains(Right{"create", "", "pods"}),
                                         Not(Contains(Right{"create", "batch", "jobs"}))));
  for (const char* verb : {"get", "list", "watch"}) {
    EXPECT_THAT(master_rights(spec), Not(Contains(Right{verb, "", "secrets"}))) << verb;
  }
}

TEST(RoleOf, IsWhatKubectlApplies) {
  EXPECT_EQ(role_of({{"create", "", "pods"}, {"get", "batch", "jobs"}, {"delete", "", "pods"}},
                    "lab", "leader"),
            R"(---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: leader
  namespace: lab
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: leader
  namespace: lab
rules:
- apiGroups:
  - ""
  resources:
  - pods
  verbs:
  - create
  - delete
- apiGroups:
  - batch
  resources:
  - jobs
  verbs:
  - get
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: leader
  namespace: lab
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: leader
subjects:
- kind: ServiceAccount
  name: leader
  namespace: lab
)");
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
