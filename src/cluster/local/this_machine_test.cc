#include "cluster/local/this_machine.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"

namespace gangrun::cluster {
namespace {

class ThisMachineTest : public testing::Test {
 protected:
  ThisMachineTest() {
    std::string name = testing::TempDir() + "this_machine_XXXXXX";
    if (::mkdtemp(name.data()) != nullptr) folder_ = name;
    sources_ = {folder_ + "/meminfo", folder_ + "/cgroup", folder_ + "/root"};
  }
  ~ThisMachineTest() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& path, std::string_view text) const {
    const std::filesystem::path file = folder_ + "/" + path;
    ASSERT_TRUE(base::make_folders(file.parent_path().string(), 0700).ok());
    ASSERT_TRUE(base::write_private_file(file.string(), text).ok());
  }

  std::string folder_;
  MachineSources sources_;
};

TEST_F(ThisMachineTest, MemoryIsThatOfTheMachine) {
  write("meminfo", "MemTotal:       16384000 kB\nMemFree:   12 kB\n");
  EXPECT_EQ(usable_memory_mib(sources_), 16000);
}

TEST_F(ThisMachineTest, AnyCgroupAboveMayLimitMemory) {
  write("meminfo", "MemTotal:       16384000 kB\n");
  write("cgroup", "1:cpu:/x\n0::/a/b\n");
  write("root/a/memory.max", "1073741824\n");
  write("root/a/b/memory.max", "max\n");
  EXPECT_EQ(usable_memory_mib(sources_), 1024);
}

TEST_F(ThisMachineTest, MemoryIsZeroWhereNothingTellsIt) {
  EXPECT_EQ(usable_memory_mib(sources_), 0);
}

TEST_F(ThisMachineTest, ThereIsAtLeastOneCore) { EXPECT_GE(usable_cores(), 1); }

}  // namespace
}  // namespace gangrun::cluster
