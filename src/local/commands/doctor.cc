#include "local/commands/doctor.h"

#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/sizes.h"
#include "base/strings.h"
#include "base/unique_fd.h"
#include "client/agent_program.h"
#include "client/default_files.h"
#include "client/place.h"
#include "client/prepare.h"
#include "client/run_options.h"
#include "client/sites.h"
#include "client/text.h"
#include "local/commands/machine_checks.h"
#include "process/engine.h"
#include "process/levels.h"
#include "process/stack_look.h"

namespace gangrun::local::commands {

namespace {

using cluster::Check;
using cluster::Verdict;

constexpr std::chrono::seconds kEngineTimeout(5);
// With less, a log or two fill the disk.
constexpr std::int64_t kLittleSpace = std::int64_t{100} << 20U;
// A master holds about two descriptors for each task.
constexpr rlim_t kFewDescriptors = 1024;
constexpr std::size_t kMaxScopeBytes = 16;
constexpr int kFirstCredibleYear = 2024;

void add_levels(std::vector<Check>& checks) {
  std::map<process::Level, process::Ability> abilities;
  for (const process::Level level : process::kLevels) {
    abilities[level] = process::probe_level(level);
  }
  const auto probed = [&abilities](process::Level level) { return abilities.at(level); };
  const process::Level best = process::choose_level(std::nullopt, probed).level;
  bool any = false;
  for (const auto& [level, ability] : abilities) {
    any = any || ability.possible;
    const std::string name = base::format("containment {}", process::to_string(level));
    if (ability.possible) {
      std::string words = "possible";
      if (level == best) words += "; jobs use it";
      if (ability.needs_user_namespace) {
        words += base::format(" in a user namespace; a job asks for it by `containment: {}`",
                              process::to_string(level));
      }
      const auto noticed = process::what_programs_notice(level, ability.needs_user_namespace);
      if (!noticed.empty()) words += base::format("; {}", noticed);
      checks.push_back({name, Verdict::kOk, std::move(words)});
    } else {
      checks.push_back({name, Verdict::kWarning, ability.reason});
    }
  }
  if (!any) {
    checks.push_back({"containment", Verdict::kFailed, "no level is possible on this host"});
  }
}

Check examine_port() {
  const base::UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockaddr_storage storage{};
  std::memcpy(&storage, &address, sizeof(address));
  if (!fd.valid() ||
      ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&storage), sizeof(address)) != 0) {
    return {"ports", Verdict::kFailed,
            base::from_errno(errno, "no port of 127.0.0.1 can be bound").message};
  }
  return {"ports", Verdict::kOk, "ports of 127.0.0.1 can be bound"};
}

std::string last_line(std::string_view text) {
  text = base::trim(text);
  return std::string(text.substr(text.rfind('\n') + 1));
}

std::optional<std::int64_t> free_bytes(const std::string& path) {
  struct statvfs info {};
  if (::statvfs(path.c_str(), &info) != 0) return std::nullopt;
  return static_cast<std::int64_t>(info.f_bavail) * static_cast<std::int64_t>(info.f_frsize);
}

Check examine_home(const client::Context& context) {
  const auto home = client::home_of(context);
  if (!home.ok()) return {"home", Verdict::kFailed, home.error().message};
  const auto made = base::make_folders(*home + "/jobs", 0700);
  if (!made.ok()) return {"home", Verdict::kFailed, made.error().message};
  if (::access((*home + "/jobs").c_str(), W_OK | X_OK) != 0) {
    return {"home", Verdict::kFailed, base::from_errno(errno, *home + "/jobs").message};
  }
  const auto space = free_bytes(*home);
  const std::string text = base::format(
      "{} with {} free", *home,
      space ? base::size_text(static_cast<std::uint64_t>(*space)) : "an unknown amount");
  if (space && *space == 0) return {"home", Verdict::kFailed, text};
  const bool little = space && *space < kLittleSpace;
  return {"home", little ? Verdict::kWarning : Verdict::kOk, text};
}

// Each run reads them first, whatever its job is.
Check examine_defaults(const client::Context& context) {
  auto files = client::read_default_files(context);
  if (!files.ok()) return {"defaults", Verdict::kFailed, files.error().message};
  std::vector<std::string> paths;
  for (const auto& file : *files) paths.push_back(file.path);
  client::RunOptions options;
  options.defaults = *std::move(files);
  options.flags.roles = {"worker:1"};
  options.flags.command = {"true"};
  const auto read = client::read_job(options, context.folder, context.places.rules());
  if (!read.ok()) return {"defaults", Verdict::kFailed, read.error().message};
  return {"defaults", Verdict::kOk,
          paths.empty() ? "there is no file of defaults"
                        : base::format("of {}", base::join(paths, " and "))};
}

Check examine_shared_memory() {
  const std::string folder = "/dev/shm";
  const auto space = free_bytes(folder);
  if (!space || ::access(folder.c_str(), W_OK) != 0) {
    return {"shared memory", Verdict::kWarning,
            base::format("{}; frameworks that use it fail",
                         base::from_errno(errno, folder + " cannot be written").message)};
  }
  return {
      "shared memory", *space < kLittleSpace ? Verdict::kWarning : Verdict::kOk,
      base::format("{} with {} free", folder, base::size_text(static_cast<std::uint64_t>(*space)))};
}

Check examine_descriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return {"open files", Verdict::kWarning, base::from_errno(errno, "getrlimit").message};
  }
  const auto words = [](rlim_t value) {
    return value == RLIM_INFINITY ? std::string("unlimited") : std::to_string(value);
  };
  return {"open files", limit.rlim_max < kFewDescriptors ? Verdict::kWarning : Verdict::kOk,
          base::format("limit {} (hard {})", words(limit.rlim_cur), words(limit.rlim_max))};
}

Check examine_machine(const client::Context& context) {
  const local::Machine machine = this_machine(gpus_of_this_machine(context));
  const auto limit = [](const std::string& cgroup) {
    return cgroup.empty() ? std::string() : base::format(" (the limit of {})", cgroup);
  };
  return {"machine", machine.memory_mib > 0 ? Verdict::kOk : Verdict::kWarning,
          base::format("{}{}, {} of memory{}, {}", base::count_text(machine.vcores, "core"),
                       limit(machine.vcores_limited_by),
                       machine.memory_mib > 0 ? client::bytes_text(machine.memory_mib << 20U)
                                              : std::string("an unknown amount"),
                       limit(machine.memory_limited_by), base::count_text(machine.gpus, "GPU"))};
}

// Only tasks with an `image` need one.
Check examine_engine(const client::Context& context) {
  const auto engine = engine_of(context.environment);
  if (!engine.ok()) {
    return {"container engine", Verdict::kWarning,
            engine.error().message + "; no task can have an image"};
  }
  const auto answer = process::ask({*engine, "version"}, context.clock.now() + kEngineTimeout);
  if (!answer.ok() || answer->status != 0) {
    const std::string said = answer.ok() ? answer->output : answer.error().message;
    return {"container engine", Verdict::kWarning,
            base::format("{} cannot be used: {}", *engine, last_line(said))};
  }
  return {"container engine", Verdict::kOk,
          base::format("{} runs tasks that have an image", *engine)};
}

bool has_program(const client::Context& context, std::string_view name) {
  for (const std::string& folder : base::split(context.variable("PATH"), ':')) {
    const std::string path = base::format("{}/{}", folder, name);
    if (folder.starts_with('/') && ::access(path.c_str(), X_OK) == 0) return true;
  }
  return false;
}

// By the Yama module of the kernel, which not every kernel has.
std::string why_not_traced() {
  const auto scope = base::read_file("/proc/sys/kernel/yama/ptrace_scope", kMaxScopeBytes);
  if (!scope.ok() || base::trim(*scope) == "0" || ::geteuid() == 0) return {};
  return base::format(
      "kernel.yama.ptrace_scope is {}, so that they may not look into processes of yours (0 "
      "allows it)",
      base::trim(*scope));
}

// A task may bring other programs, in its own PATH or environment of Python.
Check examine_stacks(const client::Context& context) {
  const bool has_spy = has_program(context, process::kPySpy);
  const bool has_stack = has_program(context, "eu-stack");
  const bool has_gdb = has_program(context, "gdb");
  std::string words =
      has_spy ? "Python's are read by py-spy"
              : "py-spy is not in PATH (pip install 'gangrun[stacks]'): without one beside its "
                "interpreter, a Python process shows its stacks only if it runs a function of the "
                "package gangrun";
  words += has_stack || has_gdb
               ? base::format("; those of other programs by {}", has_stack ? "eu-stack" : "gdb")
               : std::string("; neither eu-stack nor gdb is installed");
  const std::string refused = has_spy || has_stack || has_gdb ? why_not_traced() : std::string();
  if (!refused.empty()) words += base::format("; {}", refused);
  const bool all = has_spy && (has_stack || has_gdb) && refused.empty();
  return {"stacks", all ? Verdict::kOk : Verdict::kWarning, std::move(words)};
}

Check examine_clock(const client::Context& context) {
  const std::string now = base::to_iso8601(context.clock.wall_now());
  if (now < std::to_string(kFirstCredibleYear)) {
    return {"clock", Verdict::kFailed,
            base::format("{} is in the past; certificates would not be valid elsewhere", now)};
  }
  timex state{};
  const int result = ::adjtimex(&state);
  const bool synchronised = result >= 0 && result != TIME_ERROR;
  return {"clock", Verdict::kOk,
          base::format("{}{}", now, synchronised ? ", synchronised" : ", not synchronised")};
}

}  // namespace

std::vector<Check> check_this_machine(const client::Context& context) {
  std::vector<Check> checks;
  checks.push_back(client::check_agent(context));
  checks.push_back(examine_home(context));
  checks.push_back(examine_defaults(context));
  checks.push_back(examine_port());
  add_levels(checks);
  checks.push_back(examine_machine(context));
  checks.push_back(examine_shared_memory());
  checks.push_back(examine_descriptors());
  checks.push_back(examine_engine(context));
  checks.push_back(examine_stacks(context));
  checks.push_back(examine_clock(context));
  return checks;
}

}  // namespace gangrun::local::commands
