#include "agent/join.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

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
#include "net/client.h"
#include "net/hosts.h"
#include "process/core_files.h"
#include "process/pipe.h"
#include "process/proc_fs.h"
#include "process/process_handle.h"
#include "process/spawn.h"
#include "process/wait_for.h"
#include "wire/join.h"

namespace gangrun::agent {

namespace {

using base::Json;
using base::Result;

constexpr std::chrono::seconds kJoinTimeout(30);
constexpr std::chrono::seconds kStartTimeout(30);
constexpr std::size_t kMaxComplaintBytes = 2000;
// The descriptors of the agent's configuration, and for its word that it is up.
constexpr int kConfigFd = 3;
constexpr int kToldFd = 4;

Result<> check_absolute(std::string_view key, const std::string& path) {
  if (path.starts_with('/') && path.find('\0') == std::string::npos) return {};
  return base::invalid_argument(
      base::format("\"{}\": {} is not an absolute path", key, base::shorten(path, 200)));
}

Result<> check_environment(const std::map<std::string, std::string>& environment) {
  for (const auto& [name, value] : environment) {
    const bool is_name =
        !name.empty() && name.find_first_of(std::string_view("=\0", 2)) == std::string::npos;
    if (is_name && value.find('\0') == std::string::npos) continue;
    return base::invalid_argument(base::format("\"environment\": {} cannot be a variable",
                                               base::shell_quote(base::shorten(name, 80))));
  }
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
  GANGRUN_TRY(process::ProcessHandle::open(input.live_with, ticks).context("\"live_with\""));
  return base::format("{}:{}", input.live_with, ticks);
}

Result<std::string> own_program() {
  std::array<char, PATH_MAX> path{};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  if (length < 0) return base::from_errno(errno, "/proc/self/exe");
  return std::string(path.data(), static_cast<std::size_t>(length));
}

// The agent's words before it ended.
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
                     const wire::AgentConfig& config) {
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

Result<wire::JoinAnswer> join(const JoinInput& input) {
  // Before the master hears of us: what cannot go on must not take the task's place.
  GANGRUN_TRY(check_scratch(input.scratch));
  GANGRUN_ASSIGN(const std::string lives_with, companion(input));
  GANGRUN_ASSIGN(
      wire::JoinAnswer answer,
      wire::join(net::Endpoint::on_tls(input.host, input.port, input.fingerprint), input.secret,
                 {.task = input.task,
                  .attempt = input.attempt,
                  .executor = input.executor,
                  .host = input.own_host,
                  .host_reason = input.own_host_reason},
                 std::chrono::steady_clock::now() + kJoinTimeout));
  if (answer.state != wire::JoinState::kJoined) return answer;
  GANGRUN_ASSIGN(const auto config, agent_config_of(input, answer.agent_config));
  GANGRUN_TRY(start_agent(input, lives_with, config));
  return answer;
}

std::string_view words_of(wire::JoinState state) {
  switch (state) {
    case wire::JoinState::kJoined: return "joined";
    case wire::JoinState::kThere: return "there";
    case wire::JoinState::kWasThere: return "ended";
    case wire::JoinState::kUnknownTask:
    case wire::JoinState::kJobHasEnded: break;
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

Result<> JoinInput::complete() const {
  GANGRUN_TRY(check_absolute("working_folder", working_folder));
  if (command.empty()) return base::invalid_argument("\"command\" is empty");
  GANGRUN_TRY(check_environment(environment));
  if (live_with < 1) return base::invalid_argument("\"live_with\" is not a process");
  GANGRUN_TRY(check_absolute("scratch", scratch));
  if (own_port == 0) return base::invalid_argument("\"own_port\": 0 is not a port");
  return {};
}

Result<JoinInput> join_input_from(std::string_view text) {
  GANGRUN_ASSIGN(const Json json, base::parse_json(text, kMaxJoinInputBytes));
  return base::from_json<JoinInput>(json);
}

Result<wire::AgentConfig> agent_config_of(const JoinInput& input, const Json& answer) {
  GANGRUN_ASSIGN(wire::AgentConfig config,
                 base::from_json<wire::AgentConfig>(answer).context("the master's answer"));
  if (config.task != input.task) {
    return base::invalid_argument(base::format("the master's answer is for {}, not for {}",
                                               job::to_string(config.task),
                                               job::to_string(input.task)));
  }
  config.socket_path.clear();
  if (input.own_port) config.wanted_port = input.own_port;
  config.master_host = input.host;
  config.master_port = input.port;
  config.fingerprint = input.fingerprint;
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

}  // namespace gangrun::agent
