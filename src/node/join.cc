#include "node/join.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/strings.h"
#include "base/unique_fd.h"
#include "job/described.h"
#include "net/hosts.h"
#include "process/core_files.h"
#include "process/foreign_process.h"
#include "process/pipe.h"
#include "process/proc_fs.h"
#include "process/spawn.h"
#include "process/wait_for.h"

namespace gangrun::node {

namespace {

using base::Json;
using base::json_member;
using base::Result;

constexpr std::chrono::seconds kJoinTimeout(30);
constexpr std::chrono::seconds kStartTimeout(30);
constexpr std::size_t kMaxComplaintBytes = 2000;
// Where the agent finds its configuration, and tells that it is up.
constexpr int kConfigFd = 3;
constexpr int kToldFd = 4;
constexpr std::array<std::string_view, 16> kMembers{"host",
                                                    "port",
                                                    "fingerprint",
                                                    "secret",
                                                    "task",
                                                    "attempt",
                                                    "executor",
                                                    "own_host",
                                                    "own_host_reason",
                                                    "own_port",
                                                    "scratch",
                                                    "command",
                                                    "live_with",
                                                    "environment",
                                                    "working_folder",
                                                    "live_with_start_ticks"};

Result<> check_members(const Json& json) {
  if (!json.is_object()) return base::invalid_argument("the input must be a JSON object");
  for (const auto& [key, value] : json.items()) {
    if (std::find(kMembers.begin(), kMembers.end(), key) == kMembers.end()) {
      return base::invalid_argument(base::format("unknown member \"{}\"; allowed are {}",
                                                 base::shorten(key, 80),
                                                 base::join(kMembers, ", ")));
    }
  }
  return {};
}

Result<std::string> absolute(const Json& json, const char* key) {
  GANGRUN_ASSIGN(std::string path, json_member<std::string>(json, key));
  if (path.starts_with('/') && path.find('\0') == std::string::npos) return path;
  return base::invalid_argument(
      base::format("\"{}\": {} is not an absolute path", key, base::shorten(path, 200)));
}

Result<> read_environment(const Json& json, JoinInput& input) {
  const auto found = json.find("environment");
  if (found == json.end() || !found->is_object()) {
    return base::invalid_argument("\"environment\" must be an object of texts");
  }
  for (const auto& [name, value] : found->items()) {
    const bool is_name =
        !name.empty() && name.find_first_of(std::string_view("=\0", 2)) == std::string::npos;
    const auto text = json_member<std::string>(*found, name);
    if (!is_name || !text.ok() || text->find('\0') != std::string::npos) {
      return base::invalid_argument(base::format("\"environment\": {} cannot be a variable",
                                                 base::shell_quote(base::shorten(name, 80))));
    }
    input.environment[name] = *text;
  }
  return {};
}

Result<> read_master(const Json& json, JoinInput& input) {
  GANGRUN_ASSIGN(std::string host, json_member<std::string>(json, "host"));
  GANGRUN_ASSIGN(const auto port, json_member<std::uint16_t>(json, "port"));
  GANGRUN_ASSIGN(std::string fingerprint, json_member<std::string>(json, "fingerprint"));
  input.master = net::Endpoint::on_tls(std::move(host), port, std::move(fingerprint));
  GANGRUN_ASSIGN(std::string secret, json_member<std::string>(json, "secret"));
  input.secret = base::Secret(std::move(secret));
  return {};
}

Result<> read_request(const Json& json, registry::JoinRequest& request) {
  GANGRUN_ASSIGN(const auto task, json_member<std::string>(json, "task"));
  GANGRUN_ASSIGN(request.task, job::parse_task_id(task));
  GANGRUN_ASSIGN(request.attempt, json_member<int>(json, "attempt"));
  GANGRUN_ASSIGN(request.executor, json_member<std::string>(json, "executor"));
  GANGRUN_ASSIGN(request.host, json_member<std::string>(json, "own_host"));
  GANGRUN_ASSIGN(request.host_reason, json_member<std::string>(json, "own_host_reason"));
  return {};
}

// It is going to be removed with all that is in it.
Result<> check_scratch(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) {
    return base::from_errno(errno, base::format("\"scratch\": {}", path));
  }
  const bool is_ours = S_ISDIR(info.st_mode) && info.st_uid == ::geteuid();
  if (is_ours && (info.st_mode & 077U) == 0) return {};
  return base::invalid_argument(base::format(
      "\"scratch\": {} must be a folder of this user that no other has rights in (0700)", path));
}

// The process that the task ends with, as the program of an agent is told of it.
Result<std::string> companion(const JoinInput& input) {
  std::uint64_t ticks = input.start_ticks;
  if (ticks == 0) {
    const auto stat = process::read_stat(input.live_with);
    if (stat) ticks = stat->start_ticks;
  }
  GANGRUN_TRY(process::ForeignProcess::open(input.live_with, ticks).context("\"live_with\""));
  return base::format("{}:{}", input.live_with, ticks);
}

Result<std::string> own_program() {
  std::array<char, PATH_MAX> path{};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  if (length < 0) return base::from_errno(errno, "/proc/self/exe");
  return std::string(path.data(), static_cast<std::size_t>(length));
}

// What the agent said before it ended.
std::string complaint_in(int log) {
  std::string text(kMaxComplaintBytes, '\0');
  const ssize_t got = ::pread(log, text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  const std::string said(base::trim(text));
  return said.empty() ? "the agent ended before it was up" : said;
}

Result<> wait_until_up(int told, int log) {
  if (!process::wait_readable(told, std::chrono::steady_clock::now() + kStartTimeout)) {
    return base::deadline_exceeded(base::format("the agent was not up within {}: {}",
                                                base::to_words(kStartTimeout), complaint_in(log)));
  }
  char byte = 0;
  if (::read(told, &byte, 1) == 1) return {};
  return base::unavailable(complaint_in(log));
}

// In a session of its own, so that what ends the workers of an executor does not end it; its
// guardian splits off before it reads its configuration.
Result<> start_agent(const JoinInput& input, const std::string& lives_with,
                     const registry::AgentConfig& config) {
  GANGRUN_ASSIGN(const base::UniqueFd config_file,
                 base::memory_file("gangrun-agent-config", base::dump_json(base::to_json(config))));
  const std::string log_path = input.scratch + "/agent.log";
  const base::UniqueFd log(
      ::open(log_path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!log.valid()) return base::from_errno(errno, log_path);
  GANGRUN_ASSIGN(process::Pipe told, process::make_pipe());
  process::SpawnOptions options;
  GANGRUN_ASSIGN(std::string program, own_program());
  options.argv = {std::move(program),
                  "task",
                  "--containment",
                  std::string(job::to_string(config.spec.containment)),
                  "--name",
                  base::format("{}.{}.{}", config.job_id, config.task.type, config.task.index),
                  "--config-fd",
                  std::to_string(kConfigFd),
                  "--told-fd",
                  std::to_string(kToldFd),
                  "--live-with",
                  lives_with,
                  "--scratch",
                  input.scratch,
                  "--outlive"};
  for (const auto& [name, value] : input.environment) {
    options.environment.push_back(base::format("{}={}", name, value));
  }
  options.working_folder = "/";
  options.standard_error = log.get();
  options.inherited = {{config_file.get(), kConfigFd}, {told.write.get(), kToldFd}};
  options.new_group = process::NewGroup::kSession;
  GANGRUN_TRY(process::spawn(options));
  told.write.reset();
  return wait_until_up(told.read.get(), log.get());
}

Result<registry::JoinAnswer> join(const JoinInput& input) {
  // Before the master hears of us: what cannot go on must not take the task's place.
  GANGRUN_TRY(check_scratch(input.scratch));
  GANGRUN_ASSIGN(const std::string lives_with, companion(input));
  GANGRUN_ASSIGN(registry::JoinAnswer answer,
                 registry::join(input.master, input.secret, input.request,
                                std::chrono::steady_clock::now() + kJoinTimeout));
  if (answer.state != registry::JoinState::kJoined) return answer;
  GANGRUN_ASSIGN(const auto config, agent_config_of(input, answer.agent_config));
  GANGRUN_TRY(start_agent(input, lives_with, config));
  return answer;
}

std::string_view words_of(registry::JoinState state) {
  switch (state) {
    case registry::JoinState::kJoined: return "joined";
    case registry::JoinState::kThere: return "there";
    case registry::JoinState::kWasThere: return "ended";
    case registry::JoinState::kUnknownTask:
    case registry::JoinState::kJobHasEnded: break;
  }
  return "refused";
}

int tell_end(std::string_view state, const std::string& reason) {
  Json json{{"state", state}};
  if (!reason.empty()) json["reason"] = reason;
  const auto written = base::write_all(STDOUT_FILENO, base::dump_json(json) + "\n", "the answer");
  return written.ok() && state != "refused" ? 0 : 1;
}

}  // namespace

Result<JoinInput> join_input_from(std::string_view text) {
  GANGRUN_ASSIGN(const Json json, base::parse_json(text, kMaxJoinInputBytes));
  GANGRUN_TRY(check_members(json));
  JoinInput input;
  GANGRUN_TRY(read_master(json, input));
  GANGRUN_TRY(read_request(json, input.request));
  GANGRUN_ASSIGN(input.working_folder, absolute(json, "working_folder"));
  GANGRUN_ASSIGN(input.command, json_member<std::vector<std::string>>(json, "command"));
  if (input.command.empty()) return base::invalid_argument("\"command\" is empty");
  GANGRUN_TRY(read_environment(json, input));
  GANGRUN_ASSIGN(input.live_with, json_member<pid_t>(json, "live_with"));
  if (input.live_with < 1) return base::invalid_argument("\"live_with\" is not a process");
  GANGRUN_ASSIGN(input.start_ticks,
                 base::json_member_or<std::uint64_t>(json, "live_with_start_ticks", 0));
  GANGRUN_ASSIGN(input.scratch, absolute(json, "scratch"));
  if (!json.contains("own_port")) return input;
  GANGRUN_ASSIGN(input.own_port, json_member<std::uint16_t>(json, "own_port"));
  if (input.own_port == 0) return base::invalid_argument("\"own_port\": 0 is not a port");
  return input;
}

Result<registry::AgentConfig> agent_config_of(const JoinInput& input, const Json& answer) {
  GANGRUN_ASSIGN(registry::AgentConfig config,
                 base::from_json<registry::AgentConfig>(answer).context("the master's answer"));
  if (config.task != input.request.task) {
    return base::invalid_argument(base::format("the master's answer is for {}, not for {}",
                                               job::to_string(config.task),
                                               job::to_string(input.request.task)));
  }
  config.socket_path.clear();
  if (input.own_port) config.wanted_port = input.own_port;
  config.master_host = input.master.host;
  config.master_port = input.master.port;
  config.fingerprint = input.master.fingerprint;
  config.secret = input.secret;
  config.working_folder = input.working_folder;
  config.log_prefix = base::format("{}/{}-{}", input.scratch, config.task.type, config.task.index);
  for (job::TaskSpec& task : config.spec.tasks) {
    if (task.type == config.task.type) task.command = {.words = input.command, .shell_line = {}};
  }
  return config;
}

int run_join() {
  process::leave_no_core_file();
  net::use_static_name_service();
  const auto text = base::read_input("/proc/self/fd/0", kMaxJoinInputBytes);
  if (!text.ok()) return tell_end("refused", text.error().message);
  const auto input = join_input_from(*text);
  if (!input.ok()) return tell_end("refused", base::format("the input: {}", input.error().message));
  const auto answer = join(*input);
  if (!answer.ok()) return tell_end("refused", answer.error().message);
  return tell_end(words_of(answer->state), answer->reason);
}

}  // namespace gangrun::node
