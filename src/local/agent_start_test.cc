#include "local/agent_start.h"

#include <gmock/gmock.h>

#include "job/described.h"

namespace gangrun::local {
namespace {

using testing::ElementsAre;
using testing::IsSupersetOf;

cluster::Launch launch() {
  cluster::Launch launch;
  launch.agent_config = {{"job_id", "j"}, {"master_host", "m"}};
  return launch;
}

TEST(AgentStart, AConfigurationWithoutMoreIsTheMasters) {
  EXPECT_EQ(agent_config(launch(), {}, {}, nullptr), launch().agent_config);
}

TEST(AgentStart, ATaskWithoutGpusIsToldThatItHasNoneOfTheMachines) {
  const job::Gpus machine{job::GpuMaker::kAmd, {{"0", "l0", "", ""}, {"1", "l1", "", ""}}};
  const base::Json none = agent_config(launch(), machine, {}, nullptr);
  const base::Json one = agent_config(launch(), machine, {machine.list[1]}, nullptr);
  EXPECT_EQ(none["gpus"], base::to_json(job::Gpus{job::GpuMaker::kAmd, {}}));
  EXPECT_EQ(one["gpus"], base::to_json(job::Gpus{job::GpuMaker::kAmd, {machine.list[1]}}));
}

TEST(AgentStart, ItsHostKnowsTheMasterByAnotherAddress) {
  cluster::Launch again = launch();
  again.wanted = job::Address{"10.0.0.9", 4711};
  const HostNetwork network{{}, "10.0.0.2", "of eth0", "10.0.0.1"};
  const base::Json config = agent_config(again, {}, {}, &network);
  EXPECT_EQ(config["wanted_port"], 4711);
  EXPECT_EQ(config["host"], "10.0.0.2");
  EXPECT_EQ(config["host_reason"], "of eth0");
  EXPECT_EQ(config["master_host"], "10.0.0.1");
}

TEST(AgentStart, ArgumentsNameTheDescriptors) {
  EXPECT_THAT(agent_arguments({.program = "/a", .name = "j.worker.0"}),
              ElementsAre("/a", "task", "--containment", "subreaper", "--name", "j.worker.0",
                          "--config-fd", "3", "--words-fd", "5"));
  const auto all = agent_arguments({.program = "/a",
                                    .name = "j.worker.0",
                                    .containment = job::Containment::kCgroup,
                                    .containers = {"c0", "c1"},
                                    .outlives_us = true,
                                    .has_network = true,
                                    .locks = 2});
  EXPECT_THAT(
      std::vector<std::string>(all.begin() + 10, all.end()),
      ElementsAre("--containers", "c0,c1", "--outlive", "--network-fd", "4", "--lock-fds", "6,7"));
  EXPECT_THAT(all, IsSupersetOf({"cgroup"}));
}

}  // namespace
}  // namespace gangrun::local
