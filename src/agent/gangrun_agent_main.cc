// The program that travels to hosts and to containers of YARN: one agent with its guardian
// (process/containment.h), or a job's master.
#include <unistd.h>

#include <chrono>
#include <climits>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "agent/agent.h"
#include "agent/agent_run.h"
#include "agent/join.h"
#include "agent/program.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/format.h"
#include "base/log.h"
#include "base/strings.h"
#include "base/unique_fd.h"
#include "base/variable.h"
#include "job/choice.h"
#include "job/last_words.h"
#include "job/spec_names.h"
#include "net/event_loop.h"
#include "process/container_remover.h"
#include "process/containment.h"
#include "process/core_files.h"
#include "process/engine.h"
#include "process/first_process.h"
#include "process/levels.h"
#include "process/network_namespace.h"
#include "process/open_files.h"
#include "process/process_handle.h"
#include "process/signals.h"
#include "process/starter.h"
#include "process/wait_for.h"
#include "ssh/node/caretaker.h"
#include "ssh/node/keeper.h"
#include "wire/agent_config.h"
#include "yarn/node/container.h"
#include "yarn/node/container_trial.h"
#include "yarn/node/task_outputs.h"
#include "yarn/node/yarn_master.h"

namespace gangrun {
namespace {

constexpr const char* kUsage =
    "usage: gangrun-agent task --containment LEVEL --name NAME (--config-fd N | --container)\n"
    "                     [--outlive] [--network-fd N] [--lock-fds N,...] [--containers NAME,...]\n"
    "                     [--live-with PID:TICKS] [--scratch FOLDER] [--told-fd N]\n"
    "                     [--words-fd N]\n"
    "       gangrun-agent starter FD PATH ROOM\n"
    "       gangrun-agent host --folder PATH --name NAME [--containment LEVEL]\n"
    "                     [--working-folder PATH] [--mark MARK] [--interface NAME]\n"
    "       gangrun-agent caretaker RUN_FOLDER\n"
    "       gangrun-agent join\n"
    "       gangrun-agent remove ENGINE NAME...\n"
    "       gangrun-agent inside ENVIRONMENT_FILE REPORT_FILE SIGNAL process|group\n"
    "                     PROGRAM [ARGUMENT...]\n"
    "       gangrun-agent look LIMIT_MS ASKED_MS one|all PID...\n"
    "       gangrun-agent beside agent|inside\n"
    "       gangrun-agent master\n"
    "       gangrun-agent try TRIAL\n"
    "       gangrun-agent --version\n"
    "Started by gangrun: one for each task of a job, on YARN one as its master; where a job has a\n"
    "PID namespace of its own, the first process of that, which starts its agents; on a host that\n"
    "ssh reaches what starts its tasks there, and what removes the job's folder if that is\n"
    "killed; on an executor of Spark what brings its task to the job that standard input names;\n"
    "for a task in an image one that removes its container, and in that one as its first process;\n"
    "for gangrun stacks what looks at the processes of a task, for gangrun exec what runs a\n"
    "command beside it, and for gangrun doctor what a container of its job runs.\n";

struct Arguments {
  process::Level level = process::Level::kSubreaper;
  std::string name;
  int config_fd = -1;
  bool in_starter = false;    // forked by a starter, which stands in for a guardian
  int outer_proc_fd = -1;     // from there, of the namespace outside; the containment's own
  bool in_container = false;  // of YARN, whose credentials hold the configuration
  bool outlive = false;  // goes on without the process that started it, for as long as its lease
  int network_fd = -1;   // of the network namespace to be in; -1: the one it is started in
  std::vector<int> lock_fds;            // held until guardian and agent have ended
  std::vector<std::string> containers;  // that an engine is to run for the task
  pid_t live_with = 0;                  // a process that the task ends with
  std::uint64_t start_ticks = 0;        // of that
  std::string scratch;                  // a folder that goes when the task has ended
  int told_fd = -1;                     // gets a byte when the agent is up
  int words_fd = -1;                    // gets why the agent ended, where its master was not told
};

bool read_fd(std::string_view text, int& fd) {
  const auto number = base::parse_integer(text);
  if (!number || *number < 3 || *number > process::kMaxInheritedFd) return false;
  fd = static_cast<int>(*number);
  return true;
}

// "PID:TICKS"
bool read_companion(std::string_view text, Arguments& arguments) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return false;
  const auto pid = base::parse_integer(text.substr(0, colon));
  const auto ticks = base::parse_integer(text.substr(colon + 1));
  if (!pid || !ticks || *pid < 1 || *pid > INT_MAX || *ticks < 0) return false;
  arguments.live_with = static_cast<pid_t>(*pid);
  arguments.start_ticks = static_cast<std::uint64_t>(*ticks);
  return true;
}

// Whether the flag is known and its value is one.
bool read_flag(std::string_view flag, std::string_view value, Arguments& arguments) {
  if (flag == "--containment") {
    if (value == "auto") {
      arguments.level = process::choose_level(std::nullopt).level;
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
  if (flag == "--containers") {
    arguments.containers = base::split(value, ',');
    return !value.empty();
  }
  if (flag == "--live-with") return read_companion(value, arguments);
  if (flag == "--scratch") {
    arguments.scratch = value;
    return value.starts_with('/');
  }
  if (flag == "--config-fd") return read_fd(value, arguments.config_fd);
  if (flag == "--told-fd") return read_fd(value, arguments.told_fd);
  if (flag == "--words-fd") return read_fd(value, arguments.words_fd);
  if (flag == "--network-fd") return read_fd(value, arguments.network_fd);
  if (flag != "--lock-fds") return false;
  for (const std::string& text : base::split(value, ',')) {
    if (!read_fd(text, arguments.lock_fds.emplace_back(-1))) return false;
  }
  return true;
}

// The words of an agent, after "task".
std::optional<Arguments> parse(const std::vector<std::string>& words) {
  Arguments arguments;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view flag = words[i];
    if (flag == "--outlive") {
      arguments.outlive = true;
    } else if (flag == "--container") {
      arguments.in_container = true;
    } else if (++i == words.size() || !read_flag(flag, words[i], arguments)) {
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

// If there is no engine, the agent tells the master when it is to start the task.
process::EngineContainers containers_of(const Arguments& arguments) {
  if (arguments.containers.empty()) return {};
  const auto engine =
      process::find_engine(base::variable(process::kEngineVariable), base::variable("PATH"));
  return {engine.ok() ? *engine : std::string(), arguments.containers};
}

// Whoever waits for it goes on, or has gone.
void tell_up(int fd) {
  if (fd < 0) return;
  (void)base::write_all(fd, "1", "who started the agent");
  ::close(fd);
}

// The guardian removes it; without one we are the last.
void remove_scratch(const std::string& folder, const process::Containment& containment) {
  if (folder.empty() ||
      !process::wait_readable(containment.guardian_gone_fd(), std::chrono::steady_clock::now())) {
    return;
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

// Opened before there is a PID namespace, in which it would have no number.
base::Result<process::ProcessHandle> companion_of(const Arguments& arguments) {
  if (arguments.live_with == 0) return process::ProcessHandle();
  return process::ProcessHandle::open(arguments.live_with, arguments.start_ticks);
}

// For an agent of a host or a container of YARN.
class BesideTask final : public agent::BesideAgent {
 public:
  BesideTask(net::EventLoop& loop, base::Logger& logger, const Arguments& arguments,
             const process::ProcessHandle& companion, yarn::node::ContainerOutputs outputs,
             const wire::AgentConfig& config)
      : loop_(loop), arguments_(arguments), companion_(companion) {
    if (outputs) outputs_.emplace(loop, logger, *std::move(outputs), config);
  }

  agent::Outputs outputs() override {
    if (!outputs_) return {};
    return {.keep = [this](agent::Outputs::Done done) { outputs_->keep(std::move(done)); },
            .cut_short = [this] { outputs_->cut_short(); }};
  }

  base::Result<> start(agent::Agent& agent) override {
    if (companion_.valid()) {
      companion_watch_ = loop_.watch_readable(companion_.end_fd(), [this, &agent] {
        companion_watch_.reset();
        agent.end_because(
            base::format("its executor (process {}) has ended", arguments_.live_with));
      });
    }
    tell_up(arguments_.told_fd);
    return {};
  }

 private:
  net::EventLoop& loop_;
  const Arguments& arguments_;
  const process::ProcessHandle& companion_;
  std::optional<yarn::node::TaskOutputs> outputs_;
  net::Watch companion_watch_;
};

class TaskStart final : public agent::AgentStart {
 public:
  explicit TaskStart(const Arguments& arguments) : arguments_(arguments) {}

  base::Result<process::Containment> contain() override {
    GANGRUN_TRY(enter_network(arguments_.network_fd));
    GANGRUN_ASSIGN(companion_, companion_of(arguments_));
    if (arguments_.in_starter) {
      return process::contain_in_starter(base::UniqueFd(arguments_.outer_proc_fd));
    }
    std::vector<int> lasting_fds = arguments_.lock_fds;
    if (arguments_.words_fd >= 0) lasting_fds.push_back(arguments_.words_fd);
    return process::contain({.level = arguments_.level,
                             .name = arguments_.name,
                             .die_with_parent = !arguments_.outlive,
                             .lasting_fds = std::move(lasting_fds),
                             .containers = containers_of(arguments_),
                             .removed_at_end = arguments_.scratch});
  }

  base::Result<wire::AgentConfig> read_config(base::Logger& logger) override {
    if (!arguments_.in_container) {
      return wire::read_agent_config(base::format("/proc/self/fd/{}", arguments_.config_fd));
    }
    GANGRUN_ASSIGN(auto config, yarn::node::agent_config_of_container());
    GANGRUN_ASSIGN(outputs_, yarn::node::outputs_of_container());
    GANGRUN_TRY(yarn::node::prepare_container(logger));
    return config;
  }

  std::unique_ptr<agent::BesideAgent> beside_agent(net::EventLoop& loop, base::Logger& logger,
                                                   const wire::AgentConfig& config) override {
    return std::make_unique<BesideTask>(loop, logger, arguments_, companion_, std::move(outputs_),
                                        config);
  }

  void ended(const process::Containment& containment) override {
    remove_scratch(arguments_.scratch, containment);
  }

  void leave_words(const job::LastWords& words) override {
    if (arguments_.in_container) yarn::node::leave_words_in_container(words);
    if (arguments_.words_fd < 0) return;
    (void)base::write_all(arguments_.words_fd, job::to_text(words), "who started the agent");
  }

 private:
  const Arguments& arguments_;
  process::ProcessHandle companion_;
  yarn::node::ContainerOutputs outputs_;
};

int run_task(const Arguments& arguments) {
  TaskStart start(arguments);
  return agent::run_agent(start, *agent::logger_of(arguments.name));
}

std::optional<int> run_task_command(int count, char** words) {
  const auto arguments = parse({words, words + count});
  if (!arguments) return std::nullopt;
  return run_task(*arguments);
}

std::optional<int> run_master(int, char**) {
  process::leave_no_core_file();
  process::raise_open_file_limit();
  const base::SystemClock clock;
  const auto logger = agent::logger_of("master");
  return agent::status_of(yarn::node::run_yarn_master(clock, *logger), *logger);
}

std::optional<int> run_join_command(int, char**) { return agent::run_join(); }

std::optional<int> run_inside(int count, char** words) {
  constexpr int kProgram = 4;
  const auto signal = job::choice_from<job::StopSignal>(words[2]);
  const auto to = job::choice_from<job::StopSignalTo>(words[3]);
  if (!signal.ok() || !to.ok()) return std::nullopt;
  const process::FirstProcess options{
      .environment_file = words[0],
      .report_file = words[1],
      .stop = {.number = job::number_of(*signal), .to_group = *to == job::StopSignalTo::kGroup},
      .argv = {words + kProgram, words + count}};
  const auto status = process::run_first_process(options);
  return status.ok() ? *status : agent::status_of(status.error(), *agent::logger_of("inside"));
}

std::optional<int> run_host(int count, char** words) {
  process::leave_no_core_file();
  process::raise_open_file_limit();
  const base::SystemClock clock;
  const auto logger = agent::logger_of("host");
  const auto options = ssh::node::keeper_options_from(count, words);
  if (options.ok()) return ssh::node::run_keeper(*options, clock, *logger);
  logger->error("{}", options.error().message);
  return 2;
}

std::optional<int> run_caretaker(int, char** words) {
  return ssh::node::run_caretaker(words[0], base::SystemClock());
}

std::optional<int> run_trial(int, char** words) {
  return yarn::node::run_container_trial(words[0]);
}

std::optional<int> run_starter(int, char** words) {
  process::raise_open_file_limit();
  int fd = -1;
  if (!read_fd(words[0], fd)) return std::nullopt;
  // In each agent, with its words.
  const auto agent = [](const std::vector<std::string>& given, base::UniqueFd outer_proc) {
    if (given.empty() || given[0] != "task") return 2;
    auto arguments = parse({given.begin() + 1, given.end()});
    if (!arguments) return 2;
    arguments->in_starter = true;
    arguments->outer_proc_fd = outer_proc.release();
    return run_task(*arguments);
  };
  return agent::status_of(process::run_starter({.socket = fd, .path = words[1]}, agent),
                          *agent::logger_of("starter"));
}

// In a child of its own, so that whoever started this is not its ancestor.
std::optional<int> run_remover(int count, char** words) {
  const pid_t child = ::fork();
  if (child != 0) return child > 0 ? 0 : 1;
  for (const auto& signals : {process::ending_signals(), process::notice_signals()}) {
    for (const int number : signals) ::signal(number, SIG_IGN);
  }
  return agent::status_of(
      process::remove_when_ordered(STDIN_FILENO, {words[0], {words + 1, words + count}}),
      *agent::logger_of("remove"));
}

using agent::kAnyWords;
constexpr agent::Command kCommands[] = {{"task", 1, kAnyWords, &run_task_command},
                                        {"master", 0, 0, &run_master},
                                        {"join", 0, 0, &run_join_command},
                                        {"host", 1, kAnyWords, &run_host},
                                        {"caretaker", 1, 1, &run_caretaker},
                                        {"try", 1, 1, &run_trial},
                                        {"inside", 5, kAnyWords, &run_inside},
                                        {"remove", 2, kAnyWords, &run_remover},
                                        {"starter", 3, 3, &run_starter}};

}  // namespace
}  // namespace gangrun

int main(int argc, char** argv) {
  return gangrun::agent::run_program({"gangrun-agent", gangrun::kUsage, gangrun::kCommands}, argc,
                                     argv);
}
