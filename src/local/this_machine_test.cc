#include "local/this_machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"

namespace gangrun::local {
namespace {

// Folders as they were recorded on machines of both versions.
constexpr std::string_view kMountsOfVersion2 =
    "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr std::string_view kMountsOfVersion1 =
    "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
// A container without a namespace of cgroups: the host's path, and nothing but that is mounted.
constexpr std::string_view kMountsOfContainer =
    "35 31 0:32 /docker/4711 /sys/fs/cgroup/memory ro,relatime - cgroup cgroup rw,memory\n";

class ThisMachineTest : public testing::Test {
 protected:
  ThisMachineTest() {
    std::string name = testing::TempDir() + "this_machine_XXXXXX";
    if (::mkdtemp(name.data()) != nullptr) folder_ = name;
    sources_ = {.meminfo = folder_ + "/meminfo",
                .own_cgroup = folder_ + "/cgroup",
                .mountinfo = folder_ + "/mountinfo",
                .root = folder_};
    write("meminfo", "MemTotal:       16384000 kB\nMemFree:   12 kB\n");
  }
  ~ThisMachineTest() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& path, std::string_view text) const {
    const std::filesystem::path file = folder_ + "/" + path;
    ASSERT_TRUE(base::make_folders(file.parent_path().string(), 0700).ok());
    ASSERT_TRUE(base::write_file_atomically(file.string(), text, 0600).ok());
  }

  std::string folder_;
  MachineSources sources_;
};

TEST_F(ThisMachineTest, MemoryIsThatOfTheMachine) {
  EXPECT_EQ(usable_memory_mib(sources_), (Usable{16000, ""}));
  write("mountinfo", kMountsOfVersion2);
  write("cgroup", "0::/a\n");
  write("sys/fs/cgroup/a/memory.max", "max\n");
  EXPECT_EQ(usable_memory_mib(sources_), (Usable{16000, ""}));
}

TEST_F(ThisMachineTest, AnyCgroupAboveMayLimitMemory) {
  write("mountinfo", kMountsOfVersion2);
  write("cgroup", "0::/a/b\n");
  write("sys/fs/cgroup/a/memory.max", "1073741824\n");
  write("sys/fs/cgroup/a/b/memory.max", "max\n");
  EXPECT_EQ(usable_memory_mib(sources_), (Usable{1024, "/sys/fs/cgroup/a"}));
}

TEST_F(ThisMachineTest, ALimitOfVersion1CountsToo) {
  write("mountinfo", kMountsOfVersion1);
  write("cgroup", "4:memory:/job/x\n2:cpu,cpuacct:/\n0::/\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(usable_memory_mib(sources_), (Usable{16000, ""}));
  write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "314572800\n");
  write("sys/fs/cgroup/memory/job/x/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(usable_memory_mib(sources_), (Usable{300, "/sys/fs/cgroup/memory/job"}));
}

TEST_F(ThisMachineTest, AContainerSeesItsOwnGroupOnly) {
  write("mountinfo", kMountsOfContainer);
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "314572800\n");
  for (const std::string own : {"4:memory:/docker/4711\n", "4:memory:/\n", "4:memory:/../x\n"}) {
    write("cgroup", own);
    EXPECT_EQ(usable_memory_mib(sources_), (Usable{300, "/sys/fs/cgroup/memory"})) << own;
  }
}

TEST_F(ThisMachineTest, AQuotaOfTheProcessorsIsSoManyCores) {
  const auto all = usable_cores({.own_cgroup = "", .mountinfo = ""});
  EXPECT_GE(all.amount, 1);
  EXPECT_EQ(all.limited_by, "");
  write("mountinfo", kMountsOfVersion1);
  write("cgroup", "4:memory:/job/x\n2:cpu,cpuacct:/job\n0::/\n");
  write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  for (const std::string quota : {"50000\n", "100000\n"}) {
    write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", quota);
    EXPECT_EQ(usable_cores(sources_).amount, 1) << quota;
  }
  for (const std::string quota : {"-1\n", "1000000000\n"}) {
    write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", quota);
    EXPECT_EQ(usable_cores(sources_), all) << quota;
  }
  write("mountinfo", kMountsOfVersion2);
  write("cgroup", "0::/job\n");
  write("sys/fs/cgroup/job/cpu.max", "max 100000\n");
  EXPECT_EQ(usable_cores(sources_), all);
  if (all.amount == 1) return;
  write("sys/fs/cgroup/job/cpu.max", "20000 100000\n");
  EXPECT_EQ(usable_cores(sources_), (Usable{1, "/sys/fs/cgroup/job"}));
}

TEST_F(ThisMachineTest, MemoryIsZeroWhereNothingTellsIt) {
  EXPECT_EQ(usable_memory_mib({.meminfo = "", .own_cgroup = "", .mountinfo = ""}), Usable{});
}

using testing::HasSubstr;

const Machine kMachine{.memory_mib = 1000, .vcores = 4, .gpus = 2};

job::JobSpec spec_of(int instances, job::Resources resources) {
  job::JobSpec spec;
  job::TaskSpec& task = spec.tasks.emplace_back();
  task.type = "worker";
  task.instances = instances;
  task.resources = resources;
  return spec;
}

TEST(Machine, MemoryAndGpusAreOfTheWholeGang) {
  EXPECT_TRUE(check_fits(spec_of(2, {.memory_mib = 500, .gpus = 1}), kMachine).ok());
  const auto memory = check_fits(spec_of(2, {.memory_mib = 501}), kMachine);
  ASSERT_FALSE(memory.ok());
  EXPECT_THAT(memory.error().message, HasSubstr("1002 MiB of memory; this machine has 1000 MiB"));
  const auto gpus = check_fits(spec_of(3, {.gpus = 1}), kMachine);
  ASSERT_FALSE(gpus.ok());
  EXPECT_THAT(gpus.error().message, HasSubstr("3 GPUs; this machine has 2"));
}

TEST(Machine, CoresAreShared) {
  EXPECT_TRUE(check_fits(spec_of(9, {.vcores = 4}), kMachine).ok());
  const auto refused = check_fits(spec_of(2, {.vcores = 5}), kMachine);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("worker:0 asks for 5 vcores"));
}

TEST(Machine, ACgroupIsNamedWhereItIsTheLimit) {
  const Machine limited{.memory_mib = 300,
                        .vcores = 1,
                        .gpus = 0,
                        .memory_limited_by = "/sys/fs/cgroup/memory/job",
                        .vcores_limited_by = "/sys/fs/cgroup/cpu/job"};
  EXPECT_EQ(
      check_fits(spec_of(2, {.memory_mib = 1024}), limited).error().message,
      "the job asks for 2048 MiB of memory; this machine has 300 MiB, the limit of the cgroup "
      "/sys/fs/cgroup/memory/job");
  EXPECT_THAT(check_fits(spec_of(1, {.vcores = 2}), limited).error().message,
              HasSubstr("has 1, the limit of the cgroup /sys/fs/cgroup/cpu/job"));
}

TEST(Machine, SparesCountToo) {
  job::JobSpec spec = spec_of(1, {.memory_mib = 600});
  spec.tasks.front().spares = 1;
  EXPECT_FALSE(check_fits(spec, kMachine).ok());
}

TEST(ContainmentChoice, IsALevelThatTheHostPermits) {
  const auto best = choose_containment(job::Containment::kAuto);
  ASSERT_TRUE(best.ok()) << best.error().message;
  EXPECT_NE(*best, job::Containment::kAuto);
  const auto again = choose_containment(*best);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(*again, *best);
}

TEST(ContainmentChoice, IsTheOneThatIsWanted) {
  const auto least = choose_containment(job::Containment::kSubreaper);
  ASSERT_TRUE(least.ok()) << least.error().message;
  EXPECT_EQ(*least, job::Containment::kSubreaper);
}

}  // namespace
}  // namespace gangrun::local
