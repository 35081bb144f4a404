#include "hadoop/aggregated_logs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hadoop/configuration.h"
#include "hadoop/test_hdfs_internal.h"
#include "hadoop/test_tfile_internal.h"

namespace gangrun::hadoop {
namespace {

using base::Code;
using testing::ElementsAre;
using testing::HasSubstr;

class Collector final : public LogSink {
 public:
  base::Result<bool> begin(const AggregatedLog& log) override {
    logs.emplace_back(log, "");
    return log.file != unwanted;
  }
  base::Result<> content(std::string_view piece) override {
    logs.back().second += piece;
    return {};
  }
  base::Result<> end() override {
    ++ended;
    return {};
  }

  std::vector<std::pair<AggregatedLog, std::string>> logs;
  int ended = 0;
  std::string unwanted;
};

std::string log(const std::string& name, const std::string& content) {
  return java_text(name) + java_text(std::to_string(content.size())) + content;
}

std::string sample(const std::string& compression = "gz") {
  TFileWriter writer(compression);
  writer.record(java_text("VERSION"), {std::string("\0\0\0\1", 4)});
  writer.record(java_text("APPLICATION_ACL"), {""});
  writer.record(java_text("APPLICATION_OWNER"), {java_text("alice")});
  writer.record(java_text("container_1_0001_01_000001"),
                {log("stdout", "hello\n") + log("empty", ""), log("stderr", "warn\n")});
  writer.end_block();
  writer.record(java_text("container_1_0001_01_000002"), {log("stdout", "bye\n")});
  return writer.finish();
}

std::vector<std::pair<AggregatedLog, std::string>> sample_logs(const std::string& node) {
  const std::string first = "container_1_0001_01_000001";
  return {{{node, first, "stdout", 6}, "hello\n"},
          {{node, first, "empty", 0}, ""},
          {{node, first, "stderr", 5}, "warn\n"},
          {{node, "container_1_0001_01_000002", "stdout", 4}, "bye\n"}};
}

TEST(AggregatedLogs, AllLogsOfANodeWhateverThePieces) {
  for (const std::size_t piece : {1U, 2U, 1'000'000U}) {
    MemoryFile file(sample(), piece);
    Collector found;
    const auto read = read_node_logs(file, "node:1", found);
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(found.logs, sample_logs("node:1"));
    EXPECT_EQ(found.ended, 4);
  }
}

TEST(AggregatedLogs, WhatIsNotWantedIsSkipped) {
  MemoryFile file(sample());
  Collector found;
  found.unwanted = "stdout";
  ASSERT_TRUE(read_node_logs(file, "n:1", found).ok());
  EXPECT_EQ(found.logs[0].second, "");
  EXPECT_EQ(found.logs[2].second, "warn\n");
  EXPECT_EQ(found.ended, 2);
}

TEST(AggregatedLogs, ADamagedOneIsSaid) {
  for (const std::string& value :
       {log("a", "x").substr(0, 4), java_text("a") + java_text("x"),
        java_text("a") + java_text("-1"), java_text("a") + java_text("5") + "1234"}) {
    TFileWriter writer("none");
    writer.record(java_text("container_1"), {value});
    MemoryFile file(writer.finish());
    Collector found;
    EXPECT_EQ(read_node_logs(file, "n:1", found).error().code, Code::kDataLoss);
  }
  TFileWriter writer("none");
  writer.record("no text", {""});
  MemoryFile file(writer.finish());
  Collector found;
  EXPECT_EQ(read_node_logs(file, "n:1", found).error().code, Code::kDataLoss);
}

TEST(AggregatedLogs, AFileIsNamedAfterItsNode) {
  EXPECT_EQ(node_of_file("127.0.0.2_41011"), "127.0.0.2:41011");
  EXPECT_EQ(node_of_file("my_host_8041"), "my_host:8041");
  EXPECT_EQ(node_of_file("host_8041_1795313467691"), "host:8041");
  EXPECT_EQ(node_of_file("host"), "host");
  EXPECT_EQ(node_of_file("host_x"), "host_x");
  EXPECT_EQ(node_of_file("1795313467691"), "1795313467691");
  EXPECT_EQ(node_of_file("_1795313467691"), "");
}

TEST(AggregatedLogs, FoldersOfAllVersionsTheNewestFirst) {
  const ApplicationId id{1700000000000, 12345};
  Configuration configuration;
  EXPECT_THAT(*log_folders(configuration, "bob", id),
              ElementsAre("/tmp/logs/bob/bucket-logs-tfile/2345/application_1700000000000_12345",
                          "/tmp/logs/bob/logs-tfile/application_1700000000000_12345",
                          "/tmp/logs/bob/bucket-logs/2345/application_1700000000000_12345",
                          "/tmp/logs/bob/logs/application_1700000000000_12345"));
  configuration.set("yarn.nodemanager.remote-app-log-dir", "hdfs://ns/app-logs/");
  configuration.set("yarn.log-aggregation.file-formats", "TFile");
  configuration.set("yarn.log-aggregation.TFile.remote-app-log-dir-suffix", "own");
  const auto own = log_folders(configuration, "bob", id);
  EXPECT_EQ(own->front(), "/app-logs/bob/bucket-own/2345/application_1700000000000_12345");
  configuration.set("yarn.nodemanager.remote-app-log-dir", "s3a://bucket/logs");
  const auto elsewhere = log_folders(configuration, "bob", id);
  ASSERT_FALSE(elsewhere.ok());
  EXPECT_EQ(elsewhere.error().code, Code::kInvalidArgument);
  EXPECT_THAT(elsewhere.error().message, HasSubstr("yarn.nodemanager.remote-app-log-dir"));
}

TEST(AggregatedLogs, AreReadOutOfHdfs) {
  FakeHdfs hdfs;
  WebHdfs client = hdfs.client();
  hdfs.put("/l/b", {true, "", 0700, 1});
  hdfs.put("/l/b/two_1", {false, sample("none"), 0640, 1});
  hdfs.put("/l/b/one_1", {false, sample(), 0640, 1});
  hdfs.put("/l/b/one_1.tmp", {false, "half", 0640, 1});
  const auto nodes = find_node_logs(client, {"/l/a", "/l/b"}, test_deadline());
  ASSERT_TRUE(nodes.ok()) << nodes.error().message;
  ASSERT_EQ(nodes->size(), 2U);
  EXPECT_EQ((*nodes)[0].node, "one:1");
  Collector found;
  for (const NodeLogs& node : *nodes) {
    const auto read = read_node_logs(client, node, found, test_deadline());
    ASSERT_TRUE(read.ok()) << read.error().message;
  }
  auto expected = sample_logs("one:1");
  for (auto& item : sample_logs("two:1")) expected.push_back(item);
  EXPECT_EQ(found.logs, expected);
}

TEST(AggregatedLogs, WhatIsNotThereOrNotReadIsSaid) {
  FakeHdfs hdfs;
  WebHdfs client = hdfs.client();
  const auto none = find_node_logs(client, {"/l/a", "/l/b"}, test_deadline());
  EXPECT_EQ(none.error().code, Code::kNotFound);
  EXPECT_THAT(none.error().message, HasSubstr("/l/a or /l/b"));
  const std::string other = "0123456789012345678901234567890123456789";
  hdfs.put("/l/b", {true, "", 0700, 1});
  hdfs.put("/l/b/one_1", {false, other, 0640, 1});
  const auto nodes = find_node_logs(client, {"/l/b"}, test_deadline());
  ASSERT_TRUE(nodes.ok()) << nodes.error().message;
  Collector found;
  const auto read = read_node_logs(client, nodes->at(0), found, test_deadline());
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(read.error().message, HasSubstr("yarn logs"));
  hdfs.put("/l/b/application_1_1.har", {true, "", 0640, 1});
  EXPECT_EQ(find_node_logs(client, {"/l/b"}, test_deadline()).error().code,
            Code::kFailedPrecondition);
}

}  // namespace
}  // namespace gangrun::hadoop
