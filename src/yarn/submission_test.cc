#include "yarn/submission.h"

#include <gmock/gmock.h>

#include "base/json.h"
#include "job/described.h"
#include "yarn/yarn_options.h"

namespace gangrun::yarn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Key;
using testing::UnorderedElementsAre;
using State = hadoop::ApplicationState;

const hadoop::ApplicationId kId{1700000000000, 7};

YarnMasterConfig config() {
  YarnMasterConfig config;
  config.secret = base::Secret("the secret");
  config.files["gangrun-agent"].path = "/agent";
  return config;
}

hadoop::Submission submission_of(const job::JobSpec& spec, hadoop::LaunchContext master = {}) {
  auto made = make_submission(spec, kId, config(), std::move(master));
  EXPECT_TRUE(made.ok());
  return made.ok() ? *made : hadoop::Submission();
}

TEST(Submission, TheMasterGetsWhatItNeedsOfTheConfiguration) {
  hadoop::Configuration configuration;
  for (const char* name :
       {"hadoop.security.authentication", "fs.defaultFS", "dfs.nameservices",
        "yarn.resourcemanager.address", "yarn.application.classpath", "yarn.log.server.url",
        "yarn.nodemanager.aux-services", "dfs.datanode.address", "mapreduce.job.queuename"}) {
    configuration.set(name, "x");
  }
  EXPECT_THAT(for_master(configuration),
              UnorderedElementsAre(Key("hadoop.security.authentication"), Key("fs.defaultFS"),
                                   Key("dfs.nameservices"), Key("yarn.resourcemanager.address"),
                                   Key("yarn.application.classpath"), Key("yarn.log.server.url")));
}

TEST(Submission, WhatTheJobLeavesOpenIsDecided) {
  const hadoop::Submission made = submission_of({});
  EXPECT_EQ(made.id, kId);
  EXPECT_EQ(made.queue, "default");
  EXPECT_EQ(made.priority, std::nullopt);
  EXPECT_EQ(made.max_attempts, 2);
  EXPECT_EQ(made.attempt_failures_validity_ms, 3'600'000);
  EXPECT_EQ(made.type, "GANGRUN");
}

TEST(Submission, WhatTheJobSaysIsTaken) {
  job::JobSpec spec;
  spec.name = "wine";
  edit_yarn(spec).queue = "root.ml";
  edit_yarn(spec).priority = 3;
  edit_yarn(spec).tags = {"team"};
  edit_yarn(spec).max_attempts = 1;
  edit_yarn(spec).master_label = "stable";
  edit_yarn(spec).view_acl = "viewers";
  edit_yarn(spec).modify_acl = "changers";
  const hadoop::Submission made = submission_of(spec);
  EXPECT_EQ(made.name, "wine");
  EXPECT_EQ(made.queue, "root.ml");
  EXPECT_EQ(made.priority, 3);
  EXPECT_THAT(made.tags, ElementsAre("team"));
  EXPECT_EQ(made.max_attempts, 1);
  EXPECT_EQ(made.master_node_label, "stable");
  EXPECT_EQ(made.master.view_acl, "viewers");
  EXPECT_EQ(made.master.modify_acl, "changers");
}

TEST(Submission, TheMastersContainerHasTheAgentAndItsConfigurationBesideTheRest) {
  hadoop::LaunchContext brought;
  brought.local_resources["keytab"].path = "/keytab";
  brought.credentials.secrets["other"] = base::Secret("kept");
  const hadoop::LaunchContext master = submission_of({}, brought).master;
  EXPECT_THAT(master.local_resources, UnorderedElementsAre(Key("keytab"), Key("gangrun-agent")));
  EXPECT_EQ(master.local_resources.at("gangrun-agent").path, "/agent");
  EXPECT_THAT(master.command, ElementsAre("exec", "./gangrun-agent", "master", HasSubstr("stdout"),
                                          HasSubstr("stderr")));
  ASSERT_THAT(master.credentials.secrets,
              UnorderedElementsAre(Key("other"), Key(kMasterConfigSecret)));
  const auto text = master.credentials.secrets.at(kMasterConfigSecret).reveal();
  EXPECT_EQ(*base::parse_json(text, kMaxMasterConfigBytes), base::to_json(config()));
}

TEST(Submission, AJobThatYarnCannotKeepIsRefused) {
  YarnMasterConfig large = config();
  large.hadoop["hadoop.large"] = std::string(kMaxMasterConfigBytes, 'x');
  const auto made = make_submission({}, kId, large, {});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, base::Code::kInvalidArgument);
  EXPECT_THAT(made.error().message, HasSubstr("allowed: up to 786432"));
}

TEST(Submission, AQueueThatIsNotThereIsToldWithThoseThatAre) {
  const auto refused = existing_queue(base::not_found("no such queue"), "ml",
                                      {"root", "root.a", "root.a.b", "root.c"});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, base::Code::kInvalidArgument);
  EXPECT_THAT(refused.error().message, HasSubstr("there is no queue ml; allowed: "));
  // Another error says nothing of the queue.
  EXPECT_EQ(existing_queue(base::unavailable("away"), "ml", {}).error().code,
            base::Code::kUnavailable);
  hadoop::QueueInfo info;
  info.path = "root.ml";
  EXPECT_EQ(existing_queue(info, "ml", {})->path, "root.ml");
}

base::Result<Recording> recording_of_state(State state) {
  hadoop::ApplicationReport report;
  report.state = state;
  report.diagnostics = "too many applications";
  return recording_of(report);
}

TEST(Submission, IsRecordedWhenYarnSaysMoreThanThatItSaves) {
  for (const State state : {State::kNew, State::kNewSaving}) {
    EXPECT_EQ(*recording_of_state(state), Recording::kNotYet);
  }
  for (const State state :
       {State::kSubmitted, State::kAccepted, State::kRunning, State::kFinished}) {
    EXPECT_EQ(*recording_of_state(state), Recording::kIsRecorded);
  }
}

TEST(Submission, ARefusalComesWithYarnsWords) {
  for (const State state : {State::kFailed, State::kKilled}) {
    const auto refused = recording_of_state(state);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, base::Code::kFailedPrecondition);
    EXPECT_EQ(refused.error().message, "YARN has refused the job: \"too many applications\"");
  }
}

TEST(Submission, AForgottenOneIsSubmittedAgainAndASilentOneAskedAgain) {
  EXPECT_EQ(*recording_of(base::not_found("no such application")), Recording::kForgotten);
  EXPECT_EQ(*recording_of(base::unavailable("standby")), Recording::kNotYet);
  EXPECT_EQ(recording_of(base::deadline_exceeded("20 s")).error().code,
            base::Code::kDeadlineExceeded);
}

}  // namespace
}  // namespace gangrun::yarn
