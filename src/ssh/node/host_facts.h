#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "local/machine_gpus.h"
#include "ssh/keeper_messages.h"
#include "ssh/node/keeper.h"

namespace gangrun::ssh::node {

// The facts about this host. An error: it cannot have tasks of the job, and why.
base::Result<ssh::HelloMessage> hello_of(const KeeperOptions& options);

// The variables that the agents of a job find: those of ssh's connection go, and `more` comes.
// While there is one thread.
void set_environment(const std::map<std::string, std::string>& more);

// The GPUs that `nvidia-smi -L` lists. A static program cannot load NVIDIA's library, which the
// client asks; the names are the same. None where there is no such program, or it fails, or does
// not answer within 10 s.
std::optional<std::vector<local::NvidiaGpu>> gpus_of_nvidia_smi();

// The lines that it prints: "GPU 0: NVIDIA A100 (UUID: GPU-8932…)", and for each part of it "  MIG
// 1g.5gb Device 0: (UUID: MIG-…)".
std::vector<local::NvidiaGpu> gpus_in_list(std::string_view text);

}  // namespace gangrun::ssh::node
