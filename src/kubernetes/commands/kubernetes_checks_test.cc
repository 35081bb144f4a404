#include "kubernetes/commands/kubernetes_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubernetes/pods/kubernetes_options.h"
#include "kubernetes/test_idle_client.h"

namespace gangrun::kubernetes::commands {
namespace {

using pods::GangScheduling;
using testing::HasSubstr;

base::Json groups(const std::string& name, const std::string& version) {
  return {{"groups", {{{"name", name}, {"versions", {{{"version", version}}}}}}}};
}

TEST(GangAbilities, AreTheGroupsOfTheCluster) {
  EXPECT_TRUE(gang_abilities(groups("kueue.x-k8s.io", "v1beta1")).has_kueue);
  EXPECT_TRUE(gang_abilities(groups("scheduling.volcano.sh", "v1beta1")).has_volcano);
  EXPECT_TRUE(gang_abilities(groups("scheduling.k8s.io", "v1alpha1")).has_workload);
  EXPECT_FALSE(gang_abilities(groups("scheduling.k8s.io", "v1")).has_workload);
  for (const base::Json& odd : {base::Json(), base::Json::array(), base::Json{{"groups", 1}},
                                base::Json{{"groups", {1, nullptr}}}}) {
    const GangAbilities none = gang_abilities(odd);
    EXPECT_FALSE(none.has_kueue || none.has_volcano) << odd;
  }
}

TEST(GangSchedulingOf, TakesWhatIsThere) {
  job::JobSpec spec;
  EXPECT_EQ(*gang_scheduling_of(spec, {}), GangScheduling::kHold);
  EXPECT_EQ(*gang_scheduling_of(spec, {.has_workload = true}), GangScheduling::kWorkload);
  // Without a queue it is not known that the user is one of Kueue's.
  EXPECT_EQ(*gang_scheduling_of(spec, {.has_kueue = true}), GangScheduling::kHold);
  pods::edit_kubernetes(spec).queue = "team";
  EXPECT_EQ(*gang_scheduling_of(spec, {.has_kueue = true}), GangScheduling::kKueue);
  EXPECT_EQ(*gang_scheduling_of(spec, {.has_volcano = true}), GangScheduling::kVolcano);
  EXPECT_THAT(gang_scheduling_of(spec, {}).error().message, HasSubstr("kubernetes.queue: 'team'"));
}

TEST(GangSchedulingOf, RefusesWhatIsNotThere) {
  job::JobSpec spec;
  for (const auto wanted :
       {GangScheduling::kKueue, GangScheduling::kVolcano, GangScheduling::kWorkload}) {
    pods::edit_kubernetes(spec).gang_scheduling = wanted;
    const auto refused = gang_scheduling_of(spec, {});
    ASSERT_FALSE(refused.ok());
    EXPECT_THAT(refused.error().message, HasSubstr("allowed here: auto, hold"));
    EXPECT_EQ(*gang_scheduling_of(spec, {true, true, true}), wanted);
  }
}

// Ctrl-C was answered only after the 15 s that a silent API server has.
TEST(CheckCluster, EndsWhenItIsCancelledThoughNoAnswerHasCome) {
  net::EventLoop loop;
  kubernetes::IdleClient silent("ns");
  bool is_cancelled = false;
  const auto timer = loop.after(base::milliseconds(1), [&] { is_cancelled = true; });
  const auto checked = check_cluster(loop, silent, {}, {}, loop.now() + std::chrono::hours(1),
                                     [&] { return is_cancelled; });
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(checked.error().code, base::Code::kCancelled);
}

}  // namespace
}  // namespace gangrun::kubernetes::commands
