#include "yarn/node/task_outputs.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "base/strings.h"
#include "base/unique_fd.h"
#include "hadoop/configuration.h"
#include "hadoop/file_system.h"
#include "hadoop/token_source.h"
#include "hadoop/web_hdfs.h"
#include "job/described.h"
#include "job/units.h"
#include "yarn/job_access.h"
#include "yarn/node/container.h"
#include "yarn/uploads.h"

namespace gangrun::yarn::node {

namespace {

using base::Result;

// How many files a sentence names, and how much of each.
constexpr std::size_t kMaxNamed = 5;
constexpr std::size_t kMaxName = 200;

void keep_limit(OutputFiles& files, std::uint64_t limit) {
  std::vector<cluster::FoundOutput> chosen;
  for (cluster::FoundOutput& file : files.chosen) {
    if (file.size > limit) {
      files.over.push_back(std::move(file));
    } else {
      limit -= file.size;
      chosen.push_back(std::move(file));
    }
  }
  files.chosen = std::move(chosen);
}

std::string names_words(const std::vector<std::string>& names) {
  return base::first_and_more(
      names, kMaxNamed, [](const std::string& name) { return base::shorten(name, kMaxName); });
}

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
  GANGRUN_ASSIGN(end.files,
                 output_files(order.working_folder, order.names, order.config.limit_bytes));
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

Result<OutputFiles> output_files(const std::string& folder, const std::vector<std::string>& names,
                                 std::optional<std::uint64_t> limit) {
  GANGRUN_ASSIGN(auto found,
                 cluster::find_outputs(folder, {.names = names, .follows_links = true}));
  OutputFiles files{std::move(found.found), {}, std::move(found.missing), std::move(found.odd)};
  std::ranges::sort(files.chosen, {}, [](const cluster::FoundOutput& file) {
    return std::pair(file.size, std::string_view(file.name));
  });
  if (limit) keep_limit(files, *limit);
  return files;
}

std::string lost_words(const OutputsEnd& end, std::optional<std::uint64_t> limit) {
  std::vector<std::string> sentences;
  if (!end.files.over.empty()) {
    std::vector<std::string> names;
    for (const cluster::FoundOutput& file : end.files.over) names.push_back(file.name);
    sentences.push_back(base::format("over outputs_limit ({}): {}",
                                     job::memory_text(static_cast<std::int64_t>(*limit >> 20U)),
                                     names_words(names)));
  }
  if (!end.files.odd.empty()) {
    sentences.push_back(base::format("what cannot be brought: {}",
                                     cluster::odd_words(end.files.odd, end.files.odd.size())));
  }
  if (!end.failures.empty()) {
    sentences.push_back(base::format(
        "could not be written: {}",
        base::first_and_more(end.failures, kMaxNamed, [](const OutputsEnd::Failure& failure) {
          return base::format("{} ({})", base::shorten(failure.name, kMaxName), failure.why);
        })));
  }
  const std::size_t left = end.files.chosen.size() - end.written - end.failures.size();
  if (!end.trouble.empty()) {
    sentences.push_back(
        left > 0 ? base::format("{} not written: {}",
                                left == 1 ? "1 file was" : base::format("{} files were", left),
                                end.trouble)
                 : end.trouble);
  }
  return base::format("{}", base::join(sentences, "; "));
}

std::string missing_words(const OutputsEnd& end) {
  if (end.files.missing.empty()) return {};
  return base::format("it has written no {}", names_words(end.files.missing));
}

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
    done(lost_words(*end, config_.limit_bytes), missing_words(*end));
  };
  const auto begun = worker_.run([order] { return bring_all(order); }, on_end);
  if (!begun.ok()) done(begun.error().message, "");
}

}  // namespace gangrun::yarn::node
