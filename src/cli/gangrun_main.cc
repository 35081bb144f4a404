// The program that stays with the user: all commands.
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include "cli/app.h"
#include "cli/console.h"
#include "cli/context.h"

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

int start(int argc, char** argv) {
  const base::SystemClock clock;
  const base::Instant commanded_at = clock.now();
  // A reader that has gone is an error of write(), not our end.
  ::signal(SIGPIPE, SIG_IGN);
  auto environment = environment_variables();
  const auto value = [&](const std::string& name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string() : found->second;
  };
  cli::Console::Options output;
  output.colour_allowed = value("NO_COLOR").empty() && value("TERM") != "dumb";
  cli::Console console(output);
  std::error_code failed;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", failed).string();
  const std::string folder = std::filesystem::current_path(failed).string();
  if (failed) {
    console.error("the current folder is gone or cannot be read: " + failed.message());
    return cli::to_int(cli::ExitStatus::kCouldNotStart);
  }
  cli::Context context{.clock = clock,
                       .commanded_at = commanded_at,
                       .console = console,
                       .environment = std::move(environment),
                       .program = program,
                       .folder = folder};
  return cli::to_int(cli::run_command_line({argv + 1, argv + argc}, context));
}

}  // namespace
}  // namespace gangrun

int main(int argc, char** argv) { return gangrun::start(argc, argv); }
