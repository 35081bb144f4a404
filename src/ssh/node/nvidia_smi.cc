#include "ssh/node/nvidia_smi.h"

#include <unistd.h>

#include <chrono>
#include <string>

#include "base/strings.h"
#include "process/program_output.h"

namespace gangrun::ssh::node {

namespace {

constexpr std::chrono::seconds kSmiLimit(10);
constexpr std::size_t kMaxListBytes = std::size_t{1} << 20U;
constexpr std::string_view kUuid = "(UUID: ";

std::string uuid_in(std::string_view line) {
  const std::size_t begin = line.find(kUuid);
  if (begin == std::string_view::npos) return {};
  const std::string_view rest = line.substr(begin + kUuid.size());
  return std::string(rest.substr(0, rest.find(')')));
}

}  // namespace

std::vector<local::NvidiaGpu> gpus_in_list(std::string_view text) {
  std::vector<local::NvidiaGpu> gpus;
  for (const std::string& line : base::split(text, '\n')) {
    const std::string uuid = uuid_in(line);
    if (uuid.empty()) continue;
    if (line.starts_with("GPU ")) {
      gpus.push_back({uuid, {}});
    } else if (!gpus.empty() && base::trim(line).starts_with("MIG ")) {
      gpus.back().parts.push_back(uuid);
    }
  }
  return gpus;
}

std::optional<std::vector<local::NvidiaGpu>> gpus_of_nvidia_smi() {
  // Its driver makes this; without it there is nothing to ask for.
  if (::access("/proc/driver/nvidia/version", F_OK) != 0) return std::nullopt;
  const auto list = process::program_output(
      {"nvidia-smi", "-L"}, std::chrono::steady_clock::now() + kSmiLimit, kMaxListBytes);
  if (!list.ok()) return std::nullopt;
  return gpus_in_list(*list);
}

}  // namespace gangrun::ssh::node
