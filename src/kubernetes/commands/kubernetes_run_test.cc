#include "kubernetes/commands/kubernetes_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "client/test_context.h"
#include "kubernetes/pods/architecture.h"
#include "kubernetes/pods/kubernetes_options.h"
#include "kubernetes/pods/manifests_for_tests.h"
#include "kubernetes/test_api_server_internal.h"
#include "wire/test_registry.h"

namespace gangrun::kubernetes::commands {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

struct CarriedFolders : testing::Test {
  base::Result<JobFiles> carry(std::vector<std::string> files,
                               std::optional<pods::AgentsBy> agents = {}) {
    job::JobSpec spec;
    spec.on = "kubernetes";
    spec.files = std::move(files);
    pods::edit_kubernetes(spec).agents = agents;
    return job_files(spec, test.context());
  }
  void make(const std::string& name, std::uintmax_t size) {
    const fs::path path = fs::path(test.folder()) / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path).close();
    fs::resize_file(path, size);
  }

  client::TestContext test;
};

TEST_F(CarriedFolders, BringWhatIsInThem) {
  make("a/deep/x", 3);
  make("y", 1);
  const auto files = carry({"y", "a"});
  ASSERT_TRUE(files.ok()) << files.error().message;
  ASSERT_EQ(files->carried.size(), 2U);
  EXPECT_EQ(files->carried[0].path, "a/deep/x");
  EXPECT_EQ(files->carried[0].content, std::string(3, '\0'));
  EXPECT_EQ(files->carried[1].path, "y");
  EXPECT_EQ(files->fetched, nullptr);
}

// Each folder had limits of its own, and all were in memory before anybody counted.
TEST_F(CarriedFolders, HaveTheLimitsOfTheJobTogether) {
  constexpr std::uintmax_t kMib = std::uintmax_t{1} << 20U;
  make("a/large", 40 * kMib);
  make("b/large", 40 * kMib);
  const auto large = carry({"a", "b"}, pods::AgentsBy::kNone);
  ASSERT_FALSE(large.ok());
  EXPECT_THAT(large.error().message, HasSubstr("80 MiB together are more than the 64 MiB"));
  for (int i = 0; i < 150; ++i) {
    make(base::format("c/{}", i), 0);
    make(base::format("d/{}", i), 0);
  }
  const auto many = carry({"c", "d"}, pods::AgentsBy::kNone);
  ASSERT_FALSE(many.ok());
  EXPECT_THAT(many.error().message, HasSubstr("300 files are more than the 200"));
}

TEST_F(CarriedFolders, GoByConfigMapsWithAgentsTooWhereThereIsRoom) {
  make("a/x", 1);
  const auto files = carry({"a"}, pods::AgentsBy::kConfigMaps);
  ASSERT_TRUE(files.ok()) << files.error().message;
  EXPECT_EQ(files->carried.size(), 1U);
  EXPECT_EQ(files->fetched, nullptr);
}

TEST_F(CarriedFolders, AreFetchedByAgentsAllOfThemWhereThereIsNoRoom) {
  constexpr std::uintmax_t kMib = std::uintmax_t{1} << 20U;
  make("a/large", 65 * kMib);
  make("small", 1);
  for (int i = 0; i < 250; ++i) make(base::format("c/{}", i), 0);
  for (const pods::AgentsBy by : {pods::AgentsBy::kConfigMaps, pods::AgentsBy::kImage}) {
    const auto large = carry({"a", "small"}, by);
    ASSERT_TRUE(large.ok()) << large.error().message;
    EXPECT_TRUE(large->carried.empty());
    ASSERT_NE(large->fetched, nullptr);
    ASSERT_EQ(large->fetched->size(), 2U);
    EXPECT_EQ(large->fetched->front().name, "a/large");
    EXPECT_EQ(large->fetched->front().size, 65 * kMib);
    EXPECT_EQ(large->fetched->back().name, "small");
  }
  EXPECT_EQ(carry({"c"}, pods::AgentsBy::kImage)->fetched->size(), 250U);
}

TEST_F(CarriedFolders, HaveALimitForAgentsToo) {
  constexpr std::uintmax_t kMib = std::uintmax_t{1} << 20U;
  make("a/large", 17 * 1024 * kMib);
  const auto large = carry({"a"}, pods::AgentsBy::kConfigMaps);
  ASSERT_FALSE(large.ok());
  EXPECT_THAT(large.error().message, HasSubstr("17 GiB together are more than the 16 GiB"));
}

TEST_F(CarriedFolders, ANameThatIsNoTextIsRefusedWhereAgentsFetchIt) {
  make("a/large", std::uintmax_t{65} << 20U);
  make("a/\xff", 1);
  const auto odd = carry({"a"}, pods::AgentsBy::kConfigMaps);
  ASSERT_FALSE(odd.ok());
  EXPECT_THAT(odd.error().message, HasSubstr("cannot be a name in the tasks' folder"));
}

TEST_F(CarriedFolders, WhatIsNoFileIsNamed) {
  make("a/x", 1);
  ASSERT_EQ(::mkfifo((test.folder() + "/a/pipe").c_str(), 0600), 0);
  const auto odd = carry({"a"});
  ASSERT_FALSE(odd.ok());
  EXPECT_THAT(odd.error().message, HasSubstr("/a/pipe is a named pipe"));
}

// A plan is kept and sent on.
TEST(DryRunOfADetachedJob, ShowsItsMasterAndNoSecret) {
  TestApiServer server;
  server.on_request = [](TestTalk& talk) { talk.refuse(403, "Forbidden", "not you"); };
  client::TestContext test;
  std::ofstream(test.folder() + "/config") << base::format(R"(apiVersion: v1
kind: Config
current-context: c
contexts: [{{name: c, context: {{cluster: c, user: u, namespace: lab}}}}]
clusters: [{{name: c, cluster: {{server: "{}"}}}}]
users: [{{name: u, user: {{}}}}]
)",
                                                           server.access.remote.url);
  pods::ManifestInput job = pods::test::wine_job();
  pods::KubernetesOptions& own = pods::edit_kubernetes(job.spec);
  own.kubeconfig = "config";
  own.agents = pods::AgentsBy::kImage;
  own.agent_image = "agents:1";
  client::RunOptions options;
  options.dry_run = true;
  options.detach = true;
  const auto run = [&] {
    return wire::while_serving(server.loop, [&] {
      return run_on_kubernetes({.spec = job.spec}, options, test.context());
    });
  };
  EXPECT_EQ(run(), client::ExitStatus::kBadInput);
  EXPECT_THAT(test.err(), HasSubstr("kubernetes.master.service_account: is missing"));
  own.master.service_account = "leader";
  ASSERT_EQ(run(), client::ExitStatus::kSuccess) << test.err();
  EXPECT_THAT(test.out(), HasSubstr("serviceAccountName: leader\n"));
  EXPECT_THAT(test.out(), HasSubstr("  config: \"(hidden)\"\n"));
  EXPECT_THAT(test.out(), testing::Not(HasSubstr("ownerReferences")));
  EXPECT_THAT(test.err(), HasSubstr("One more pod leads the job, with the service account"));
  EXPECT_THAT(test.err(), HasSubstr("the API server has not checked the pods: "));
}

// Its pods waited for an agent that no node could execute.
TEST(AgentPods, ThoseOfAnotherArchitectureAreSaidToBeMissingBeforeAnythingIsMade) {
  client::TestContext test;
  fs::create_directories(test.folder() + "/bin");
  const std::string agent = test.folder() + "/bin/gangrun-agent";
  std::ofstream(agent) << "#!/bin/sh\necho gangrun-agent " GANGRUN_VERSION "\n";
  ASSERT_EQ(::chmod(agent.c_str(), 0755), 0);
  const std::string other = pods::own_architecture() == "amd64" ? "arm64" : "amd64";
  job::JobSpec spec = pods::test::wine_job().spec;
  pods::edit_kubernetes(spec).agents = pods::AgentsBy::kConfigMaps;
  pods::edit_kubernetes(spec).node_selector = {{"kubernetes.io/arch", other}};
  const auto refused = agent_pods(spec, test.context());
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message,
              HasSubstr(base::format("this gangrun has no agent for {} (", other)));
  EXPECT_THAT(refused.error().message, HasSubstr("/bin/" + other + "/gangrun-loader"));
  // The image says what it is for.
  pods::edit_kubernetes(spec).agents = pods::AgentsBy::kImage;
  pods::edit_kubernetes(spec).agent_image = "hub/agent:1";
  EXPECT_TRUE(agent_pods(spec, test.context()).ok());
}

}  // namespace
}  // namespace gangrun::kubernetes::commands
