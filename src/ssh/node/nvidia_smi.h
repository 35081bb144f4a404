#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "local/nvidia_library.h"

namespace gangrun::ssh::node {

// The GPUs that `nvidia-smi -L` lists. A static program cannot load NVIDIA's library, which the
// client asks; the names are the same. None where there is no such program, or it fails, or does
// not answer within 10 s.
std::optional<std::vector<local::NvidiaGpu>> gpus_of_nvidia_smi();

// The lines that it prints: "GPU 0: NVIDIA A100 (UUID: GPU-8932…)", and for each part of it "  MIG
// 1g.5gb Device 0: (UUID: MIG-…)".
std::vector<local::NvidiaGpu> gpus_in_list(std::string_view text);

}  // namespace gangrun::ssh::node
