#include "kubernetes/commands/checked_maps.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/format.h"
#include "base/test_folder.h"

namespace gangrun::kubernetes::commands {
namespace {

TEST(CheckedMaps, AreKnownToTheNextClientToo) {
  const base::TestFolder home;
  CheckedMaps maps(home.path());
  EXPECT_FALSE(maps.has("u-1"));
  maps.add("gangrun-00-loader", "u-1");
  EXPECT_TRUE(maps.has("u-1"));
  CheckedMaps others(home.path());
  others.add("gangrun-00-0", "u-2");
  maps.add("gangrun-00-1", "u-3");
  const CheckedMaps later(home.path());
  for (const char* uid : {"u-1", "u-2", "u-3"}) EXPECT_TRUE(later.has(uid)) << uid;
  EXPECT_FALSE(later.has("u"));
}

TEST(CheckedMaps, OnlyTheNewestAreKept) {
  const base::TestFolder home;
  CheckedMaps maps(home.path());
  for (int i = 0; i < 501; ++i) maps.add("name", base::format("u-{}", i));
  const CheckedMaps later(home.path());
  EXPECT_FALSE(later.has("u-0"));
  EXPECT_TRUE(later.has("u-1"));
  EXPECT_TRUE(later.has("u-500"));
}

TEST(AgentFiles, LieBesideTheProgram) {
  const base::TestFolder folder;
  EXPECT_EQ(read_agent_files(folder.path() + "/gangrun-agent").error().code, base::Code::kNotFound);
  ASSERT_TRUE(base::write_private_file(folder.path() + "/gangrun-loader", "loads").ok());
  ASSERT_TRUE(base::write_private_file(folder.path() + "/gangrun-pod-agent.gz", "packed").ok());
  const auto files = read_agent_files(folder.path() + "/gangrun-agent");
  ASSERT_TRUE(files.ok()) << files.error().message;
  EXPECT_EQ(files->loader, "loads");
  EXPECT_EQ(files->packed_agent, "packed");
}

}  // namespace
}  // namespace gangrun::kubernetes::commands
