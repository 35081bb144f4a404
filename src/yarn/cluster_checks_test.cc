#include "yarn/cluster_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gangrun::yarn {
namespace {

using testing::Each;
using testing::Field;
using testing::HasSubstr;

bool is_known(const std::string& path) { return path == "/conf" || path == "/java"; }

ClusterView view() {
  ClusterView view;
  view.facts.user = "ana";
  view.facts.largest = {.memory_mib = 4096, .vcores = 4};
  view.facts.queue.name = "ml";
  view.facts.queue.available_memory_mib = 2048;
  view.facts.queue.available_vcores = 2;
  view.facts.own_queues = {"root.ml", "root.default"};
  view.nodes.resize(2);
  for (auto& node : view.nodes) {
    node.capability = {.memory_mib = 4096, .vcores = 4};
    node.used = {.memory_mib = 1024, .vcores = 1};
  }
  view.address = "rm:8032";
  view.resource_managers = 1;
  view.release = hadoop::parse_release("3.5.0");
  return view;
}

TEST(ClusterChecks, OnlyTheConfigurationSFolderIsNeeded) {
  EXPECT_EQ(check_variables({}, is_known).verdict, cluster::Verdict::kFailed);
  EXPECT_EQ(check_variables({{"HADOOP_CONF_DIR", "/other"}}, is_known).verdict,
            cluster::Verdict::kFailed);
  const cluster::Check good = check_variables({{"HADOOP_CONF_DIR", "/conf"}}, is_known);
  EXPECT_EQ(good.verdict, cluster::Verdict::kOk);
  EXPECT_EQ(good.found,
            "HADOOP_CONF_DIR=/conf; not set, and not needed by gangrun: JAVA_HOME, HADOOP_HOME, "
            "HADOOP_HDFS_HOME");
}

TEST(ClusterChecks, AVariableThatNamesNothingIsTold) {
  const cluster::Check check =
      check_variables({{"HADOOP_CONF_DIR", "/conf"}, {"JAVA_HOME", "/other"}}, is_known);
  EXPECT_EQ(check.verdict, cluster::Verdict::kWarning);
  EXPECT_EQ(check.found, "HADOOP_CONF_DIR=/conf; no folder: JAVA_HOME=/other");
}

TEST(ClusterChecks, WhatLibhdfsLacksIsNamed) {
  EXPECT_THAT(missing_for_libhdfs({{"JAVA_HOME", "/java"}}), HasSubstr("CLASSPATH"));
  EXPECT_EQ(missing_for_libhdfs({{"JAVA_HOME", "/java"},
                                 {"HADOOP_HDFS_HOME", "/hadoop"},
                                 {"CLASSPATH", "x"},
                                 {"LD_LIBRARY_PATH", "y"}}),
            "");
}

TEST(ClusterChecks, ATicketThatEndsSoonIsAWarning) {
  using std::chrono::seconds;
  const cluster::Check good = check_ticket("ana@R", seconds(36'000));
  EXPECT_EQ(good.verdict, cluster::Verdict::kOk);
  EXPECT_EQ(good.found, "of ana@R, good for 10 h");
  const cluster::Check short_one = check_ticket("ana@R", seconds(60));
  EXPECT_EQ(short_one.verdict, cluster::Verdict::kWarning);
  EXPECT_THAT(short_one.to_do, HasSubstr("kinit -R"));
  const cluster::Check none =
      check_ticket("ana@R", base::Error{base::Code::kUnauthenticated, "expired"});
  EXPECT_EQ(none.verdict, cluster::Verdict::kFailed);
  EXPECT_EQ(none.found, "expired");
}

TEST(ClusterChecks, AClusterThatIsWellIsTold) {
  const auto checks = checks_of(view(), "ml");
  ASSERT_EQ(checks.size(), 4U);
  EXPECT_THAT(checks, Each(Field(&cluster::Check::verdict, cluster::Verdict::kOk)));
  EXPECT_EQ(checks[0].found, "rm:8032 answers, Hadoop 3.5.0");
  EXPECT_EQ(checks[1].found,
            "ana may submit; queue ml has 2048 MiB and 2 vcores left; 0 run and 0 wait there");
  EXPECT_EQ(checks[2].found, "2 run with 8192 MiB and 8 vcores, 6144 MiB and 6 of them free");
  EXPECT_EQ(checks[3].found, "4096 MiB, 4 vcores; GPUs are not managed");
}

TEST(ClusterChecks, WhatIsWrongSaysWhatToDo) {
  ClusterView bad = view();
  bad.facts.queue = {};
  bad.nodes.clear();
  bad.release = hadoop::parse_release("2.7.3");
  bad.facts.largest.memory_mib = 512;
  const auto checks = checks_of(bad, "nosuch");
  EXPECT_EQ(checks[0].found, "the cluster runs Hadoop 2.7.3; gangrun needs 2.10 or newer");
  EXPECT_EQ(checks[1].found, "there is no queue nosuch");
  EXPECT_EQ(checks[1].to_do, "choose one of these with --queue: root.ml, root.default");
  EXPECT_EQ(checks[2].verdict, cluster::Verdict::kFailed);
  EXPECT_EQ(checks[3].verdict, cluster::Verdict::kWarning);
}

TEST(ClusterChecks, AQueueOfOthersIsNone) {
  ClusterView bad = view();
  bad.facts.own_queues = {};
  const auto checks = checks_of(bad, "ml");
  EXPECT_EQ(checks[1].verdict, cluster::Verdict::kFailed);
  EXPECT_THAT(checks[1].found, HasSubstr("ana may not submit to ml"));
  EXPECT_THAT(checks[1].to_do, HasSubstr("administrator"));
}

TEST(ClusterChecks, LabelsAreTold) {
  ClusterView labelled = view();
  labelled.facts.labels = {"gpu"};
  labelled.nodes[1].labels = {"gpu"};
  EXPECT_THAT(checks_of(labelled, "ml")[2].found,
              HasSubstr("; label gpu has 3072 MiB and 3 vcores left on 1 node"));
}

TEST(ClusterChecks, WhereNobodyAnswersTheRestIsNotChecked) {
  const auto checks = checks_without_answer(base::unavailable("refused"), "ml");
  ASSERT_EQ(checks.size(), 4U);
  EXPECT_EQ(checks[0].verdict, cluster::Verdict::kFailed);
  EXPECT_EQ(checks[1], (cluster::Check{"queue ml", cluster::Verdict::kNotChecked,
                                       "the ResourceManager does not answer"}));
  const base::Error kerberos{base::Code::kUnauthenticated, "not simple"};
  EXPECT_THAT(checks_without_answer(kerberos, "ml")[0].to_do, HasSubstr("Kerberos"));
}

TEST(ClusterChecks, AnErrorOfHdfsSaysWhatToDo) {
  EXPECT_THAT(to_do_about_hdfs({base::Code::kPermissionDenied, ""}, "ana"), HasSubstr("ana"));
  EXPECT_THAT(to_do_about_hdfs(base::unavailable(""), "ana"),
              HasSubstr("dfs.namenode.http-address"));
  EXPECT_NE(to_do_about_hdfs(base::not_found(""), "ana"), "");
}

}  // namespace
}  // namespace gangrun::yarn
