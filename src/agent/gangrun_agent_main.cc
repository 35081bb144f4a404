// The program that travels: one agent with its guardian (process/containment.h), or a job's master.
#include <unistd.h>

#include <chrono>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "agent/agent.h"
#include "agent/copy_to.h"
#include "agent/exec_helper.h"
#include "agent/join.h"
#include "agent/pod.h"
#include "agent/stacks.h"
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
#include "kubernetes/joined_files.h"
#include "kubernetes/node/hint_door.h"
#include "kubernetes/node/pod_master.h"
#include "kubernetes/node/relay_program.h"
#include "net/event_loop.h"
#include "net/hosts.h"
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
#include "process/spawn.h"
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

constexpr std::string_view kUsage =
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
    "       gangrun-agent pod --task TASK --attempt N --config FILE --folder FOLDER\n"
    "                     --hint-port N [--master HOST:PORT] [--host HOST --port N]\n"
    "       gangrun-agent copy-to FOLDER VERSION\n"
    "       gangrun-agent pod-master --config FOLDER --run FOLDER\n"
    "       gangrun-agent relay --port N --client-port N --token-file FILE\n"
    "       gangrun-agent files --to PATH --mode MODE PART... [--to ...]\n"
    "       gangrun-agent try TRIAL\n"
    "       gangrun-agent --version\n"
    "Started by gangrun: one for each task of a job, on YARN one as its master, in a pod likewise "
    "for\n"
    "a job that is detached on Kubernetes; where a job has a\n"
    "PID namespace of its own, the first process of that, which starts its agents; on a host that\n"
    "ssh reaches what starts its tasks there, and what removes the job's folder if that is "
    "killed;\n"
    "on an executor of Spark what brings its task to the job that standard input names; in a pod\n"
    "the first process of its container, into which it is copied, and before that what puts large\n"
    "files together; for a task in an image one that removes its container, and in that one as\n"
    "its first process; for gangrun\n"
    "stacks what looks at the processes of a task, for gangrun exec what runs a command beside "
    "it,\n"
    "and for gangrun doctor what a container of its job runs.\n";

std::unique_ptr<base::Logger> logger_of(std::string_view what) {
  return base::stderr_logger(base::format("gangrun-agent {}", what), base::LogLevel::kInfo);
}

// The status of the program; a failure is told.
int status_of(const base::Result<>& ended, base::Logger& logger) {
  if (ended.ok()) return 0;
  logger.error("{}", ended.error().message);
  return 1;
}

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
  std::optional<agent::PodWords> pod;   // the first process of a container there
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

// The arguments after the program's name.
std::optional<Arguments> parse(const std::vector<std::string>& words) {
  Arguments arguments;
  if (!words.empty() && words[0] == "pod") {
    arguments.pod = agent::pod_words_from({words.begin() + 1, words.end()});
    if (!arguments.pod) return std::nullopt;
    arguments.name = job::to_string(arguments.pod->task);
    return arguments;
  }
  if (words.empty() || words[0] != "task") return std::nullopt;
  for (std::size_t i = 1; i < words.size(); ++i) {
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

base::Result<wire::AgentConfig> read_config(const Arguments& arguments, base::Logger& logger,
                                            yarn::node::ContainerOutputs& outputs) {
  if (arguments.pod) return agent::agent_config_of(*arguments.pod);
  if (!arguments.in_container) {
    return wire::read_agent_config(base::format("/proc/self/fd/{}", arguments.config_fd));
  }
  GANGRUN_ASSIGN(auto config, yarn::node::agent_config_of_container());
  GANGRUN_ASSIGN(outputs, yarn::node::outputs_of_container());
  GANGRUN_TRY(yarn::node::prepare_container(logger));
  return config;
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

base::Result<process::Containment> contain(const Arguments& arguments) {
  if (arguments.pod) return process::contain_as_first_process();
  if (arguments.in_starter) {
    return process::contain_in_starter(base::UniqueFd(arguments.outer_proc_fd));
  }
  std::vector<int> lasting_fds = arguments.lock_fds;
  if (arguments.words_fd >= 0) lasting_fds.push_back(arguments.words_fd);
  return process::contain({.level = arguments.level,
                           .name = arguments.name,
                           .die_with_parent = !arguments.outlive,
                           .lasting_fds = std::move(lasting_fds),
                           .containers = containers_of(arguments),
                           .removed_at_end = arguments.scratch});
}

// For whoever started the agent, and in `file` for whoever comes after that; empty: nobody does.
void leave_words(const Arguments& arguments, const job::LastWords& words, const std::string& file,
                 base::Logger& logger) {
  if (arguments.in_container) yarn::node::leave_words_in_container(words);
  logger.error("{}", words.why);
  const std::string text = job::to_text(words);
  if (!file.empty()) {
    const auto left = base::write_file_atomically(file, text, 0600);
    if (!left.ok()) logger.error("{}", left.error().message);
  }
  if (arguments.words_fd < 0) return;
  (void)base::write_all(arguments.words_fd, text, "who started the agent");
}

// The status of the program; an error is why no agent came to be.
base::Result<int> run_agent(const Arguments& arguments, base::Logger& logger) {
  GANGRUN_TRY(enter_network(arguments.network_fd));
  GANGRUN_ASSIGN(const auto companion, companion_of(arguments));
  // The guardian splits off before anything is read, so that it never holds the job's secret.
  GANGRUN_ASSIGN(const auto containment, contain(arguments));
  process::leave_no_core_file();
  yarn::node::ContainerOutputs outputs_config;
  GANGRUN_ASSIGN(auto config, read_config(arguments, logger, outputs_config));
  net::use_static_name_service();
  net::EventLoop loop;
  agent::Outputs hook;
  std::optional<yarn::node::TaskOutputs> outputs;
  if (outputs_config) {
    outputs.emplace(loop, logger, *std::move(outputs_config), config);
    hook = {.keep = [&outputs](agent::Outputs::Done done) { outputs->keep(std::move(done)); },
            .cut_short = [&outputs] { outputs->cut_short(); }};
  }
  const std::string words_file = config.words_file;
  const base::Secret secret = config.secret;
  agent::Agent agent(loop, logger, containment, std::move(config), std::move(hook));
  GANGRUN_ASSIGN(const auto endings,
                 loop.watch_signals(process::ending_signals(),
                                    [&agent](int number) { agent.end_by_signal(number); }));
  GANGRUN_ASSIGN(const auto notices, loop.watch_signals(process::notice_signals(), [&agent](int) {
    agent.on_notice(std::nullopt);
  }));
  GANGRUN_ASSIGN(const auto children,
                 loop.watch_signals({SIGCHLD}, [&agent](int) { agent.reap_orphans(); }));
  GANGRUN_TRY(agent.start());
  std::optional<kubernetes::node::HintDoor> hints;
  if (arguments.pod) {
    hints.emplace(loop, logger, secret,
                  [&agent](const job::Address& master) { agent.set_master(master); });
    GANGRUN_TRY(hints->listen(arguments.pod->hint_port));
  }
  net::Watch companion_watch;
  if (companion.valid()) {
    companion_watch = loop.watch_readable(companion.end_fd(), [&] {
      companion_watch.reset();
      agent.end_because(base::format("its executor (process {}) has ended", arguments.live_with));
    });
  }
  tell_up(arguments.told_fd);
  loop.run();
  remove_scratch(arguments.scratch, containment);
  if (agent.last_words()) {
    leave_words(arguments, *agent.last_words(), words_file, logger);
    return 1;
  }
  return agent.exit_status();
}

int run(const Arguments& arguments, base::Logger& logger) {
  process::raise_open_file_limit();
  const auto status = run_agent(arguments, logger);
  if (status.ok()) return *status;
  leave_words(arguments, {.why = status.error().message, .run = std::nullopt}, "", logger);
  return 1;
}

int run_master() {
  process::leave_no_core_file();
  process::raise_open_file_limit();
  const base::SystemClock clock;
  const auto logger = logger_of("master");
  return status_of(yarn::node::run_yarn_master(clock, *logger), *logger);
}

int run_inside(int argc, char** argv) {
  constexpr int kProgram = 6;
  const auto signal = job::choice_from<job::StopSignal>(argv[4]);
  const auto to = job::choice_from<job::StopSignalTo>(argv[5]);
  if (!signal.ok() || !to.ok()) return 2;
  const process::FirstProcess options{
      .environment_file = argv[2],
      .report_file = argv[3],
      .stop = {.number = job::number_of(*signal), .to_group = *to == job::StopSignalTo::kGroup},
      .argv = {argv + kProgram, argv + argc}};
  const auto status = process::run_first_process(options);
  return status.ok() ? *status : status_of(status.error(), *logger_of("inside"));
}

int run_host(int argc, char** argv) {
  process::leave_no_core_file();
  process::raise_open_file_limit();
  const base::SystemClock clock;
  const auto logger = logger_of("host");
  const auto options = ssh::node::keeper_options_from(argc - 2, argv + 2);
  if (options.ok()) return ssh::node::run_keeper(*options, clock, *logger);
  logger->error("{}", options.error().message);
  return 2;
}

int run_relay(int argc, char** argv) {
  process::leave_no_core_file();
  process::raise_open_file_limit();
  const auto logger = logger_of("relay");
  const auto options = kubernetes::node::relay_options_from(argc - 2, argv + 2);
  if (options.ok()) return kubernetes::node::run_relay(*options, *logger);
  logger->error("{}", options.error().message);
  return 2;
}

int run_master_of_pod(int argc, char** argv) {
  process::leave_no_core_file();
  process::raise_open_file_limit();
  const base::SystemClock clock;
  const auto logger = logger_of("pod-master");
  const auto options = kubernetes::node::pod_master_options_from(argc - 2, argv + 2);
  if (options.ok()) return kubernetes::node::run_pod_master(*options, clock, *logger);
  logger->error("{}", options.error().message);
  return 2;
}

int run_copy(const std::string& folder, std::string_view version) {
  return status_of(agent::copy_agent("/proc/self/exe", folder, version), *logger_of("copy-to"));
}

int run_starter(int argc, char** argv) {
  process::raise_open_file_limit();
  int fd = -1;
  if (argc != 5 || !read_fd(argv[2], fd)) return 2;
  // In each agent.
  const auto agent = [](const std::vector<std::string>& words, base::UniqueFd outer_proc) {
    auto arguments = parse(words);
    if (!arguments) return 2;
    arguments->in_starter = true;
    arguments->outer_proc_fd = outer_proc.release();
    return run(*arguments, *logger_of(arguments->name));
  };
  return status_of(process::run_starter({.socket = fd, .path = argv[3]}, agent),
                   *logger_of("starter"));
}

// In a container of its own, before the task's.
int run_files(int argc, char** argv) {
  const auto files = kubernetes::joined_files_from({argv + 2, argv + argc});
  if (!files) {
    std::fputs(kUsage.data(), stderr);
    return 2;
  }
  const auto logger = logger_of(kubernetes::kFilesCommand);
  for (const kubernetes::JoinedFile& file : *files) {
    const auto done = kubernetes::put_together(file);
    if (!done.ok()) return status_of(done, *logger);
  }
  return 0;
}

// In a child of its own, so that whoever started this is not its ancestor.
int run_remover(int argc, char** argv) {
  const pid_t child = ::fork();
  if (child != 0) return child > 0 ? 0 : 1;
  for (const auto& signals : {process::ending_signals(), process::notice_signals()}) {
    for (const int number : signals) ::signal(number, SIG_IGN);
  }
  constexpr int kNames = 3;
  return status_of(
      process::remove_when_ordered(STDIN_FILENO, {argv[2], {argv + kNames, argv + argc}}),
      *logger_of("remove"));
}

int start(int argc, char** argv) {
  const auto have_files = process::open_standard_files();
  process::survive_lost_output();
  if (!have_files.ok()) {
    base::stderr_logger("gangrun-agent", base::LogLevel::kInfo)
        ->error("{}", have_files.error().message);
    return 1;
  }
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (argc == 2 && command == "--version") {
    std::puts("gangrun-agent " GANGRUN_VERSION);
    return 0;
  }
  if (argc == 2 && command == "master") return run_master();
  if (argc == 2 && command == "join") return agent::run_join();
  if (argc > 2 && command == "relay") return run_relay(argc, argv);
  if (argc > 2 && command == "pod-master") return run_master_of_pod(argc, argv);
  if (argc == 4 && command == "copy-to") return run_copy(argv[2], argv[3]);
  if (argc > 2 && command == kubernetes::kFilesCommand) return run_files(argc, argv);
  if (argc > 2 && command == agent::kLookCommand) return agent::run_look({argv + 2, argv + argc});
  if (argc == 3 && command == agent::kBesideCommand) return agent::run_exec_helper(argv[2]);
  if (argc > 2 && command == "host") return run_host(argc, argv);
  if (argc == 3 && command == "caretaker") {
    return ssh::node::run_caretaker(argv[2], base::SystemClock());
  }
  if (argc == 3 && command == "try") return yarn::node::run_container_trial(argv[2]);
  if (argc > 6 && command == "inside") return run_inside(argc, argv);
  if (argc > 3 && command == "remove") return run_remover(argc, argv);
  if (argc > 2 && command == "starter") return run_starter(argc, argv);
  const auto arguments = parse({argv + 1, argv + argc});
  if (!arguments) {
    std::fputs(kUsage.data(), stderr);
    return 2;
  }
  // The log of a pod is its task's.
  const auto level = arguments->pod ? base::LogLevel::kWarning : base::LogLevel::kInfo;
  return run(*arguments,
             *base::stderr_logger(base::format("gangrun-agent {}", arguments->name), level));
}

}  // namespace
}  // namespace gangrun

int main(int argc, char** argv) { return gangrun::start(argc, argv); }
