#include "kubernetes/commands/kubernetes_doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "client/test_context.h"
#include "kubernetes/commands/kubernetes_place.h"
#include "kubernetes/pods/kubernetes_options.h"

namespace gangrun::kubernetes::commands {
namespace {

using cluster::Verdict;
using testing::HasSubstr;

struct KubernetesDoctor : testing::Test {
  client::TestContext test{std::vector<client::Place>{kubernetes_place()}};
  client::Context& context = test.context();
};

TEST_F(KubernetesDoctor, AsksForAJobInTheNamespaceThatIsNamed) {
  const auto spec = plain_job({.name_space = "ml", .context = {}, .kubeconfig = "k"}, context);
  ASSERT_TRUE(spec.ok()) << spec.error().message;
  EXPECT_EQ(pods::kubernetes_of(*spec).name_space, "ml");
  EXPECT_EQ(pods::kubernetes_of(*spec).kubeconfig, "k");
  EXPECT_EQ(pods::kubernetes_of(*spec).context, "");
  EXPECT_FALSE(plain_job({.name_space = "M L", .context = {}, .kubeconfig = {}}, context).ok());
}

TEST_F(KubernetesDoctor, SaysHowAgentsComeAndWhy) {
  job::JobSpec spec;
  pods::edit_kubernetes(spec).agent_image = "a:1";
  EXPECT_EQ(check_of_agents(spec, context),
            (cluster::Check{"agents", Verdict::kOk,
                            "an agent runs beside each command, which a container of the image a:1 "
                            "brings (kubernetes.agent_image is given)"}));
  pods::edit_kubernetes(spec).agents = pods::AgentsBy::kNone;
  EXPECT_EQ(check_of_agents(spec, context).verdict, Verdict::kOk);
  // There is no agent's program beside the test.
  pods::edit_kubernetes(spec).agents = pods::AgentsBy::kConfigMaps;
  const cluster::Check check = check_of_agents(spec, context);
  EXPECT_EQ(check.verdict, Verdict::kFailed);
  EXPECT_THAT(check.found, HasSubstr("the agent program is missing"));
}

TEST_F(KubernetesDoctor, SaysThatNoKubeconfigLeadsToACluster) {
  const auto examined =
      look_at_cluster({.name_space = {}, .context = {}, .kubeconfig = "none"}, context);
  ASSERT_TRUE(examined.ok()) << examined.error().message;
  ASSERT_EQ(examined->checks.size(), 2U);
  EXPECT_EQ(examined->checks[1].name, "cluster");
  EXPECT_EQ(examined->checks[1].verdict, Verdict::kFailed);
  EXPECT_TRUE(examined->is_whole);
}

}  // namespace
}  // namespace gangrun::kubernetes::commands
