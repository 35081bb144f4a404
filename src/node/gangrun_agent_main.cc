// The program that travels: one agent with its guardian (process/containment.h), or a job's master.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/agent.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/format.h"
#include "base/log.h"
#include "base/strings.h"
#include "net/event_loop.h"
#include "net/hosts.h"
#include "node/container.h"
#include "node/yarn_master.h"
#include "process/containment.h"
#include "process/levels.h"
#include "process/network_namespace.h"
#include "process/spawn.h"
#include "registry/agent_config.h"

namespace gangrun {
namespace {

constexpr std::string_view kUsage =
    "usage: gangrun-agent task --containment LEVEL --name NAME (--config-fd N | --container)\n"
    "                     [--outlive] [--network-fd N] [--lock-fds N,...]\n"
    "       gangrun-agent master\n"
    "       gangrun-agent --version\n"
    "Started by gangrun: one for each task of a job, and on YARN one as its master.\n";

struct Arguments {
  process::Level level = process::Level::kSubreaper;
  std::string name;
  int config_fd = -1;
  bool in_container = false;  // of YARN, whose credentials hold the configuration
  bool outlive = false;  // goes on without the process that started it, for as long as its lease
  int network_fd = -1;   // of the network namespace to be in; -1: the one it is started in
  std::vector<int> lock_fds;  // held until guardian and agent have ended
};

bool read_fd(std::string_view text, int& fd) {
  const auto number = base::parse_integer(text);
  if (!number || *number < 3 || *number > process::kMaxInheritedFd) return false;
  fd = static_cast<int>(*number);
  return true;
}

// Whether the flag is known and its value is one.
bool read_flag(std::string_view flag, std::string_view value, Arguments& arguments) {
  if (flag == "--containment") {
    if (value == "auto") {
      arguments.level = process::best(process::probe_levels());
      return true;
    }
    const auto level = process::level_from_string(value);
    arguments.level = level.value_or(arguments.level);
    return level.has_value();
  }
  if (flag == "--name") {
    arguments.name = value;
    return !value.empty();
  }
  if (flag == "--config-fd") return read_fd(value, arguments.config_fd);
  if (flag == "--network-fd") return read_fd(value, arguments.network_fd);
  if (flag != "--lock-fds") return false;
  for (const std::string& text : base::split(value, ',')) {
    if (!read_fd(text, arguments.lock_fds.emplace_back(-1))) return false;
  }
  return true;
}

std::optional<Arguments> parse(int argc, char** argv) {
  if (argc < 2 || std::string_view(argv[1]) != "task") return std::nullopt;
  Arguments arguments;
  for (int i = 2; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--outlive") {
      arguments.outlive = true;
    } else if (flag == "--container") {
      arguments.in_container = true;
    } else if (++i == argc || !read_flag(flag, argv[i], arguments)) {
      return std::nullopt;
    }
  }
  const bool has_config = arguments.in_container != (arguments.config_fd >= 0);
  if (arguments.name.empty() || !has_config) return std::nullopt;
  return arguments;
}

// Before anything else, so that guardian and task are in it too.
base::Result<> enter_network(int fd) {
  if (fd < 0) return {};
  auto entered = process::enter_network_namespace(fd);
  ::close(fd);
  return entered;
}

base::Result<registry::AgentConfig> read_config(const Arguments& arguments, base::Logger& logger) {
  if (!arguments.in_container) {
    return registry::read_agent_config(base::format("/proc/self/fd/{}", arguments.config_fd));
  }
  GANGRUN_ASSIGN(auto config, node::agent_config_of_container());
  GANGRUN_TRY(node::prepare_container(logger));
  return config;
}

int run(const Arguments& arguments, base::Logger& logger) {
  if (const auto entered = enter_network(arguments.network_fd); !entered.ok()) {
    logger.error("{}", entered.error().message);
    return 1;
  }
  // The guardian splits off before anything is read, so that it never holds the job's secret.
  const auto containment = process::contain({.level = arguments.level,
                                             .name = arguments.name,
                                             .die_with_parent = !arguments.outlive,
                                             .lasting_fds = arguments.lock_fds});
  if (!containment.ok()) {
    logger.error("{}", containment.error().message);
    return 1;
  }
  auto config = read_config(arguments, logger);
  if (!config.ok()) {
    logger.error("{}", config.error().message);
    return 1;
  }
  net::use_static_name_service();
  net::EventLoop loop;
  agent::Agent agent(loop, logger, *containment, std::move(*config));
  const auto signals = loop.watch_signals({SIGTERM, SIGINT, SIGHUP},
                                          [&agent](int number) { agent.end_by_signal(number); });
  if (!signals.ok()) {
    logger.error("{}", signals.error().message);
    return 1;
  }
  if (const auto started = agent.start(); !started.ok()) {
    logger.error("{}", started.error().message);
    return 1;
  }
  loop.run();
  return agent.exit_status();
}

int run_master() {
  const base::SystemClock clock;
  const auto logger = base::stderr_logger("gangrun-agent master", base::LogLevel::kInfo);
  const auto ended = node::run_yarn_master(clock, *logger);
  if (ended.ok()) return 0;
  logger->error("{}", ended.error().message);
  return 1;
}

int start(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    std::puts("gangrun-agent " GANGRUN_VERSION);
    return 0;
  }
  if (argc == 2 && std::string_view(argv[1]) == "master") return run_master();
  const auto arguments = parse(argc, argv);
  if (!arguments) {
    std::fputs(kUsage.data(), stderr);
    return 2;
  }
  const auto logger =
      base::stderr_logger("gangrun-agent " + arguments->name, base::LogLevel::kInfo);
  return run(*arguments, *logger);
}

}  // namespace
}  // namespace gangrun

int main(int argc, char** argv) { return gangrun::start(argc, argv); }
