#include "client/agent_program.h"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <vector>

#include "base/format.h"
#include "base/strings.h"
#include "process/pipe.h"
#include "process/spawn.h"

namespace gangrun::client {

namespace {

constexpr std::string_view kAgentName = "gangrun-agent";
constexpr std::string_view kOwnVersion = "gangrun-agent " GANGRUN_VERSION;
constexpr std::size_t kMaxVersionBytes = 256;
constexpr std::chrono::seconds kVersionTimeout(30);
constexpr std::chrono::seconds kAgentTimeout(5);

bool is_executable_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

base::Result<std::string> find_agent(const Context& context) {
  const std::string named = context.variable("GANGRUN_AGENT");
  if (!named.empty()) {
    if (is_executable_file(named)) return std::filesystem::absolute(named).string();
    return base::not_found(
        base::format("GANGRUN_AGENT={}: there is no executable file", base::shell_quote(named)));
  }
  const std::filesystem::path folder = std::filesystem::path(context.program).parent_path();
  const std::vector<std::string> places = {
      (folder / kAgentName).string(), (folder.parent_path() / "libexec" / kAgentName).string()};
  for (const std::string& place : places) {
    if (is_executable_file(place)) return place;
  }
  return base::not_found(
      base::format("the agent program is missing; looked for: {}", base::join(places, ", ")));
}

base::Result<std::string> find_agent_of_this_version(const Context& context) {
  GANGRUN_ASSIGN(std::string program, find_agent(context));
  GANGRUN_ASSIGN(const std::string version,
                 agent_version(program, context.clock.now() + kVersionTimeout));
  if (version == kOwnVersion) return program;
  return base::Error{
      base::Code::kFailedPrecondition,
      base::format("{} is {}, and this is gangrun {}: install both from the same release", program,
                   version.empty() ? "of an unknown version" : version, GANGRUN_VERSION)};
}

base::Result<std::string> agent_version(const std::string& program, base::Instant deadline) {
  GANGRUN_ASSIGN(process::Pipe pipe, process::make_pipe());
  process::SpawnOptions options;
  options.argv = {program, "--version"};
  options.standard_output = pipe.write.get();
  options.parent_death_signal = SIGKILL;
  GANGRUN_ASSIGN(process::Child child, process::spawn(options));
  pipe.write.reset();
  const auto exit = child.wait(deadline);
  if (!exit.ok()) {
    // It runs on otherwise: nobody would wait for it.
    GANGRUN_TRY(child.signal(SIGKILL));
    return exit.error();
  }
  if (!exit->succeeded()) {
    return base::unavailable(base::format("{} {}", program, exit->to_words()));
  }
  std::string text(kMaxVersionBytes, '\0');
  const ssize_t got = ::read(pipe.read.get(), text.data(), text.size());
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return std::string(base::trim(text));
}

cluster::Check check_agent(const Context& context) {
  const auto program = find_agent(context);
  if (!program.ok()) {
    return {"agent", cluster::Verdict::kFailed, program.error().message,
            "put gangrun-agent next to gangrun, or set GANGRUN_AGENT to its path"};
  }
  const auto version = agent_version(*program, context.clock.now() + kAgentTimeout);
  if (!version.ok()) return {"agent", cluster::Verdict::kFailed, version.error().message};
  const bool same = version->find(GANGRUN_VERSION) != std::string::npos;
  return {"agent", same ? cluster::Verdict::kOk : cluster::Verdict::kFailed,
          base::format("{} ({}){}", *program, *version,
                       same ? "" : "; it must be of version " GANGRUN_VERSION)};
}

}  // namespace gangrun::client
