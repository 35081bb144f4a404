#include "kubernetes/pods/master_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/described_json.h"
#include "base/files.h"
#include "base/test_folder.h"
#include "kubernetes/pods/agent_parts_for_tests.h"
#include "kubernetes/pods/manifests_for_tests.h"
#include "kubernetes/pods/master_names.h"
#include "kubernetes/pods/master_pod.h"
#include "net/digests.h"

namespace gangrun::kubernetes::pods {
namespace {

using testing::HasSubstr;

// A job with files of three maps, one of which is larger than a map.
ManifestInput job_with_files() {
  ManifestInput input = test::wine_job();
  edit_kubernetes(input.spec).agents = AgentsBy::kConfigMaps;
  edit_kubernetes(input.spec).master.service_account = "gangrun-master";
  input.spec.timeouts.allocation = std::chrono::seconds(77);
  input.gang_scheduling = GangScheduling::kVolcano;
  input.files = {{.path = "train.py", .content = std::string(kMaxConfigMapBytes, 'x')},
                 {.path = "/data/large", .content = std::string(kMaxConfigMapBytes + 1, 'y')},
                 {.path = "run.sh", .content = "#!/bin/sh", .is_executable = true}};
  return input;
}

PodMasterConfig config_of_job() {
  return master_config_of(job_with_files(), test::wine_owner(), "alice", base::WallTime(),
                          base::Secret("the secret"), {"certificate", base::Secret("key"), "f1"});
}

TEST(PodMasterConfig, ComesBackFromItsSecret) {
  const auto secret = master_secret(job_with_files(), config_of_job(), test::wine_owner());
  ASSERT_TRUE(secret.ok()) << secret.error().message;
  const auto read = master_config_in(*secret);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(base::to_json(*read), base::to_json(config_of_job()));
  EXPECT_EQ(read->spec, job_with_files().spec);
  EXPECT_EQ(read->owner.uid, "u-1");
  EXPECT_EQ(read->secret.reveal(), "the secret");
  EXPECT_EQ(read->certificate.certificate_pem, "certificate");
  EXPECT_EQ(read->certificate.key_pem.reveal(), "key");
  EXPECT_EQ(read->certificate.fingerprint, "f1");
}

TEST(PodMasterConfig, ComesBackFromItsFolder) {
  const auto secret = master_secret(job_with_files(), config_of_job(), test::wine_owner());
  const base::TestFolder folder;
  for (const auto& [key, value] : secret->at("data").items()) {
    const std::string bytes = net::from_base64(value.get<std::string>()).value();
    ASSERT_TRUE(base::write_private_file(folder / key, bytes).ok());
  }
  const auto read = read_master_config(folder.path());
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(base::to_json(*read), base::to_json(config_of_job()));
  EXPECT_EQ(read->secret.reveal(), "the secret");
  std::filesystem::remove(folder / kMasterKeyKey);
  EXPECT_EQ(read_master_config(folder.path()).error().code, base::Code::kNotFound);
}

TEST(PodMasterConfig, ATextThatNoSecretCanHoldIsRefused) {
  PodMasterConfig config = config_of_job();
  config.spec.command.words.emplace_back(kMaxMasterConfigBytes, 'x');
  EXPECT_THAT(config_text(config).error().message, HasSubstr("900 KiB"));
}

// The master has none of the files' bytes.
TEST(PodMasterConfig, TheMastersPodsAreThoseOfTheClient) {
  ManifestInput input = job_with_files();
  input.agents = AgentPods{.source = by_config_maps(test::small_parts())};
  const auto of_client = Manifests::make(input).value();
  const auto of_master =
      Manifests::make(manifest_input_of(config_of_job(), std::move(input.agents))).value();
  const PodRun run{.attempt = 1, .environment = {}};
  EXPECT_EQ(of_master.pod({"worker", 1}, run, test::wine_owner()),
            of_client.pod({"worker", 1}, run, test::wine_owner()));
}

TEST(MountedParts, AreThoseOfTheVolume) {
  const AgentParts parts = test::small_parts();
  const base::TestFolder folder;
  for (std::size_t i = 0; i < parts.map_count(); ++i) {
    const base::Json map = parts.map(i, "lab", {});
    for (const auto& [key, value] : map.at("binaryData").items()) {
      ASSERT_TRUE(
          base::write_private_file(folder / key, *net::from_base64(value.get<std::string>())).ok());
    }
  }
  const auto read = mounted_parts(folder.path());
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->digest(), parts.digest());
  EXPECT_EQ(read->volume(), parts.volume());
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
