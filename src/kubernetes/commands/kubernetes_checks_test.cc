#include "kubernetes/commands/kubernetes_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

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

class Reviewed final : public kubernetes::Activity {};

// An API server that has all that is requested, and refuses some rights.
class Reviewer final : public kubernetes::IdleClient {
 public:
  Reviewer(net::EventLoop& loop, std::vector<pods::Right> refused)
      : IdleClient("ml"), loop_(loop), refused_(std::move(refused)) {}

  [[nodiscard]] kubernetes::ActivityHandle request(
      kubernetes::Request request, base::Instant, std::function<void(ApiAnswer)> on_done) override {
    loop_.post([this, request = std::move(request), on_done = std::move(on_done)] {
      const bool is_refused = std::ranges::any_of(refused_, [&](const pods::Right& right) {
        return request.body == pods::access_review(right, "ml");
      });
      on_done({base::Json{{"status", {{"allowed", !is_refused}}}}, std::nullopt});
    });
    return std::make_unique<Reviewed>();
  }

 private:
  net::EventLoop& loop_;
  std::vector<pods::Right> refused_;
};

std::string refusal_by(std::vector<pods::Right> refused) {
  net::EventLoop loop;
  Reviewer server(loop, std::move(refused));
  const job::JobSpec spec;
  const auto checked = check_cluster(loop, server, spec, pods::client_rights(spec),
                                     loop.now() + std::chrono::seconds(20), [] { return false; });
  return checked.ok() ? "" : checked.error().message;
}

TEST(CheckCluster, SaysWhatAJobDoesWithoutThatMayHaveNoAgents) {
  const pods::Right forward{"create", "", "pods", "portforward"};
  EXPECT_EQ(refusal_by({}), "");
  EXPECT_THAT(refusal_by({forward}),
              testing::AllOf(HasSubstr("in the namespace 'ml' you have no right to create "
                                       "pods/portforward (docs"),
                             HasSubstr("; agents need that, and `--agents none` runs the job "
                                       "without them: without commands that begin together")));
  EXPECT_THAT(refusal_by({forward, {"create", "", "pods"}}),
              testing::AllOf(HasSubstr("no right to create pods, create pods/portforward (docs"),
                             testing::Not(HasSubstr("--agents none"))));
}

TEST(MissingRights, AreThoseThatTheServerRefuses) {
  net::EventLoop loop;
  Reviewer server(loop, {{"patch", "", "configmaps"}});
  const auto missing = missing_rights(loop, server, pods::client_rights(job::JobSpec{}),
                                      loop.now() + std::chrono::seconds(20), [] { return false; });
  ASSERT_TRUE(missing.ok()) << missing.error().message;
  EXPECT_EQ(*missing, (std::vector<pods::Right>{{"patch", "", "configmaps", "", true}}));
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
