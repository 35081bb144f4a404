#include "cluster/ssh/node/nvidia_smi.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <string>

#include "base/strings.h"
#include "process/pipe.h"
#include "process/spawn.h"
#include "process/wait_for.h"

namespace gangrun::node {

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

std::vector<cluster::NvidiaGpu> gpus_in_list(std::string_view text) {
  std::vector<cluster::NvidiaGpu> gpus;
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

std::optional<std::vector<cluster::NvidiaGpu>> gpus_of_nvidia_smi() {
  // Its driver makes this; without it there is nothing to ask for.
  if (::access("/proc/driver/nvidia/version", F_OK) != 0) return std::nullopt;
  base::Result<process::Pipe> output = process::make_pipe();
  if (!output.ok()) return std::nullopt;
  process::SpawnOptions options;
  options.argv = {"nvidia-smi", "-L"};
  options.environment = process::inherited_environment();
  options.standard_output = output->write.get();
  auto child = process::spawn(options);
  output->write.reset();
  if (!child.ok()) return std::nullopt;
  const base::Instant deadline = std::chrono::steady_clock::now() + kSmiLimit;
  std::string text;
  while (text.size() < kMaxListBytes && process::wait_readable(output->read.get(), deadline)) {
    char buffer[4096];
    const ssize_t got = ::read(output->read.get(), buffer, sizeof buffer);
    if (got == 0 || (got < 0 && errno != EINTR)) break;
    if (got > 0) text.append(buffer, static_cast<std::size_t>(got));
  }
  const auto exit = child->wait(deadline);
  if (exit.ok() && exit->succeeded()) return gpus_in_list(text);
  (void)child->signal(SIGKILL);
  return std::nullopt;
}

}  // namespace gangrun::node
