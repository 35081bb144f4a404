// The program that stays with the user: all commands.
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/strings.h"
#include "cli/commands.h"
#include "client/command.h"
#include "client/console.h"
#include "client/context.h"
#include "job/units.h"
#include "mirror/login_errand.h"
#include "places/places.h"
#include "process/core_files.h"
#include "process/open_files.h"
#include "process/signals.h"

namespace gangrun {
namespace {

std::map<std::string, std::string> environment_variables() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos)
      variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

// The process that drives this command, where it wants the command to end with it: the Python
// package, which may be killed.
constexpr const char* kParentVariable = "GANGRUN_PARENT";

// Ends this command with its parent. The programs that it starts have parents of their own, so the
// variable goes no further. An error where its value is no process; where it is another one than
// our parent, this does not return.
base::Result<> end_with_parent(std::map<std::string, std::string>& environment,
                               client::Console& console) {
  const auto found = environment.find(kParentVariable);
  if (found == environment.end()) return {};
  const auto parent = base::parse_integer(found->second);
  if (!parent || *parent <= 0) {
    return base::invalid_argument(
        base::format("{}={} is not a process; allowed: the id of the process that starts this "
                     "command (which ends with it), or nothing",
                     kParentVariable, job::in_quotes(found->second)));
  }
  ::prctl(PR_SET_PDEATHSIG, SIGTERM, 0L, 0L, 0L);
  // It may have ended before that.
  if (*parent != ::getppid()) {
    console.error(base::format(
        "{}={}: that process has ended or did not start this command, so this command ends",
        kParentVariable, *parent));
    ::raise(SIGTERM);
  }
  ::unsetenv(kParentVariable);  // NOLINT(concurrency-mt-unsafe): there is one thread
  environment.erase(found);
  return {};
}

int start(int argc, char** argv) {
  const auto have_files = process::open_standard_files();
  const base::SystemClock clock;
  const base::Instant commanded_at = clock.now();
  // Most commands hold the secret of a job, or get it.
  process::leave_no_core_file();
  process::survive_lost_output();
  process::raise_open_file_limit();
  auto environment = environment_variables();
  const auto value = [&](const std::string& name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string() : found->second;
  };
  client::Console::Options output;
  output.colour_allowed = value("NO_COLOR").empty() && value("TERM") != "dumb";
  client::Console console(output);
  if (!have_files.ok()) {
    console.error(have_files.error().message);
    return client::to_int(client::ExitStatus::kFailed);
  }
  if (const auto lasts = end_with_parent(environment, console); !lasts.ok()) {
    console.error(lasts.error().message);
    return client::to_int(client::ExitStatus::kBadInput);
  }
  std::error_code failed;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", failed).string();
  if (failed) {
    console.error("/proc/self/exe cannot be read: " + failed.message());
    return client::to_int(client::ExitStatus::kCouldNotStart);
  }
  // Empty where it is gone: most commands need none, and those that do say it.
  const std::string folder = std::filesystem::current_path(failed).string();
  const client::Places places(places::all());
  client::Context context{.clock = clock,
                          .commanded_at = commanded_at,
                          .console = console,
                          .environment = std::move(environment),
                          .program = program,
                          .folder = folder,
                          .places = places,
                          .system_folder = "/etc"};
  std::vector<std::string> arguments(argv + 1, argv + argc);
  // Called by the name of another tool, it is the command of that name.
  const std::string name = argc > 0 ? std::filesystem::path(argv[0]).filename().string() : "";
  const auto programs = places::programs(places.rules());
  if (std::any_of(programs.begin(), programs.end(),
                  [&](const client::Command& one) { return one.name == name; })) {
    arguments.insert(arguments.begin(), name);
  }
  if (arguments.size() == 1 && arguments[0] == mirror::kLoginErrandCommand) {
    return client::to_int(cli::run_login_errand(context));
  }
  return client::to_int(cli::run_command_line(arguments, context));
}

}  // namespace
}  // namespace gangrun

int main(int argc, char** argv) { return gangrun::start(argc, argv); }
