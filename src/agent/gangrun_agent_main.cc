// The program that travels: one agent with its guardian (process/containment.h).
#include <signal.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "agent/agent.h"
#include "base/files.h"
#include "base/format.h"
#include "base/log.h"
#include "base/strings.h"
#include "net/event_loop.h"
#include "net/hosts.h"
#include "process/containment.h"
#include "registry/agent_config.h"

namespace {

using namespace gangrun;

constexpr std::string_view kUsage =
    "usage: gangrun-agent task --containment LEVEL --name NAME --config-fd N [--outlive]\n"
    "       gangrun-agent --version\n"
    "Started by gangrun, one for each task of a job.\n";

struct Arguments {
  process::Level level = process::Level::kSubreaper;
  std::string name;
  int config_fd = -1;
  bool outlive = false;  // goes on without the process that started it, for as long as its lease
};

std::optional<Arguments> parse(int argc, char** argv) {
  Arguments arguments;
  if (argc == 9 && std::string_view(argv[8]) == "--outlive") {
    arguments.outlive = true;
    --argc;
  }
  if (argc != 8 || std::string_view(argv[1]) != "task") return std::nullopt;
  for (int i = 2; i + 1 < argc; i += 2) {
    const std::string_view flag = argv[i];
    const std::string_view value = argv[i + 1];
    if (flag == "--containment") {
      const auto level = process::level_from_string(value);
      if (!level) return std::nullopt;
      arguments.level = *level;
    } else if (flag == "--name") {
      arguments.name = value;
    } else if (flag == "--config-fd") {
      const auto number = base::parse_integer(value);
      if (!number || *number < 0 || *number > 1023) return std::nullopt;
      arguments.config_fd = static_cast<int>(*number);
    } else {
      return std::nullopt;
    }
  }
  return arguments;
}

int run(const Arguments& arguments, base::Logger& logger) {
  // The guardian splits off before anything is read, so that it never holds the job's secret.
  const auto containment = process::contain(
      {.level = arguments.level, .name = arguments.name, .die_with_parent = !arguments.outlive});
  if (!containment.ok()) {
    logger.error("{}", containment.error().message);
    return 1;
  }
  auto config = registry::read_agent_config(base::format("/proc/self/fd/{}", arguments.config_fd));
  if (!config.ok()) {
    logger.error("{}", config.error().message);
    return 1;
  }
  net::use_static_name_service();
  net::EventLoop loop;
  agent::Agent agent(loop, logger, *containment, std::move(*config));
  const auto signals =
      loop.watch_signals({SIGTERM, SIGINT, SIGHUP}, [&agent](int) { agent.end_by_signal(); });
  if (!signals.ok()) {
    logger.error("{}", signals.error().message);
    return 1;
  }
  if (const auto started = agent.start(); !started.ok()) {
    logger.error("{}", started.error().message);
    return 1;
  }
  loop.run();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    std::puts("gangrun-agent " GANGRUN_VERSION);
    return 0;
  }
  const auto arguments = parse(argc, argv);
  if (!arguments) {
    std::fputs(kUsage.data(), stderr);
    return 2;
  }
  const auto logger =
      base::stderr_logger("gangrun-agent " + arguments->name, base::LogLevel::kInfo);
  return run(*arguments, *logger);
}
