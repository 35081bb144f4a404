#include "yarn/commands/check_hadoop_env.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace gangrun::yarn::commands {
namespace {

using cluster::Check;
using cluster::Verdict;
using testing::ElementsAre;
using testing::HasSubstr;

class Report : public testing::Test {
 protected:
  std::vector<std::string> lines_;
  HadoopEnvReport report_{[this](const std::string& line) { lines_.push_back(line); }};

  void look(const std::vector<std::pair<Part, std::vector<Check>>>& parts) {
    for (const auto& [part, checks] : parts) {
      report_.on_part(part);
      for (const Check& check : checks) report_.on_check(check);
    }
    report_.end();
  }
};

TEST_F(Report, OfAnEnvironmentThatIsWellIsTheOneItsUsersKnow) {
  report_.begin("/x/check_hadoop_env.log");
  report_.on_part(Part::kSettings);
  report_.on_check({"variables", Verdict::kOk, "x"});
  report_.on_part(Part::kFiles);
  report_.on_write("hdfs://nn/tmp/a1/hello_tf_yarn.txt");
  report_.on_part(Part::kCluster);
  report_.end();
  const std::string logger = "INFO:tf_yarn.bin.check_hadoop_env:";
  EXPECT_THAT(lines_,
              ElementsAre(logger + "results will be written in /x/check_hadoop_env.log",
                          logger + "check_env: True",
                          logger + "write dummy file to hdfs hdfs://nn/tmp/a1/hello_tf_yarn.txt",
                          logger + "check_local_hadoop_tensorflow: True",
                          "INFO:root:Launching remote check", logger + "remote_check: True",
                          logger + "Hadoop setup: OK"));
  EXPECT_TRUE(report_.is_good());
}

// It printed what servers say as it came.
TEST_F(Report, WhatServersSayDoesNothingToATerminal) {
  look({{Part::kSettings, {}},
        {Part::kFiles, {{"hdfs://nn", Verdict::kFailed, "\x1b[2Jit\nis\r\x1b(Bdown\a", ""}}},
        {Part::kCluster, {}}});
  EXPECT_THAT(lines_[1], "ERROR:tf_yarn.bin.check_hadoop_env:hdfs://nn: failed: it is down\uFFFD");
}

TEST_F(Report, WhatFailedSaysWhyAndWhatToDoBeforeItsResult) {
  look({{Part::kSettings, {}},
        {Part::kFiles, {{"hdfs://nn", Verdict::kFailed, "it is down", "start it"}}},
        {Part::kCluster, {}}});
  EXPECT_THAT(lines_[1],
              "ERROR:tf_yarn.bin.check_hadoop_env:hdfs://nn: failed: it is down; to do: "
              "start it");
  EXPECT_THAT(lines_[2], HasSubstr("check_local_hadoop_tensorflow: False"));
  EXPECT_THAT(lines_.back(), HasSubstr("Hadoop setup: KO"));
  EXPECT_FALSE(report_.is_good());
}

TEST_F(Report, OnlyTensorflowSWarningsCount) {
  look({{Part::kSettings, {{"variables", Verdict::kWarning, "JAVA_HOME"}}},
        {Part::kFiles, {{"TensorFlow", Verdict::kNotChecked, "there is none"}}},
        {Part::kCluster, {{"TensorFlow hdfs://nn", Verdict::kWarning, "no libjvm.so"}}}});
  EXPECT_THAT(lines_[1], HasSubstr("check_env: True"));
  EXPECT_THAT(lines_[3], HasSubstr("check_local_hadoop_tensorflow: True"));
  EXPECT_THAT(lines_[6], HasSubstr("remote_check: False"));
  EXPECT_FALSE(report_.is_good());
}

// "remote_check: True" was said though nothing had been looked at.
TEST_F(Report, WhatIsNotLookedAtIsNeitherTrueNorFalse) {
  report_.on_part(Part::kSettings);
  report_.on_part(Part::kFiles);
  report_.on_part(Part::kCluster);
  report_.not_checked({"container", Verdict::kNotChecked, "--no-remote is given"});
  report_.end();
  EXPECT_THAT(lines_[lines_.size() - 2], HasSubstr("remote_check: not checked"));
  EXPECT_THAT(lines_.back(), HasSubstr("Hadoop setup: OK"));
}

TEST_F(Report, OfAClusterThatDoesNotAnswerTheCheckIsFalseThen) {
  report_.on_part(Part::kSettings);
  report_.on_part(Part::kFiles);
  report_.on_part(Part::kCluster);
  report_.on_check({"ResourceManager", Verdict::kFailed, "it is down"});
  report_.not_checked({"container", Verdict::kNotChecked, "--no-remote is given"});
  report_.end();
  EXPECT_THAT(lines_[lines_.size() - 2], HasSubstr("remote_check: False"));
  EXPECT_THAT(lines_.back(), HasSubstr("Hadoop setup: KO"));
}

TEST_F(Report, PartsThatNeverCameAreFalse) {
  look({{Part::kSettings, {{"configuration", Verdict::kFailed, "there is none", "get one"}}}});
  ASSERT_EQ(lines_.size(), 5U);
  EXPECT_THAT(lines_[2], HasSubstr("check_local_hadoop_tensorflow: False"));
  EXPECT_THAT(lines_[3], HasSubstr("remote_check: False"));
  EXPECT_THAT(lines_[4], HasSubstr("KO"));
}

}  // namespace
}  // namespace gangrun::yarn::commands
