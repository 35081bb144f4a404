#include "kubernetes/commands/pods_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/json.h"
#include "client/test_context.h"
#include "job/described.h"

namespace gangrun::kubernetes::commands {
namespace {

using testing::HasSubstr;

PodsRecord wine() {
  PodsRecord record;
  record.name_space = "lab";
  record.kubeconfig = "/home/alice/config";
  record.context = "lab";
  record.server = "https://10.0.0.1:6443";
  record.lease = std::chrono::hours(2);
  record.last_seen.id = "wine-20260131-120000-3fa1";
  record.last_seen.state = job::JobState::kRunning;
  return record;
}

TEST(PodsRecord, IsReadAsItWasWritten) {
  const client::TestContext test;
  const host::JobPaths paths{test.folder()};
  EXPECT_FALSE(read_pods_record(paths)->has_value());
  ASSERT_TRUE(write_pods_record(paths, wine()).ok());
  auto read = read_pods_record(paths);
  ASSERT_TRUE(read.ok() && *read);
  EXPECT_EQ(base::to_json(**read), base::to_json(wine()));
  EXPECT_EQ((*read)->stopped_by, "");
}

TEST(PodsRecord, WhoAskedForItsEndIsNotForgottenByWhoLooks) {
  const client::TestContext test;
  const host::JobPaths paths{test.folder()};
  ASSERT_TRUE(write_stop(paths, "gangrun kill by alice").ok());
  ASSERT_TRUE(write_pods_record(paths, wine()).ok());
  EXPECT_EQ((*read_pods_record(paths))->stopped_by, "gangrun kill by alice");
  forget_stop(paths);
  EXPECT_EQ((*read_pods_record(paths))->stopped_by, "");
}

TEST(PodsRecord, ADamagedOneIsNamed) {
  const client::TestContext test;
  const host::JobPaths paths{test.folder()};
  for (const std::string text : {"", "[]", "{}", R"({"namespace": 1})"}) {
    ASSERT_TRUE(base::write_file_atomically(test.folder() + "/kubernetes.json", text, 0600).ok());
    const auto read = read_pods_record(paths);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_THAT(read.error().message, HasSubstr(test.folder() + "/kubernetes.json")) << text;
  }
  base::Json broken = base::to_json(wine());
  broken.erase("last_seen");
  EXPECT_FALSE(base::from_json<PodsRecord>(broken).ok());
}

}  // namespace
}  // namespace gangrun::kubernetes::commands
