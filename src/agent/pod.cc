#include "agent/pod.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <limits>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "base/variable.h"
#include "cluster/task_files.h"
#include "job/units.h"
#include "kubernetes/link_frames.h"

namespace gangrun::agent {

namespace {

constexpr int kMaxPort = std::numeric_limits<std::uint16_t>::max();

// Empty: one of them is none.
std::vector<std::uint16_t> ports_from(std::string_view words) {
  std::vector<std::uint16_t> ports;
  for (const std::string& word : base::split(words, ',')) {
    const auto port = job::parse_count(word, 1, kMaxPort);
    if (!port.ok()) return {};
    ports.push_back(static_cast<std::uint16_t>(*port));
  }
  return ports;
}

}  // namespace

std::optional<PodWords> pod_words_from(const std::vector<std::string>& words) {
  std::map<std::string, std::string> values;
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) values[words[i]] = words[i + 1];
  const auto take = [&values](const char* flag) {
    auto found = values.extract(flag);
    return found.empty() ? std::string() : std::move(found.mapped());
  };
  PodWords pod;
  const auto task = job::parse_task_id(take("--task"));
  const auto attempt = job::parse_count(take("--attempt"), 1, job::kMaxAttempt);
  pod.config = take("--config");
  pod.folder = take("--folder");
  if (const std::string master = take("--master"); !master.empty()) {
    auto address = job::parse_address(master);
    if (!address.ok()) return std::nullopt;
    pod.master = *std::move(address);
  }
  if (const std::string own = take("--port"), host = take("--host");
      !host.empty() || !own.empty()) {
    const auto number = job::parse_count(own, 1, kMaxPort);
    if (host.empty() || !number.ok()) return std::nullopt;
    pod.own = job::Address{host, static_cast<std::uint16_t>(*number)};
  }
  auto ports = ports_from(take("--hint-port"));
  if (words.size() % 2 != 0 || !values.empty() || !task.ok() || !attempt.ok() || ports.empty() ||
      pod.config.empty() || pod.folder.empty()) {
    return std::nullopt;
  }
  pod.hint_ports = std::move(ports);
  pod.task = *task;
  pod.attempt = *attempt;
  return pod;
}

base::Result<wire::AgentConfig> agent_config_of(const PodWords& words) {
  GANGRUN_ASSIGN(auto config, wire::read_agent_config(words.config));
  config.task = words.task;
  config.attempt = words.attempt;
  GANGRUN_TRY(config.complete());
  config.host = base::variable(kubernetes::kPodAddressVariable);
  if (config.host.empty()) {
    return base::Error{
        base::Code::kFailedPrecondition,
        base::format("{} is not set: the pod has no address", kubernetes::kPodAddressVariable)};
  }
  ::unsetenv(kubernetes::kPodAddressVariable);
  if (words.own) {
    config.host = words.own->host;
    config.wanted_port = words.own->port;
  }
  config.host_reason.clear();
  config.log_prefix = cluster::log_prefix(words.folder, words.task);
  config.in_pod = true;
  config.place_tells_end = true;
  if (words.master) {
    config.master_host = words.master->host;
    config.master_port = words.master->port;
  }
  // The image has it, or the pod sets it.
  std::error_code failed;
  config.working_folder = std::filesystem::current_path(failed).string();
  if (failed) return base::from_errno(failed.value(), "the working folder");
  return config;
}

}  // namespace gangrun::agent
