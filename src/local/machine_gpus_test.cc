#include "local/machine_gpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "base/files.h"
#include "base/format.h"

namespace gangrun::local {
namespace {

using Environment = std::map<std::string, std::string>;
using Library = std::vector<NvidiaGpu>;

class MachineGpusTest : public testing::Test {
 protected:
  MachineGpusTest() {
    std::string name = testing::TempDir() + "machine_gpus_XXXXXX";
    if (::mkdtemp(name.data()) != nullptr) folder_ = name;
    sources_.nvidia_library = [this] { return library_; };
    sources_.devices = folder_ + "/dev";
    sources_.nvidia_driver = folder_ + "/nvidia";
    sources_.amd_driver = folder_ + "/kfd";
  }
  ~MachineGpusTest() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& path, std::string_view text = "") const {
    const std::filesystem::path file = folder_ + "/" + path;
    ASSERT_TRUE(base::make_folders(file.parent_path().string(), 0700).ok());
    ASSERT_TRUE(base::write_private_file(file.string(), text).ok());
  }

  // As its driver tells of a GPU.
  void nvidia_driver_tells(const std::string& bus, int minor, const std::string& uuid) const {
    write(base::format("nvidia/{}/information", bus),
          base::format("Model: \t\t Any\nGPU UUID: \t {}\nDevice Minor: \t {}\n", uuid, minor));
  }
  void amd_driver_tells(int node, int units, int minor, const std::string& id) const {
    write(base::format("kfd/{}/properties", node),
          base::format("simd_count {}\nmax_waves_per_simd 8\ndrm_render_minor {}\nunique_id {}\n",
                       units, minor, id));
  }

  [[nodiscard]] std::string names(const Environment& environment = {}) const {
    return job::names_of(usable_gpus(sources_, environment));
  }

  std::string folder_;
  std::optional<Library> library_;
  GpuSources sources_;
};

TEST_F(MachineGpusTest, AMachineWithoutAnyHasNone) {
  EXPECT_EQ(names(), "");
  EXPECT_EQ(names({{"CUDA_VISIBLE_DEVICES", "0"}}), "");
  EXPECT_EQ(names({{"CUDA_VISIBLE_DEVICES", "GPU-8932f937"}}), "");
}

TEST_F(MachineGpusTest, TheLibraryNamesThemByUuid) {
  library_ = Library{{"GPU-aa", {}}, {"GPU-ab", {}}, {"GPU-b", {}}};
  EXPECT_EQ(names(), "GPU-aa,GPU-ab,GPU-b");
  EXPECT_EQ(names({{"CUDA_VISIBLE_DEVICES", "2, 0"}}), "GPU-b,GPU-aa");
  EXPECT_EQ(names({{"CUDA_VISIBLE_DEVICES", "GPU-b,1"}}), "GPU-b,GPU-ab");
  EXPECT_EQ(names({{"CUDA_VISIBLE_DEVICES", "1,1"}}), "GPU-ab");
}

TEST_F(MachineGpusTest, WhatNamesNoneHidesAllAfterIt) {
  library_ = Library{{"GPU-aa", {}}, {"GPU-ab", {}}};
  EXPECT_EQ(names({{"CUDA_VISIBLE_DEVICES", ""}}), "");
  EXPECT_EQ(names({{"CUDA_VISIBLE_DEVICES", "1,-1,0"}}), "GPU-ab");
  EXPECT_EQ(names({{"CUDA_VISIBLE_DEVICES", "0,7,1"}}), "GPU-aa");
  // The beginning of two.
  EXPECT_EQ(names({{"CUDA_VISIBLE_DEVICES", "GPU-a"}}), "");
  EXPECT_EQ(names({{"CUDA_VISIBLE_DEVICES", "GPU-c,0"}}), "");
}

TEST_F(MachineGpusTest, PartsStandForTheirGpu) {
  library_ = Library{{"GPU-1", {"MIG-x", "MIG-y"}}, {"GPU-2", {}}};
  EXPECT_EQ(names(), "MIG-x,MIG-y,GPU-2");
  EXPECT_EQ(names({{"CUDA_VISIBLE_DEVICES", "MIG-y"}}), "MIG-y");
  EXPECT_EQ(names({{"CUDA_VISIBLE_DEVICES", "GPU-1"}}), "MIG-x,MIG-y");
  const job::Gpus gpus = usable_gpus(sources_, {{"CUDA_VISIBLE_DEVICES", "MIG-y"}});
  EXPECT_EQ(gpus.list.front().lock, "MIG-y");
  EXPECT_EQ(gpus.list.front().whole_lock, "GPU-1");
}

TEST_F(MachineGpusTest, APartOfAnOldDriverIsALockWithoutFolders) {
  library_ = Library{{"GPU-1", {"MIG-GPU-1/3/0"}}};
  const job::Gpus gpus = usable_gpus(sources_, {});
  EXPECT_EQ(gpus.list.front().name, "MIG-GPU-1/3/0");
  EXPECT_EQ(gpus.list.front().lock, "MIG-GPU-1_3_0");
}

TEST_F(MachineGpusTest, WithoutTheLibraryTheDriverTellsOfThoseWhoseDeviceIsThere) {
  nvidia_driver_tells("0000:3b:00.0", 1, "GPU-one");
  nvidia_driver_tells("0000:1a:00.0", 0, "GPU-zero");
  nvidia_driver_tells("0000:5e:00.0", 3, "GPU-three");
  for (const char* device : {"dev/nvidia0", "dev/nvidia3", "dev/nvidiactl"}) write(device);
  EXPECT_EQ(names(), "GPU-zero,GPU-three");
  EXPECT_EQ(names({{"CUDA_VISIBLE_DEVICES", "1"}}), "GPU-three");
}

TEST_F(MachineGpusTest, AGpuThatNothingHasUsedYetHasANumber) {
  nvidia_driver_tells("0000:1a:00.0", 2, "GPU-" + std::string(36, '?'));
  write("dev/nvidia2");
  const job::Gpus gpus = usable_gpus(sources_, {});
  ASSERT_EQ(gpus.list.size(), 1U);
  EXPECT_EQ(gpus.list.front().name, "0");
  EXPECT_EQ(gpus.list.front().lock, "gpu-2");
}

TEST_F(MachineGpusTest, WithTheDevicesAloneNumbersCountWhatIsSeen) {
  for (const char* device : {"dev/nvidia10", "dev/nvidia3", "dev/nvidiactl", "dev/nvidia-uvm"}) {
    write(device);
  }
  EXPECT_EQ(names(), "0,1");
  const job::Gpus second = usable_gpus(sources_, {{"CUDA_VISIBLE_DEVICES", "1"}});
  ASSERT_EQ(second.list.size(), 1U);
  EXPECT_EQ(second.list.front().name, "1");
  EXPECT_EQ(second.list.front().lock, "gpu-10");
}

TEST_F(MachineGpusTest, UuidsThatNothingHereKnowsAreBelieved) {
  write("dev/nvidia0");
  EXPECT_EQ(names({{"CUDA_VISIBLE_DEVICES", "GPU-8932f937,MIG-7"}}), "GPU-8932f937,MIG-7");
  EXPECT_EQ(names({{"CUDA_VISIBLE_DEVICES", "none"}}), "");
}

TEST_F(MachineGpusTest, ThoseOfAmdAreNodesOfItsDriver) {
  amd_driver_tells(0, 0, 0, "0");  // a processor
  amd_driver_tells(10, 304, 130, "1311768467463790320");
  amd_driver_tells(2, 304, 129, "0");
  amd_driver_tells(3, 304, 131, "18446744073709551615");
  for (const char* device : {"dev/kfd", "dev/dri/renderD130", "dev/dri/renderD129"}) write(device);
  const job::Gpus gpus = usable_gpus(sources_, {});
  EXPECT_EQ(gpus.maker, job::GpuMaker::kAmd);
  EXPECT_EQ(job::names_of(gpus), "0,GPU-123456789abcdef0");
  EXPECT_EQ(gpus.list.back().device, "dri/renderD130");
  EXPECT_EQ(gpus.list.front().lock, "gpu-render-129");
}

TEST_F(MachineGpusTest, HipCountsWhatRocrLetsThrough) {
  amd_driver_tells(1, 304, 128, "255");
  amd_driver_tells(2, 304, 129, "256");
  for (const char* device : {"dev/kfd", "dev/dri/renderD128", "dev/dri/renderD129"}) write(device);
  const Environment second{{"ROCR_VISIBLE_DEVICES", "1"}, {"HIP_VISIBLE_DEVICES", "0"}};
  EXPECT_EQ(names(second), "GPU-0000000000000100");
  EXPECT_EQ(names({{"HIP_VISIBLE_DEVICES", "1"}, {"CUDA_VISIBLE_DEVICES", "0"}}),
            "GPU-0000000000000100");
  EXPECT_EQ(names({{"ROCR_VISIBLE_DEVICES", "GPU-00000000000000ff"}}), "GPU-00000000000000ff");
}

}  // namespace
}  // namespace gangrun::local
