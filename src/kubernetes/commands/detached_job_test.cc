#include "kubernetes/commands/detached_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "client/test_context.h"
#include "kubernetes/pods/agent_pods.h"
#include "kubernetes/pods/manifests_for_tests.h"
#include "kubernetes/value_at.h"

namespace gangrun::kubernetes::commands {
namespace {

using base::Json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

pods::ManifestInput led_job() {
  pods::ManifestInput input = pods::test::wine_job();
  pods::KubernetesOptions& own = pods::edit_kubernetes(input.spec);
  own.agents = pods::AgentsBy::kImage;
  own.agent_image = "agents:1";
  own.master.service_account = "leader";
  input.agents = pods::AgentPods{.source = pods::by_image("agents:1")};
  return input;
}

TEST(DetachedJob, MayHaveWhatAMasterDoes) {
  client::RunOptions options;
  options.detach = true;
  job::JobSpec spec = led_job().spec;
  spec.restarts.max = 2;
  spec.outputs = {"model"};
  spec.timeouts.hold = std::chrono::seconds(7);
  EXPECT_TRUE(check_detached(options, spec).ok());
  spec.zookeeper.emplace();
  EXPECT_THAT(check_detached(options, spec).error().message,
              StartsWith("zookeeper is not allowed with --detach on kubernetes"));
  options.detach = false;
  EXPECT_TRUE(check_detached(options, spec).ok());
}

TEST(DetachedJob, NeedsAgents) {
  client::RunOptions options;
  job::JobSpec spec = led_job().spec;
  pods::edit_kubernetes(spec).agents = pods::AgentsBy::kNone;
  EXPECT_TRUE(check_detached(options, spec).ok());
  options.detach = true;
  const auto refused = check_detached(options, spec);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, base::Code::kInvalidArgument);
  EXPECT_EQ(refused.error().message,
            "kubernetes.agents: none is not allowed with --detach, where a pod leads the job "
            "through the agents beside its commands; allowed: config_maps, image, or the same job "
            "without --detach");
  pods::edit_kubernetes(spec).agents.reset();
  EXPECT_TRUE(check_detached(options, spec).ok());
}

// The error is bad input, and what helps can be piped into kubectl.
TEST(DetachedJob, NeedsAnAccountForItsMaster) {
  client::TestContext test;
  job::JobSpec spec = led_job().spec;
  EXPECT_TRUE(check_master_account(spec, "lab", test.context()).ok());
  EXPECT_EQ(test.err(), "");
  pods::edit_kubernetes(spec).master = {};
  const auto refused = check_master_account(spec, "lab", test.context());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, base::Code::kInvalidArgument);
  EXPECT_THAT(refused.error().message, StartsWith("kubernetes.master.service_account: is missing"));
  EXPECT_THAT(test.err(), HasSubstr("\n---\napiVersion: v1\nkind: ServiceAccount\n"));
  EXPECT_THAT(test.err(), HasSubstr("kind: RoleBinding\n"));
}

TEST(DetachedJob, IsMadeOfAnOwnerWithAMasterAndItsRecords) {
  const auto manifests = pods::Manifests::make(led_job());
  ASSERT_TRUE(manifests.ok()) << manifests.error().message;
  const auto objects = detached_objects(*manifests);
  ASSERT_TRUE(objects.ok()) << objects.error().message;
  std::vector<std::string> kinds;
  for (const Json& object : *objects) kinds.emplace_back(text_at(object, {"kind"}));
  EXPECT_THAT(kinds, ElementsAre("Job", "Secret", "ConfigMap", "Service", "Pod", "Pod"));
  const Json& owner = objects->front();
  EXPECT_EQ(value_at(owner, {"spec", "parallelism"}), 0);
  EXPECT_EQ(text_at(owner, {"spec", "template", "spec", "serviceAccountName"}), "leader");
  const Json& head = objects->at(2);
  EXPECT_EQ(text_at(head, {"metadata", "name"}), "wine-20260131-120000-3fa1-head");
  EXPECT_EQ(text_at(head, {"metadata", "labels", "gangrun/records"}), "head");
  EXPECT_THAT(text_at(head, {"data", "head"}), HasSubstr("\"tasks\":2"));
}

}  // namespace
}  // namespace gangrun::kubernetes::commands
