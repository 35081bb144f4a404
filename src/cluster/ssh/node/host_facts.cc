#include "cluster/ssh/node/host_facts.h"

#include <sys/statvfs.h>
#include <sys/utsname.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/strings.h"
#include "base/variable.h"
#include "cluster/local/containment_choice.h"
#include "cluster/local/machine_gpus.h"
#include "cluster/ssh/folder_mark.h"
#include "cluster/ssh/node/nvidia_smi.h"
#include "job/choice.h"
#include "job/spec_names.h"
#include "net/interfaces.h"
#include "process/engine.h"
#include "process/levels.h"

namespace gangrun::node {

namespace {

using base::Result;

constexpr std::size_t kMaxBootIdBytes = 64;

std::string boot_id() {
  auto id = base::read_file("/proc/sys/kernel/random/boot_id", kMaxBootIdBytes);
  return id.ok() ? std::string(base::trim(*id)) : std::string();
}

// As ssh reached this host: the third word of "CLIENT PORT SERVER PORT".
std::string address_of_connection() {
  const auto words = base::split(base::variable("SSH_CONNECTION"), ' ');
  return words.size() == 4 ? words[2] : std::string("127.0.0.1");
}

std::string system_words() {
  utsname names{};
  if (::uname(&names) != 0) return "Linux";
  return base::format("{} {} {}", names.sysname, names.release, names.machine);
}

// For this user.
std::int64_t free_bytes_of(const std::string& folder) {
  struct statvfs info {};
  if (::statvfs(folder.c_str(), &info) != 0) return 0;
  return static_cast<std::int64_t>(info.f_bavail) * static_cast<std::int64_t>(info.f_frsize);
}

std::string first_own_address() {
  const auto addresses = net::local_addresses();
  return addresses.empty() ? std::string() : addresses.front();
}

std::map<std::string, std::string> own_environment() {
  std::map<std::string, std::string> environment;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    environment[std::string(text.substr(0, equals))] = text.substr(equals + 1);
  }
  return environment;
}

}  // namespace

Result<cluster::HelloMessage> hello_of(const KeeperOptions& options) {
  cluster::HelloMessage hello;
  hello.version = GANGRUN_VERSION;
  hello.boot_id = boot_id();
  hello.address = address_of_connection();
  hello.address_reason = "as ssh reached it";
  if (!options.interface.empty()) {
    GANGRUN_ASSIGN(auto chosen, net::choose_address(net::interface_addresses(), options.interface));
    hello.address = std::move(chosen.address);
    hello.address_reason = std::move(chosen.reason);
  }
  hello.own_address = first_own_address();
  hello.shares_folder = cluster::has_mark(options.working_folder, options.folder_mark);
  cluster::GpuSources sources;
  sources.nvidia_library = gpus_of_nvidia_smi;
  hello.gpus = cluster::usable_gpus(sources, own_environment());
  GANGRUN_ASSIGN(const auto wanted, job::choice_from<job::Containment>(options.containment));
  GANGRUN_ASSIGN(hello.containment, cluster::choose_containment(wanted));
  const bool is_best = hello.containment == job::Containment::kPidNamespace;
  if (wanted == job::Containment::kAuto && !is_best) {
    hello.containment_lack = process::probe_level(process::Level::kPidNamespace).reason;
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
  hello.free_bytes = free_bytes_of(options.folder);
  return hello;
}

}  // namespace gangrun::node
