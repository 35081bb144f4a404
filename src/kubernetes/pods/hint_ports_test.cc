#include "kubernetes/pods/hint_ports.h"

#include <gmock/gmock.h>

#include <set>

namespace gangrun::kubernetes::pods {
namespace {

using base::Json;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::Ge;
using testing::Lt;
using testing::SizeIs;

const std::string kWineJob = "wine-20260131-120000-3fa1";

TEST(HintPorts, APodOfItsOwnNetworkNeedsOne) {
  EXPECT_FALSE(is_on_host_network(Json::parse(R"({"spec": {"containers": []}})")));
  EXPECT_FALSE(is_on_host_network(Json::parse(R"({"spec": {"hostNetwork": "yes"}})")));
  EXPECT_THAT(hint_ports(kWineJob, {"worker", 1}, false), ElementsAre(17402));
}

TEST(HintPorts, OnANodesNetworkTheyAreTheSameEachTimeAndNobodyElsesByChance) {
  EXPECT_TRUE(is_on_host_network(Json::parse(R"({"spec": {"hostNetwork": true}})")));
  std::set<std::vector<std::uint16_t>> all;
  for (const std::string& job : {kWineJob, std::string("wine-20260131-120000-3fa2")}) {
    for (int index = 0; index < 100; ++index) {
      const auto ports = hint_ports(job, {"worker", index}, true);
      EXPECT_THAT(ports, AllOf(SizeIs(4), Each(AllOf(Ge(20000), Lt(30000)))));
      EXPECT_EQ(ports, hint_ports(job, {"worker", index}, true));
      all.insert(ports);
    }
  }
  EXPECT_THAT(all, SizeIs(200));
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
