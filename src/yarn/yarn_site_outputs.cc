#include <deque>
#include <utility>

#include "base/format.h"
#include "yarn/yarn_site.h"

// The files of a job that has ended in the cluster's file system: those of tasks, and all else.
namespace gangrun::yarn {

namespace {

using base::Result;

constexpr std::size_t kMaxFarOutputs = 100'000;
// One file; where nothing moves it ends much earlier.
constexpr std::chrono::hours kReadLimit(24);
constexpr std::chrono::minutes kRemoveLimit(5);

// A folder of a task that is being written has a name that is hidden.
bool is_hidden(const std::string& name) { return name.empty() || name.front() == '.'; }

}  // namespace

Result<> YarnJob::check_has_ended() {
  const std::string name = id();
  const auto report = this->report();
  if (report.ok()) {
    if (report->user != cluster_->account.user) {
      return base::Error{
          base::Code::kPermissionDenied,
          base::format("{} is a job of {}, who alone can remove it", name, report->user)};
    }
    if (hadoop::is_final(report->state)) return {};
    return base::Error{base::Code::kFailedPrecondition,
                       base::format("{} has not ended; gangrun kill {} ends it", name, name)};
  }
  if (report.error().code != base::Code::kNotFound) return report.error();
  // YARN forgets jobs that have ended; what is kept of them stays.
  GANGRUN_ASSIGN(const YarnPaths paths, cluster_->paths());
  for (const std::string& folder : {paths.history(id_), paths.staging(id_)}) {
    if (cluster_->files.status(folder, cluster_->soon()).ok()) return {};
  }
  return report.error();
}

Result<std::vector<cluster::FarFile>> YarnJob::outputs(const std::string& task) {
  GANGRUN_ASSIGN(const YarnPaths paths, cluster_->paths());
  const std::string top = paths.history(id_) + kOutputsFolder;
  std::vector<cluster::FarFile> outputs;
  std::deque<std::pair<std::string, std::string>> folders;  // of which task, and what below it
  auto tasks = cluster_->files.list(top, cluster_->soon());
  if (!tasks.ok() && tasks.error().code == base::Code::kNotFound) return outputs;
  if (!tasks.ok()) return std::move(tasks).error();
  for (const hadoop::FileStatus& each : *tasks) {
    if (!each.is_folder || is_hidden(each.name) || (!task.empty() && each.name != task)) continue;
    folders.emplace_back(each.name, "");
  }
  while (!folders.empty()) {
    const auto [owner, inside] = std::move(folders.front());
    folders.pop_front();
    GANGRUN_ASSIGN(
        const auto listed,
        cluster_->files.list(base::format("{}/{}{}", top, owner, inside), cluster_->soon()));
    if (listed.empty() && !inside.empty()) {
      outputs.push_back({.task = owner, .name = inside.substr(1), .is_folder = true});
    }
    for (const hadoop::FileStatus& each : listed) {
      if (each.is_folder) {
        folders.emplace_back(owner, base::format("{}/{}", inside, each.name));
        continue;
      }
      outputs.push_back({.task = owner,
                         .name = base::format("{}/{}", inside, each.name).substr(1),
                         .bytes = each.length,
                         .modified_ms = each.modification_time,
                         .is_executable = (each.permission & 0100U) != 0});
    }
    if (outputs.size() + folders.size() > kMaxFarOutputs) {
      return base::Error{base::Code::kResourceExhausted,
                         base::format("{} has more than {} files", top, kMaxFarOutputs)};
    }
  }
  return outputs;
}

Result<> YarnJob::read_output(const cluster::FarFile& output, const cluster::ResultSink& sink) {
  if (output.bytes == 0) return {};
  GANGRUN_ASSIGN(const YarnPaths paths, cluster_->paths());
  return cluster_->files.read_to(
      base::format("{}{}/{}/{}", paths.history(id_), kOutputsFolder, output.task, output.name),
      output.bytes, sink, cluster_->clock.now() + kReadLimit);
}

Result<> YarnJob::remove() {
  GANGRUN_TRY(check_has_ended());
  GANGRUN_ASSIGN(const YarnPaths paths, cluster_->paths());
  for (const std::string& folder : {paths.staging(id_), paths.history(id_)}) {
    GANGRUN_TRY(cluster_->files.remove(folder, true, cluster_->clock.now() + kRemoveLimit)
                    .context(base::format("{} is still there", folder)));
  }
  return {};
}

}  // namespace gangrun::yarn
