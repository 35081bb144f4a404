#include "kubernetes/commands/kubernetes_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/format.h"
#include "client/test_context.h"
#include "kubernetes/pods/manifests_for_tests.h"

namespace gangrun::kubernetes::commands {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

struct CarriedFolders : testing::Test {
  base::Result<std::vector<pods::CarriedFile>> carry(std::vector<std::string> files) {
    job::JobSpec spec;
    spec.on = "kubernetes";
    spec.files = std::move(files);
    return carried_files(spec, test.context());
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
  ASSERT_EQ(files->size(), 2U);
  EXPECT_EQ((*files)[0].path, "a/deep/x");
  EXPECT_EQ((*files)[0].content, std::string(3, '\0'));
  EXPECT_EQ((*files)[1].path, "y");
}

// Each folder had limits of its own, and all were in memory before anybody counted.
TEST_F(CarriedFolders, HaveTheLimitsOfTheJobTogether) {
  constexpr std::uintmax_t kMib = std::uintmax_t{1} << 20U;
  make("a/large", 40 * kMib);
  make("b/large", 40 * kMib);
  const auto large = carry({"a", "b"});
  ASSERT_FALSE(large.ok());
  EXPECT_THAT(large.error().message, HasSubstr("80 MiB together are more than the 64 MiB"));
  for (int i = 0; i < 150; ++i) {
    make(base::format("c/{}", i), 0);
    make(base::format("d/{}", i), 0);
  }
  const auto many = carry({"c", "d"});
  ASSERT_FALSE(many.ok());
  EXPECT_THAT(many.error().message, HasSubstr("300 files are more than the 200"));
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
  client::TestContext test;
  std::ofstream(test.folder() + "/config") << R"(apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u, namespace: lab}}]
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: u, user: {}}]
)";
  pods::ManifestInput job = pods::test::wine_job();
  pods::KubernetesOptions& own = pods::edit_kubernetes(job.spec);
  own.kubeconfig = "config";
  own.agents = pods::AgentsBy::kImage;
  own.agent_image = "agents:1";
  client::RunOptions options;
  options.dry_run = true;
  options.detach = true;
  EXPECT_EQ(run_on_kubernetes({.spec = job.spec}, options, test.context()),
            client::ExitStatus::kBadInput);
  EXPECT_THAT(test.err(), HasSubstr("kubernetes.master.service_account: is missing"));
  own.master.service_account = "leader";
  ASSERT_EQ(run_on_kubernetes({.spec = job.spec}, options, test.context()),
            client::ExitStatus::kSuccess)
      << test.err();
  EXPECT_THAT(test.out(), HasSubstr("serviceAccountName: leader\n"));
  EXPECT_THAT(test.out(), HasSubstr("  config: (hidden)\n"));
  EXPECT_THAT(test.out(), testing::Not(HasSubstr("ownerReferences")));
  EXPECT_THAT(test.err(), HasSubstr("One more pod leads the job, with the service account"));
}

}  // namespace
}  // namespace gangrun::kubernetes::commands
