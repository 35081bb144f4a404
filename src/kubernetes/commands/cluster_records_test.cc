#include "kubernetes/commands/cluster_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/files.h"
#include "base/json.h"
#include "client/test_context.h"
#include "job/described.h"
#include "kubernetes/pods/manifests_for_tests.h"

namespace gangrun::kubernetes::commands {
namespace {

using testing::ElementsAre;
using testing::Field;

ClusterRecord record_of(const std::string& id, const std::string& submitted) {
  ClusterRecord record;
  record.id = id;
  record.name = "wine";
  record.name_space = "lab";
  record.server = "https://10.0.0.1:6443";
  record.head_name = id + "-head";
  record.owner_name = id + "-owner";
  record.owner_uid = "u-1";
  record.secret = base::Secret("0123");
  record.fingerprint = "ab";
  record.submitted = submitted;
  record.spec = pods::test::wine_job().spec;
  pods::edit_kubernetes(record.spec).master.service_account = "leader";
  return record;
}

struct ClusterRecords : testing::Test {
  void write(const std::string& id, const std::string& submitted = "2026-01-31T12:00:00Z") const {
    ASSERT_TRUE(write_cluster_record(home, record_of(id, submitted)).ok());
  }

  client::TestContext test;
  const std::string home = test.folder() + "/home";
};

TEST_F(ClusterRecords, AreReadAsTheyWereWritten) {
  EXPECT_FALSE(read_cluster_record(home, "wine-1")->has_value());
  write("wine-1");
  const auto read = read_cluster_record(home, "wine-1");
  ASSERT_TRUE(read.ok() && *read) << read.error().message;
  EXPECT_EQ(base::to_json(**read), base::to_json(record_of("wine-1", "2026-01-31T12:00:00Z")));
  EXPECT_EQ(pods::kubernetes_of((*read)->spec).master.service_account, "leader");
}

TEST_F(ClusterRecords, AreTheirUsersAlone) {
  write("wine-1");
  struct stat info {};
  ASSERT_EQ(::stat((home + "/kubernetes/wine-1.json").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  ASSERT_EQ(::stat((home + "/kubernetes").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0700U);
}

// A list that found the job knows neither its secret nor its tasks.
TEST_F(ClusterRecords, MayLackSecretAndTasks) {
  ClusterRecord found = record_of("wine-1", "2026-01-31T12:00:00Z");
  found.secret = base::Secret();
  found.spec = job::JobSpec();
  ASSERT_TRUE(write_cluster_record(home, found).ok());
  const auto read = read_cluster_record(home, "wine-1");
  ASSERT_TRUE(read.ok() && *read) << read.error().message;
  EXPECT_TRUE((*read)->secret.empty());
  EXPECT_TRUE((*read)->spec.tasks.empty());
}

TEST_F(ClusterRecords, AreListedTheNewestFirstWithoutDamagedOnes) {
  write("beer-1", "2026-01-31T12:00:00Z");
  write("wine-1", "2026-02-01T12:00:00Z");
  ASSERT_TRUE(base::write_file_atomically(home + "/kubernetes/odd.json", "{", 0600).ok());
  EXPECT_THAT(*list_cluster_records(home), ElementsAre(Field(&ClusterRecord::id, "wine-1"),
                                                       Field(&ClusterRecord::id, "beer-1")));
  EXPECT_FALSE(read_cluster_record(home, "odd").ok());
  EXPECT_TRUE(list_cluster_records(home + "/none")->empty());
}

TEST_F(ClusterRecords, AreMeantByTheBeginningOfOneId) {
  write("wine-12");
  write("wine-123");
  write("beer-1");
  EXPECT_EQ(recorded_id(home, "beer"), "beer-1");
  EXPECT_EQ(recorded_id(home, "wine-12"), "wine-12");
  EXPECT_EQ(recorded_id(home, "wine"), std::nullopt);
  EXPECT_EQ(recorded_id(home, ""), std::nullopt);
  EXPECT_EQ(recorded_id(home, "../kubernetes/beer-1"), std::nullopt);
}

TEST_F(ClusterRecords, HaveIdsThatLeadNowhereElse) {
  for (const char* id : {"", "..", ".wine", "../wine", "a/b"}) {
    EXPECT_EQ(write_cluster_record(home, record_of(id, "2026-01-31T12:00:00Z")).error().code,
              base::Code::kDataLoss)
        << id;
  }
  EXPECT_TRUE(list_cluster_records(home)->empty());
}

TEST_F(ClusterRecords, AreRemovedOnce) {
  write("wine-1");
  EXPECT_TRUE(remove_cluster_record(home, "wine-1").ok());
  EXPECT_TRUE(remove_cluster_record(home, "wine-1").ok());
  EXPECT_FALSE(read_cluster_record(home, "wine-1")->has_value());
}

}  // namespace
}  // namespace gangrun::kubernetes::commands
