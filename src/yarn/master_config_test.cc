#include "yarn/master_config.h"

#include <gtest/gtest.h>

#include "job/described.h"
#include "yarn/job_access.h"
#include "yarn/yarn_options.h"

namespace gangrun::yarn {
namespace {

job::JobSpec spec() {
  job::JobSpec spec;
  spec.name = "wine";
  job::TaskSpec worker;
  worker.type = "worker";
  worker.command.words = {"true"};
  spec.tasks.push_back(worker);
  spec.success = "all";
  spec.on = "yarn";
  edit_yarn(spec).queue = "ml";
  return spec;
}

YarnMasterConfig config() {
  YarnMasterConfig config;
  config.spec = spec();
  config.secret = base::Secret("the secret");
  config.certificate = *net::make_job_certificate("wine", std::chrono::hours(1));
  config.submitted = base::WallTime(std::chrono::milliseconds(1'700'000'000'123));
  config.hadoop = {{"fs.defaultFS", "hdfs://nn:8020"}};
  config.user = "ana";
  config.staging_folder = "/user/ana/.gangrun/jobs/application_1_0001";
  config.history_folder = "/user/ana/.gangrun/history/application_1_0001";
  hadoop::NodeReport node;
  node.id.host = "node1";
  node.rack = "/rack";
  config.nodes.push_back(node);
  hadoop::LocalResource& agent = config.files["gangrun-agent"];
  agent.host = "nn";
  agent.port = 8020;
  agent.path = "/x";
  agent.size = 3;
  agent.timestamp = 4;
  agent.type = hadoop::LocalResourceType::kArchive;
  agent.visibility = hadoop::Visibility::kPublic;
  config.archives["worker"]["env"] = agent;
  return config;
}

TEST(YarnMasterConfig, ComesBackFromJson) {
  const YarnMasterConfig sent = config();
  const auto got = base::from_json<YarnMasterConfig>(base::to_json(sent));
  ASSERT_TRUE(got.ok()) << got.error().message;
  EXPECT_EQ(base::to_json(*got), base::to_json(sent));
  EXPECT_EQ(got->spec, sent.spec);
  EXPECT_EQ(got->certificate.fingerprint, sent.certificate.fingerprint);
  EXPECT_EQ(got->submitted, sent.submitted);
}

TEST(YarnMasterConfig, EveryMemberIsNeeded) {
  const base::Json whole = base::to_json(config());
  for (const auto& [name, value] : whole.items()) {
    base::Json without = whole;
    without.erase(name);
    EXPECT_FALSE(base::from_json<YarnMasterConfig>(without).ok()) << name;
    without[name] = 7;
    EXPECT_FALSE(base::from_json<YarnMasterConfig>(without).ok()) << name;
  }
}

TEST(JobAccess, ComesBackFromJson) {
  const JobAccess access{base::Secret("the secret"), "ab12", spec()};
  const auto got = base::from_json<JobAccess>(base::to_json(access));
  ASSERT_TRUE(got.ok()) << got.error().message;
  EXPECT_EQ(base::to_json(*got), base::to_json(access));
  EXPECT_FALSE(base::from_json<JobAccess>({{"secret", "x"}}).ok());
}

}  // namespace
}  // namespace gangrun::yarn
