#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "job/gpus.h"

namespace gangrun::local {

struct NvidiaGpu {
  std::string uuid;                // "GPU-8932f937-…"
  std::vector<std::string> parts;  // UUIDs of its MIG devices: then programs use only these

  friend bool operator==(const NvidiaGpu&, const NvidiaGpu&) = default;
};

// The sources that tell which GPUs there are; others in tests.
struct GpuSources {
  std::function<std::optional<std::vector<NvidiaGpu>>()> nvidia_library;
  std::string devices = "/dev";
  std::string nvidia_driver = "/proc/driver/nvidia/gpus";
  std::string amd_driver = "/sys/class/kfd/kfd/topology/nodes";
};

// Those of the system, where the library has 10 s.
GpuSources system_gpu_sources();

// The GPUs that `environment` lets programs use (CUDA_VISIBLE_DEVICES; ROCR_VISIBLE_DEVICES and
// HIP_VISIBLE_DEVICES), in that order: those of NVIDIA, or where there are none, of AMD. NVIDIA's
// are listed by its library, else by what its driver says in /proc, else by the devices; then they
// have numbers, from 0 on, as CUDA counts what it sees.
job::Gpus usable_gpus(const GpuSources& sources,
                      const std::map<std::string, std::string>& environment);

}  // namespace gangrun::local
