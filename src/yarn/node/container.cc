#include "yarn/node/container.h"

#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "base/strings.h"
#include "hadoop/class_path.h"
#include "job/described.h"
#include "yarn/task_context.h"
#include "yarn/uploads.h"
#include "yarn/yarn_launcher.h"

namespace gangrun::yarn::node {

namespace {

using base::Result;

// Our share of the last 4,096 bytes of standard error that a NodeManager tells
// (yarn.nodemanager.container.stderr.tail.bytes).
constexpr std::size_t kMaxWordsInStderr = std::size_t{3} * 1024;
constexpr const char* kTokenFileVariable = "HADOOP_TOKEN_FILE_LOCATION";

// The environment is read and changed before this process has a second thread.
std::optional<std::string> variable_of_node(const std::string& name) {
  const char* value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): see above
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

void set_variable(const char* name, const std::string& value) {
  ::setenv(name, value.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): see above
}

Result<std::string> variable(const char* name) {
  auto value = variable_of_node(name);
  if (value) return *std::move(value);
  return base::not_found(base::format("{} is not set: this is not a container of YARN", name));
}

Result<std::string> current_folder() {
  std::error_code failed;
  std::string folder = std::filesystem::current_path(failed).string();
  if (failed) return base::from_errno(failed.value(), "the current folder");
  return folder;
}

// The folders in which the user's files were brought.
Result<std::vector<std::filesystem::path>> brought_folders(const std::string& folder) {
  std::vector<std::filesystem::path> found;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    const std::string name = entry.path().filename().string();
    if (name == yarn::kFilesLink || name.starts_with(yarn::kOwnFolderLink)) {
      found.push_back(entry.path());
    }
  }
  if (failed) return base::from_errno(failed.value(), base::format("list {}", folder));
  return found;
}

// A link to each of the user's files, where nothing of that name is there.
Result<> link_files(const std::string& folder) {
  GANGRUN_ASSIGN(const auto brought, brought_folders(folder));
  std::error_code failed;
  for (const std::filesystem::path& files : brought) {
    if (!std::filesystem::is_directory(files, failed)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(files, failed)) {
      const std::filesystem::path link = std::filesystem::path(folder) / entry.path().filename();
      if (std::filesystem::exists(std::filesystem::symlink_status(link))) continue;
      std::filesystem::create_symlink(entry.path(), link, failed);
      if (failed) return base::from_errno(failed.value(), base::format("link {}", link.string()));
    }
    if (failed) return base::from_errno(failed.value(), base::format("list {}", files.string()));
  }
  return {};
}

// The class path for programs that load a Java virtual machine, as far as the node has it. It comes
// last, so that it hides nothing.
Result<> find_hadoop() {
  if (const auto java_home = variable_of_node("JAVA_HOME")) {
    const auto folder = hadoop::jvm_library_folder(*java_home);
    const auto others = variable_of_node("LD_LIBRARY_PATH");
    if (folder) set_variable("LD_LIBRARY_PATH", others ? *others + ":" + *folder : *folder);
  }
  const auto property = variable_of_node(yarn::YarnLauncher::kClassPathVariable);
  if (!property || variable_of_node("CLASSPATH")) return {};
  GANGRUN_ASSIGN(const std::string path, hadoop::class_path(*property, variable_of_node));
  if (!path.empty()) set_variable("CLASSPATH", path);
  return {};
}

}  // namespace

Result<hadoop::Credentials> container_credentials() {
  GANGRUN_ASSIGN(const std::string path, variable(kTokenFileVariable));
  GANGRUN_ASSIGN(const std::string bytes, base::read_file(path, hadoop::kMaxCredentialsBytes));
  return hadoop::parse_credentials(bytes).context(path);
}

Result<wire::AgentConfig> agent_config_of_container() {
  GANGRUN_ASSIGN(const hadoop::Credentials credentials, container_credentials());
  const auto secret = credentials.secrets.find(yarn::kAgentConfigSecret);
  if (secret == credentials.secrets.end()) {
    return base::not_found("the container's credentials hold no agent's configuration");
  }
  GANGRUN_ASSIGN(const base::Json json,
                 base::parse_json(secret->second.reveal(), wire::kMaxAgentConfigBytes));
  GANGRUN_ASSIGN(wire::AgentConfig config,
                 base::from_json<wire::AgentConfig>(json).context("in the agent's configuration"));
  GANGRUN_ASSIGN(config.working_folder, current_folder());
  GANGRUN_ASSIGN(const std::string log_folders, variable("LOG_DIRS"));
  const std::string name = std::filesystem::path(config.log_prefix).filename().string();
  config.log_prefix = base::format("{}/{}", base::split(log_folders, ',').front(), name);
  return config;
}

Result<> prepare_container(base::Logger& logger) {
  GANGRUN_ASSIGN(const std::string folder, current_folder());
  GANGRUN_TRY(link_files(folder));
  const auto others = variable_of_node("PYTHONPATH");
  set_variable("PYTHONPATH", others ? folder + ":" + *others : folder);
  // Most tasks need no Java.
  if (const auto found = find_hadoop(); !found.ok()) {
    logger.warning("CLASSPATH is not set: {}", found.error().message);
  }
  GANGRUN_ASSIGN(hadoop::Credentials credentials, container_credentials());
  credentials.secrets.erase(yarn::kAgentConfigSecret);
  credentials.secrets.erase(yarn::kOutputsSecret);
  if (credentials.tokens.empty() && credentials.secrets.empty()) {
    ::unsetenv(kTokenFileVariable);  // NOLINT(concurrency-mt-unsafe): see variable_of_node()
    return {};
  }
  const std::string path = folder + "/user_tokens";
  GANGRUN_TRY(base::write_file_atomically(path, hadoop::encode_credentials(credentials), 0600));
  set_variable(kTokenFileVariable, path);
  return {};
}

void leave_words_in_container(job::LastWords words) {
  const std::string line = job::to_short_text(std::move(words), kMaxWordsInStderr) + "\n";
  (void)base::write_all(STDERR_FILENO, line, "standard error");
}

}  // namespace gangrun::yarn::node
