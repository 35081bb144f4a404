#include "ssh/node/host_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/variable.h"
#include "ssh/folder_mark.h"

namespace gangrun::ssh::node {
namespace {

class HostFactsTest : public testing::Test {
 protected:
  HostFactsTest() { ::setenv("SSH_CONNECTION", "10.0.0.1 40000 10.0.0.2 22", 1); }
  ~HostFactsTest() override { ::unsetenv("SSH_CONNECTION"); }

  KeeperOptions options_{.program = "/agent",
                         .folder = "/base",
                         .host = "gpu1",
                         .containment = "subreaper",
                         .working_folder = std::filesystem::temp_directory_path().string(),
                         .folder_mark = "",
                         .interface = ""};
};

TEST_F(HostFactsTest, TheAddressIsTheOneThatSshReached) {
  const auto hello = hello_of(options_);
  ASSERT_TRUE(hello.ok()) << hello.error().message;
  EXPECT_EQ(hello->address, "10.0.0.2");
  EXPECT_EQ(hello->address_reason, "as ssh reached it");
  EXPECT_EQ(hello->containment, job::Containment::kSubreaper);
  EXPECT_THAT(hello->network, testing::MatchesRegex("[-0-9a-f]+:[0-9]+"));
  EXPECT_EQ(hello->network, hello_of(options_)->network);
}

TEST_F(HostFactsTest, WhatIsNoAddressOfAConnectionIsNotTaken) {
  for (const char* connection :
       {"UNKNOWN 65535 UNKNOWN 65535", "fe80::1%eth0 1 fe80::2%eth0 22", ""}) {
    ::setenv("SSH_CONNECTION", connection, 1);
    const auto hello = hello_of(options_);
    ASSERT_TRUE(hello.ok()) << hello.error().message;
    EXPECT_EQ(hello->address, "127.0.0.1") << connection;
    EXPECT_EQ(hello->address_reason, "as ssh tells no address by which it reached it");
  }
}

TEST_F(HostFactsTest, TheSystemAndItsRoomAreTold) {
  options_.folder = options_.working_folder;
  const auto hello = hello_of(options_);
  ASSERT_TRUE(hello.ok()) << hello.error().message;
  EXPECT_THAT(hello->system, testing::MatchesRegex("Linux [^ ]+ [^ ]+"));
  EXPECT_EQ(hello->folder, options_.folder);
  EXPECT_GT(hello->free_bytes, 0);
  // The one that was wanted needs no excuse.
  EXPECT_EQ(hello->containment_lack, "");
  std::string folder = "/tmp/gangrun-host-facts-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  options_.folder = folder + "/none";
  EXPECT_EQ(hello_of(options_)->free_bytes, 0);
  EXPECT_EQ(::rmdir(folder.c_str()), 0);
}

TEST_F(HostFactsTest, AnInterfaceIsTaken) {
  options_.interface = "127.0.0.0/8";
  const auto hello = hello_of(options_);
  ASSERT_TRUE(hello.ok()) << hello.error().message;
  EXPECT_EQ(hello->address, "127.0.0.1");
  options_.interface = "nosuch0";
  EXPECT_FALSE(hello_of(options_).ok());
}

TEST_F(HostFactsTest, AFolderIsSharedThatHasTheMark) {
  EXPECT_FALSE(hello_of(options_)->shares_folder);
  const auto mark = ssh::FolderMark::make(options_.working_folder);
  ASSERT_TRUE(mark.ok()) << mark.error().message;
  options_.folder_mark = (*mark)->name();
  EXPECT_TRUE(hello_of(options_)->shares_folder);
  options_.working_folder = "/";
  EXPECT_FALSE(hello_of(options_)->shares_folder);
}

TEST_F(HostFactsTest, TasksFindNoConnectionOfSshAndWhatTheJobBrings) {
  set_environment({{"HOST_FACTS_TEST", "brought"}});
  EXPECT_EQ(base::variable("SSH_CONNECTION"), "");
  EXPECT_EQ(base::variable("HOST_FACTS_TEST"), "brought");
  ::unsetenv("HOST_FACTS_TEST");
}

TEST_F(HostFactsTest, AContainmentThatIsNoneIsAnError) {
  options_.containment = "tight";
  EXPECT_FALSE(hello_of(options_).ok());
}

TEST(NvidiaSmi, ListsGpusAndTheirParts) {
  const auto gpus = gpus_in_list(
      "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5d5ba0d6)\n"
      "  MIG 3g.20gb     Device  0: (UUID: MIG-1)\n"
      "  MIG 1g.5gb      Device  1: (UUID: MIG-2)\n"
      "GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-7)\n");
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_EQ(gpus[0].uuid, "GPU-5d5ba0d6");
  EXPECT_EQ(gpus[0].parts, (std::vector<std::string>{"MIG-1", "MIG-2"}));
  EXPECT_EQ(gpus[1].uuid, "GPU-7");
  EXPECT_TRUE(gpus[1].parts.empty());
}

TEST(NvidiaSmi, ListsNoneWhereNothingIsSaid) {
  EXPECT_TRUE(gpus_in_list("").empty());
  EXPECT_TRUE(gpus_in_list("No devices were found\n").empty());
}

}  // namespace
}  // namespace gangrun::ssh::node
