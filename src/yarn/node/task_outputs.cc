#include "yarn/node/task_outputs.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "base/strings.h"
#include "base/unique_fd.h"
#include "cluster/found_outputs.h"
#include "cluster/output_files.h"
#include "hadoop/configuration.h"
#include "hadoop/file_system.h"
#include "hadoop/token_source.h"
#include "hadoop/web_hdfs.h"
#include "job/described.h"
#include "yarn/job_access.h"
#include "yarn/node/container.h"
#include "yarn/uploads.h"

namespace gangrun::yarn::node {

namespace {

using base::Result;
using cluster::Links;
using cluster::OutputsEnd;

// One answer of the NameNode.
constexpr std::chrono::seconds kAnswerLimit(30);
constexpr std::size_t kMaxWhy = 300;
// After so many files that could not be written, one after the other, no more are tried.
constexpr std::size_t kMaxFailures = 5;

struct Order {
  yarn::OutputsConfig config;
  std::string working_folder;
  std::string task;  // "worker-0"
  int attempt = 1;
  std::vector<std::string> names;
  std::shared_ptr<std::atomic<bool>> is_cut_short;
};

base::Instant soon() { return std::chrono::steady_clock::now() + kAnswerLimit; }

// The newest token of the file system, which the agent's session may have replaced.
Result<base::Secret> current_token(const yarn::OutputsConfig& config) {
  if (config.token_service.empty()) return base::Secret();
  GANGRUN_ASSIGN(const hadoop::Credentials credentials, container_credentials());
  return hadoop::web_hdfs_token(credentials, config.token_service);
}

Result<hadoop::WebHdfs> open_files(const Order& order, bool can_be_cut_short) {
  hadoop::Configuration configuration;
  for (const auto& [name, value] : order.config.hadoop) configuration.set(name, value);
  GANGRUN_ASSIGN(hadoop::FileSystem system, hadoop::find_file_system(configuration, ""));
  hadoop::WebHdfsOptions options{.user = order.config.user};
  GANGRUN_ASSIGN(options.delegation, current_token(order.config));
  if (::access(yarn::kAuthoritiesLink, R_OK) == 0) {
    options.authorities_file = yarn::kAuthoritiesLink;
  }
  options.idle_limit = kOutputsIdle;
  if (can_be_cut_short) {
    options.is_cancelled = [flag = order.is_cut_short] { return flag->load(); };
  }
  return hadoop::WebHdfs(std::move(system), std::move(options));
}

Result<> write(hadoop::WebHdfs& files, const std::string& folder, const cluster::FoundOutput& file,
               const std::string& to, base::Instant deadline) {
  if (file.kind == cluster::FoundOutput::Kind::kFolder) {
    return files.make_folders(to, yarn::kOwnFolder, soon());
  }
  GANGRUN_ASSIGN(const base::UniqueFd fd, cluster::open_output(folder, file.at));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return base::from_errno(errno, "stat");
  const net::FileSlice slice{fd.get(), 0, static_cast<std::uint64_t>(info.st_size)};
  return files.create_from(
      to, slice, {.overwrite = true, .permission = file.is_executable ? 0700U : yarn::kOwnFile}, {},
      deadline);
}

// The names of what was begun and is not whole.
std::vector<std::string> write_all(hadoop::WebHdfs& files, const Order& order,
                                   const std::string& folder, OutputsEnd& end) {
  const base::Instant deadline = std::chrono::steady_clock::now() + kOutputsLimit;
  std::vector<std::string> unfinished;
  std::size_t failures = 0;  // one after the other
  for (const cluster::FoundOutput& file : end.files.chosen) {
    if (!order.is_cut_short->load()) {
      const auto written = write(files, order.working_folder, file,
                                 base::format("{}/{}", folder, file.name), deadline);
      if (written.ok()) {
        ++end.written;
        failures = 0;
        continue;
      }
      unfinished.push_back(file.name);
      if (!order.is_cut_short->load()) {
        end.failures.push_back({file.name, base::shorten(written.error().message, kMaxWhy)});
        if (++failures < kMaxFailures) continue;
      }
    }
    end.trouble = order.is_cut_short->load() ? "the time that the task has to stop is over"
                                             : "none of the files before them could be";
    break;
  }
  return unfinished;
}

// Nothing that is not whole stays under its name.
Result<> drop(hadoop::WebHdfs& files, const std::vector<std::string>& names,
              const std::string& folder) {
  for (const std::string& name : names) {
    const auto removed = files.remove(base::format("{}/{}", folder, name), false, soon());
    // A file of a name that HDFS does not allow cannot be there, either.
    if (!removed.ok() && removed.error().code != base::Code::kInvalidArgument) {
      return removed.error();
    }
  }
  return {};
}

Result<OutputsEnd> bring_all(const Order& order) {
  OutputsEnd end;
  // HDFS has no links.
  GANGRUN_ASSIGN(end.files, cluster::output_files(order.working_folder, order.names,
                                                  order.config.limit_bytes, Links::kFollowed));
  GANGRUN_ASSIGN(hadoop::WebHdfs files, open_files(order, true));
  // Its end is not to be cut short.
  GANGRUN_ASSIGN(hadoop::WebHdfs last, open_files(order, false));
  const std::string whole = base::format("{}/{}", order.config.folder, order.task);
  // Another agent of the task may still write its own.
  const std::string unfinished =
      base::format("{}/.{}.{}", order.config.folder, order.task, order.attempt);
  GANGRUN_TRY(files.make_folders(order.config.folder, yarn::kOwnFolder, soon()));
  GANGRUN_TRY(files.remove(unfinished, true, soon()));
  GANGRUN_TRY(files.make_folders(unfinished, yarn::kOwnFolder, soon()));
  const std::vector<std::string> parts = write_all(files, order, unfinished, end);
  GANGRUN_TRY(drop(last, parts, unfinished));
  GANGRUN_TRY(last.remove(whole, true, soon()));
  GANGRUN_TRY(last.rename(unfinished, whole, soon()));
  return end;
}

}  // namespace

Result<ContainerOutputs> outputs_of_container() {
  GANGRUN_ASSIGN(const hadoop::Credentials credentials, container_credentials());
  const auto secret = credentials.secrets.find(yarn::kOutputsSecret);
  if (secret == credentials.secrets.end()) return ContainerOutputs();
  GANGRUN_ASSIGN(const base::Json json,
                 base::parse_json(secret->second.reveal(), hadoop::kMaxCredentialsBytes));
  GANGRUN_ASSIGN(auto config, base::from_json<yarn::OutputsConfig>(json));
  return ContainerOutputs(std::move(config));
}

TaskOutputs::TaskOutputs(net::EventLoop& loop, base::Logger& logger, yarn::OutputsConfig config,
                         const wire::AgentConfig& agent)
    : logger_(logger),
      config_(std::move(config)),
      working_folder_(agent.working_folder),
      task_(base::format("{}-{}", agent.task.type, agent.task.index)),
      attempt_(agent.attempt),
      worker_(loop, 1) {
  const auto& named = agent.spec.outputs_of(*agent.spec.find(agent.task.type));
  if (named) names_ = *named;
}

void TaskOutputs::keep(Done done) {
  is_cut_short_ = std::make_shared<std::atomic<bool>>(false);
  const Order order{.config = config_,
                    .working_folder = working_folder_,
                    .task = task_,
                    .attempt = attempt_,
                    .names = names_,
                    .is_cut_short = is_cut_short_};
  const auto on_end = [this, done](const Result<OutputsEnd>& end) {
    if (!end.ok()) return done(base::shorten(end.error().message, kMaxWhy), "");
    logger_.info("{} files of outputs are in {}", end->written, config_.folder);
    done(cluster::lost_words(*end, config_.limit_bytes), cluster::missing_words(*end));
  };
  const auto begun = worker_.run([order] { return bring_all(order); }, on_end);
  if (!begun.ok()) done(begun.error().message, "");
}

}  // namespace gangrun::yarn::node
