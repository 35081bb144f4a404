#include "yarn/task_context.h"

#include <gmock/gmock.h>

#include "base/json.h"
#include "job/described.h"
#include "yarn/yarn_options.h"

namespace gangrun::yarn {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Key;
using testing::Not;
using testing::Pair;
using testing::UnorderedElementsAre;

const job::TaskId kWorker{"worker", 3};

TaskContents contents() {
  TaskContents contents;
  contents.spec.tasks.emplace_back().type = "worker";
  contents.spec.tasks.emplace_back().type = "ps";
  edit_yarn(contents.spec).view_acl = "viewers";
  edit_yarn(contents.spec).modify_acl = "changers";
  contents.job_id = "application_1_1";
  contents.host = "master-host";
  contents.agent_command = {"exec", "./agent", "--name", "{name}", "1>out"};
  contents.credentials.secrets["other"] = base::Secret("kept");
  return contents;
}

base::Json config_in(const hadoop::LaunchContext& context) {
  return *base::parse_json(context.credentials.secrets.at(kAgentConfigSecret).reveal(), 10'000);
}

hadoop::LaunchContext context_of(const TaskContents& contents, const cluster::Launch& launch = {}) {
  return task_context(contents, kWorker, launch, {"node-1", 45454});
}

TEST(TaskContext, TheAgentIsToldWhereItIs) {
  cluster::Launch launch;
  launch.agent_config = {{"job_id", "j"}, {"master_host", "0.0.0.0"}};
  launch.wanted = job::Address{"node-1", 4711};
  const base::Json config = config_in(context_of(contents(), launch));
  EXPECT_EQ(config["job_id"], "j");
  EXPECT_EQ(config["master_host"], "master-host");
  EXPECT_EQ(config["host"], "node-1");
  EXPECT_EQ(config["place_tells_end"], true);
  EXPECT_EQ(config["wanted_port"], 4711);
  launch.wanted.reset();
  EXPECT_FALSE(config_in(context_of(contents(), launch)).contains("wanted_port"));
}

TEST(TaskContext, ItsConfigurationIsASecretBesideTheOthers) {
  const hadoop::LaunchContext context = context_of(contents());
  EXPECT_THAT(context.credentials.secrets,
              UnorderedElementsAre(Key("other"), Key(kAgentConfigSecret)));
  EXPECT_EQ(context.view_acl, "viewers");
  EXPECT_EQ(context.modify_acl, "changers");
}

TEST(TaskContext, WhoHasOutputsIsToldWhereTheyGo) {
  TaskContents all = contents();
  all.outputs.folder = "/user/ann/.gangrun/history/application_1_1/outputs";
  all.spec.outputs = {"model"};
  const auto secrets = context_of(all).credentials.secrets;
  ASSERT_THAT(secrets, Contains(Key(kOutputsSecret)));
  const auto json = base::parse_json(secrets.at(kOutputsSecret).reveal(), 10'000);
  EXPECT_EQ(base::from_json<OutputsConfig>(*json)->folder, all.outputs.folder);
  all.spec.tasks.front().outputs.emplace();
  EXPECT_THAT(context_of(all).credentials.secrets, Not(Contains(Key(kOutputsSecret))));
}

TEST(TaskContext, ATypeGetsItsOwnArchivesOnly) {
  TaskContents all = contents();
  all.files["agent"].path = "/agent";
  all.archives["worker"]["environment"].path = "/worker.zip";
  all.archives["ps"]["environment"].path = "/ps.zip";
  const auto files = context_of(all).local_resources;
  EXPECT_THAT(files, UnorderedElementsAre(Key("agent"), Key("environment")));
  EXPECT_EQ(files.at("environment").path, "/worker.zip");
}

TEST(TaskContext, ValuesOfTheEnvironmentStayWhatTheyAre) {
  TaskContents all = contents();
  all.environment["CLASSES"] = "$HADOOP/*";
  EXPECT_THAT(context_of(all).environment, ElementsAre(Pair("CLASSES", "\\$HADOOP/*")));
}

TEST(TaskContext, TheCommandHasTheTasksName) {
  EXPECT_THAT(context_of(contents()).command,
              ElementsAre("exec", "./agent", "--name", "application_1_1.worker.3", "1>out"));
}

TEST(TaskContext, AnAgentThatRunsAnImageIsToldTheNamesOfItsContainers) {
  cluster::Launch launch;
  launch.containers = {"c0", "c1"};
  const auto context = context_of(contents(), launch);
  EXPECT_THAT(context.command, ElementsAre("exec", "./agent", "--name", "application_1_1.worker.3",
                                           "--containers", "c0,c1", "1>out"));
  EXPECT_THAT(context.environment, testing::IsEmpty());
}

TEST(TaskContext, WhereYarnRunsTheImageTheAgentIsInIt) {
  TaskContents all = contents();
  edit_yarn(all.spec).container_runtime = ContainerRuntime::kDocker;
  all.spec.tasks.front().image = "registry/image:1";
  cluster::Launch launch;
  launch.containers = {"c0"};
  const auto context = context_of(all, launch);
  EXPECT_THAT(context.command, Not(Contains("--containers")));
  EXPECT_THAT(context.environment,
              Contains(Pair("YARN_CONTAINER_RUNTIME_DOCKER_IMAGE", "registry/image:1")));
  // A task without an image is a process of the node, as ever.
  EXPECT_THAT(context_of(all).environment, testing::IsEmpty());
}

OutputsConfig sample() {
  return {.folder = "/user/ann/.gangrun/history/application_1_0001/outputs",
          .user = "ann",
          .hadoop = {{"fs.defaultFS", "hdfs://nn"}},
          .token_service = "ha-hdfs:nn",
          .limit_bytes = 1 << 20};
}

TEST(OutputsConfig, ComesBackFromItsJson) {
  for (OutputsConfig config : {sample(), OutputsConfig{.folder = "/o", .user = "b"}}) {
    const auto again = base::from_json<OutputsConfig>(base::to_json(config));
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ(*again, config);
  }
}

TEST(OutputsConfig, WhatIsMissingOrWrongIsNamed) {
  const base::Json whole = base::to_json(sample());
  for (const auto& [key, value] : whole.items()) {
    base::Json wrong = whole;
    wrong[key] = true;
    const auto read = base::from_json<OutputsConfig>(wrong);
    ASSERT_FALSE(read.ok()) << key;
    EXPECT_NE(read.error().message.find(key), std::string::npos) << read.error().message;
    if (key == "limit_bytes") continue;
    wrong.erase(key);
    EXPECT_FALSE(base::from_json<OutputsConfig>(wrong).ok()) << key;
  }
}

}  // namespace
}  // namespace gangrun::yarn
