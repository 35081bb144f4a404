#include "cli/doctor.h"

#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/unique_fd.h"
#include "cli/agent_program.h"
#include "cli/commands.h"
#include "cli/prepare.h"
#include "cli/text.h"
#include "job/units.h"
#include "process/levels.h"

namespace gangrun::cli {

namespace {

using Grade = Finding::Grade;

constexpr std::chrono::seconds kAgentTimeout(5);
// With less, a log or two fill the disk.
constexpr std::int64_t kLittleSpace = std::int64_t{100} << 20U;
// A master holds about two descriptors for each task.
constexpr rlim_t kFewDescriptors = 1024;
constexpr int kFirstCredibleYear = 2024;

void add_levels(std::vector<Finding>& findings) {
  const process::Abilities abilities = process::probe_levels();
  const process::Level best = process::best(abilities);
  bool any = false;
  for (const process::Level level : process::kLevels) {
    const process::Ability& ability = abilities.of(level);
    any = any || ability.possible;
    const std::string name = base::format("containment {}", process::to_string(level));
    if (ability.possible) {
      findings.push_back(
          {name, Grade::kGood, level == best ? "possible; jobs use it" : "possible"});
    } else {
      findings.push_back({name, Grade::kLimited, ability.reason});
    }
  }
  if (!any) {
    findings.push_back({"containment", Grade::kBad, "no level is possible on this host"});
  }
}

Finding examine_port() {
  const base::UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockaddr_storage storage{};
  std::memcpy(&storage, &address, sizeof(address));
  if (!fd.valid() ||
      ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&storage), sizeof(address)) != 0) {
    return {"ports", Grade::kBad,
            base::from_errno(errno, "no port of 127.0.0.1 can be bound").message};
  }
  return {"ports", Grade::kGood, "ports of 127.0.0.1 can be bound"};
}

std::optional<std::int64_t> free_bytes(const std::string& path) {
  struct statvfs info {};
  if (::statvfs(path.c_str(), &info) != 0) return std::nullopt;
  return static_cast<std::int64_t>(info.f_bavail) * static_cast<std::int64_t>(info.f_frsize);
}

Finding examine_home(const Context& context) {
  const auto home = home_of(context);
  if (!home.ok()) return {"home", Grade::kBad, home.error().message};
  const auto made = base::make_folders(*home + "/jobs", 0700);
  if (!made.ok()) return {"home", Grade::kBad, made.error().message};
  if (::access((*home + "/jobs").c_str(), W_OK | X_OK) != 0) {
    return {"home", Grade::kBad, base::from_errno(errno, *home + "/jobs").message};
  }
  const auto space = free_bytes(*home);
  const std::string text = base::format("{} with {} free", *home, bytes_text(space.value_or(0)));
  if (space && *space == 0) return {"home", Grade::kBad, text};
  const bool little = space && *space < kLittleSpace;
  return {"home", little ? Grade::kLimited : Grade::kGood, text};
}

Finding examine_shared_memory() {
  const std::string folder = "/dev/shm";
  const auto space = free_bytes(folder);
  if (!space || ::access(folder.c_str(), W_OK) != 0) {
    return {"shared memory", Grade::kLimited,
            base::format("{}; frameworks that use it fail",
                         base::from_errno(errno, folder + " cannot be written").message)};
  }
  return {"shared memory", *space < kLittleSpace ? Grade::kLimited : Grade::kGood,
          base::format("{} with {} free", folder, bytes_text(*space))};
}

Finding examine_descriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return {"open files", Grade::kLimited, base::from_errno(errno, "getrlimit").message};
  }
  const auto words = [](rlim_t value) {
    return value == RLIM_INFINITY ? std::string("unlimited") : std::to_string(value);
  };
  return {"open files", limit.rlim_max < kFewDescriptors ? Grade::kLimited : Grade::kGood,
          base::format("limit {} (hard {})", words(limit.rlim_cur), words(limit.rlim_max))};
}

Finding examine_machine(const Context& context) {
  const cluster::Machine machine = this_machine(context);
  return {"machine", machine.memory_mib > 0 ? Grade::kGood : Grade::kLimited,
          base::format("{}, {} of memory, {}", count_text(machine.vcores, "core"),
                       machine.memory_mib > 0 ? bytes_text(machine.memory_mib << 20U)
                                              : std::string("an unknown amount"),
                       count_text(machine.gpus, "GPU"))};
}

Finding examine_agent(const Context& context) {
  const auto program = find_agent(context);
  if (!program.ok()) return {"agent", Grade::kBad, program.error().message};
  const auto version = agent_version(*program, context.clock.now() + kAgentTimeout);
  if (!version.ok()) return {"agent", Grade::kBad, version.error().message};
  const bool same = version->find(GANGRUN_VERSION) != std::string::npos;
  return {"agent", same ? Grade::kGood : Grade::kBad,
          base::format("{} ({}){}", *program, *version,
                       same ? "" : "; it must be of version " GANGRUN_VERSION)};
}

Finding examine_clock(const Context& context) {
  const std::string now = base::to_iso8601(context.clock.wall_now());
  if (now < std::to_string(kFirstCredibleYear)) {
    return {"clock", Grade::kBad,
            base::format("{} is in the past; certificates would not be valid elsewhere", now)};
  }
  timex state{};
  const int result = ::adjtimex(&state);
  const bool synchronised = result >= 0 && result != TIME_ERROR;
  return {"clock", Grade::kGood,
          base::format("{}{}", now, synchronised ? ", synchronised" : ", not synchronised")};
}

Paint paint_of(Grade grade) {
  switch (grade) {
    case Grade::kGood: return Paint::kGreen;
    case Grade::kLimited: return Paint::kYellow;
    case Grade::kBad: return Paint::kRed;
  }
  return Paint::kNone;
}

}  // namespace

std::string_view to_string(Grade grade) {
  switch (grade) {
    case Grade::kGood: return "good";
    case Grade::kLimited: return "limited";
    case Grade::kBad: return "bad";
  }
  return "bad";
}

std::vector<Finding> examine(const Context& context) {
  std::vector<Finding> findings;
  findings.push_back(examine_agent(context));
  findings.push_back(examine_home(context));
  findings.push_back(examine_port());
  add_levels(findings);
  findings.push_back(examine_machine(context));
  findings.push_back(examine_shared_memory());
  findings.push_back(examine_descriptors());
  findings.push_back(examine_clock(context));
  return findings;
}

bool can_run_jobs(const std::vector<Finding>& findings) {
  return std::none_of(findings.begin(), findings.end(),
                      [](const Finding& finding) { return finding.grade == Grade::kBad; });
}

Lines findings_lines(const std::vector<Finding>& findings, std::size_t width) {
  std::vector<std::vector<Span>> rows;
  rows.reserve(findings.size());
  for (const Finding& finding : findings) {
    rows.push_back({{finding.name},
                    {std::string(to_string(finding.grade)), paint_of(finding.grade)},
                    {harmless(finding.text)}});
  }
  Lines lines = table({{"WHAT"}, {"IS"}, {"BECAUSE"}}, rows, width);
  if (can_run_jobs(findings)) {
    lines.emplace_back("jobs can run on this machine", Paint::kGreen);
  } else {
    lines.emplace_back("no job can run on this machine until what is bad is mended", Paint::kRed);
  }
  return lines;
}

base::Json findings_json(const std::vector<Finding>& findings) {
  base::Json list = base::Json::array();
  for (const Finding& finding : findings) {
    list.push_back(
        {{"name", finding.name}, {"grade", to_string(finding.grade)}, {"text", finding.text}});
  }
  return {{"can_run_jobs", can_run_jobs(findings)}, {"findings", std::move(list)}};
}

}  // namespace gangrun::cli
