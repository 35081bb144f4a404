#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace gangrun::local {

struct NvidiaGpu {
  std::string uuid;                // "GPU-8932f937-…"
  std::vector<std::string> parts;  // UUIDs of its MIG devices: then programs use only these

  friend bool operator==(const NvidiaGpu&, const NvidiaGpu&) = default;
};

// The GPUs that this process may use as NVIDIA's management library (NVML, loaded here) lists them,
// by their place on the bus. None where there is no such library, or it fails, or does not answer
// within `limit`: a broken driver never returns, so another process asks it.
std::optional<std::vector<NvidiaGpu>> gpus_of_nvidia_library(std::chrono::milliseconds limit);

}  // namespace gangrun::local
