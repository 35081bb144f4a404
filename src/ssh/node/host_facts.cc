#include "ssh/node/host_facts.h"

#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/strings.h"
#include "base/variable.h"
#include "cluster/disk_room.h"
#include "job/choice.h"
#include "local/this_machine.h"
#include "net/hosts.h"
#include "net/interfaces.h"
#include "process/engine.h"
#include "process/levels.h"
#include "process/program_output.h"
#include "process/spawn.h"
#include "ssh/folder_mark.h"

namespace gangrun::ssh::node {

namespace {

using base::Result;

constexpr std::size_t kMaxBootIdBytes = 64;

// The machine since it has started, and the network namespace in which we are.
std::string own_network() {
  const auto id = base::read_file("/proc/sys/kernel/random/boot_id", kMaxBootIdBytes);
  struct stat info {};
  if (!id.ok() || ::stat("/proc/self/ns/net", &info) != 0) return {};
  return base::format("{}:{}", base::trim(*id), info.st_ino);
}

// As ssh reached this host: the third word of "CLIENT PORT SERVER PORT". That may be no address, as
// behind a program that is ssh's connection, or one that means nothing without its interface.
net::ChosenAddress address_of_connection() {
  const auto words = base::split(base::variable("SSH_CONNECTION"), ' ');
  if (words.size() == 4 && net::is_numeric_address(words[2])) {
    return {words[2], "as ssh reached it"};
  }
  return {"127.0.0.1", "as ssh tells no address by which it reached it"};
}

std::string system_words() {
  utsname names{};
  if (::uname(&names) != 0) return "Linux";
  return base::format("{} {} {}", names.sysname, names.release, names.machine);
}

std::vector<std::string> own_addresses() {
  std::vector<std::string> addresses = net::local_addresses();
  addresses.resize(std::min(addresses.size(), ssh::kMaxOwnAddresses));
  return addresses;
}

std::map<std::string, std::string> own_environment() {
  std::map<std::string, std::string> environment;
  for (const std::string& text : process::inherited_environment()) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    environment[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return environment;
}

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

Result<ssh::HelloMessage> hello_of(const KeeperOptions& options) {
  ssh::HelloMessage hello;
  hello.version = GANGRUN_VERSION;
  hello.network = own_network();
  net::ChosenAddress chosen = address_of_connection();
  if (!options.interface.empty()) {
    GANGRUN_ASSIGN(chosen, net::choose_address(net::interface_addresses(), options.interface));
  }
  hello.address = std::move(chosen.address);
  hello.address_reason = std::move(chosen.reason);
  hello.own_addresses = own_addresses();
  hello.shares_folder = ssh::has_mark(options.working_folder, options.folder_mark);
  local::GpuSources sources;
  sources.nvidia_library = gpus_of_nvidia_smi;
  hello.gpus = local::usable_gpus(sources, own_environment());
  GANGRUN_ASSIGN(const auto wanted, job::choice_from<job::Containment>(options.containment));
  GANGRUN_ASSIGN(hello.containment, local::choose_containment(wanted));
  const bool is_best = hello.containment == job::Containment::kPidNamespace;
  if (wanted == job::Containment::kAuto && !is_best) {
    const auto best = process::probe_level(process::Level::kPidNamespace);
    hello.containment_lack =
        best.possible ? "a PID namespace would need a user namespace, which programs notice"
                      : best.reason;
  }
  const auto engine =
      process::find_engine(base::variable(process::kEngineVariable), base::variable("PATH"));
  if (engine.ok()) {
    hello.engine = *engine;
  } else {
    hello.engine_lack = engine.error().message;
  }
  hello.system = system_words();
  hello.folder = options.folder;
  if (const auto room = cluster::disk_room(options.folder); room.ok()) {
    hello.free_bytes = static_cast<std::int64_t>(room->free);
  }
  return hello;
}

void set_environment(const std::map<std::string, std::string>& more) {
  for (const char* name : {"SSH_CLIENT", "SSH_CONNECTION", "SSH_TTY", "SSH_ORIGINAL_COMMAND"}) {
    (void)::unsetenv(name);  // NOLINT(concurrency-mt-unsafe): there is one thread
  }
  for (const auto& [name, value] : more) {
    (void)::setenv(name.c_str(), value.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): likewise
  }
}

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
