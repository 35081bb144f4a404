#include "agents/kept_outputs.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/format.h"
#include "base/strings.h"
#include "base/unique_fd.h"
#include "cluster/found_outputs.h"
#include "cluster/task_files.h"
#include "wire/paths.h"

namespace gangrun::agents {

namespace {

using base::Result;

constexpr std::int64_t kMsInSecond = 1000;
constexpr std::int64_t kNsInMs = 1'000'000;

bool is_of_task(const std::string& name) { return cluster::task_of_result(name).has_value(); }

// The folders of tasks; what is being written lies beside them under another name.
Result<std::vector<std::string>> tasks_in(const std::string& folder) {
  std::vector<std::string> tasks;
  std::error_code failed;
  std::filesystem::directory_iterator entries(folder, failed);
  if (failed == std::errc::no_such_file_or_directory) return tasks;
  for (; !failed && entries != std::filesystem::directory_iterator(); entries.increment(failed)) {
    if (is_of_task(entries->path().filename())) tasks.push_back(entries->path().filename());
  }
  if (failed) return base::from_errno(failed.value(), base::format("read {}", folder));
  std::ranges::sort(tasks);
  return tasks;
}

wire::KeptOutput kept_output(const std::string& task, const cluster::FoundOutput& found) {
  using Kind = cluster::FoundOutput::Kind;
  return {.task = task,
          .name = found.name,
          .bytes = found.kind == Kind::kFile ? found.size : 0,
          .modified_ms = found.changed_s * kMsInSecond + found.changed_ns / kNsInMs,
          .is_executable = found.is_executable,
          .is_folder = found.kind == Kind::kFolder,
          .target = found.target};
}

}  // namespace

Result<wire::OutputList> KeptOutputs::list(const std::string& task) const {
  GANGRUN_ASSIGN(std::vector<std::string> tasks, tasks_in(folder_));
  if (!task.empty()) std::erase_if(tasks, [&](const std::string& each) { return each != task; });
  wire::OutputList list;
  for (const std::string& each : tasks) {
    const std::string folder = base::format("{}/{}", folder_, each);
    GANGRUN_ASSIGN(const cluster::FoundOutputs found, cluster::find_outputs(folder, {}));
    for (const cluster::FoundOutput& one : found.found) {
      list.outputs.push_back(kept_output(each, one));
    }
  }
  std::ranges::sort(list.outputs, [](const wire::KeptOutput& a, const wire::KeptOutput& b) {
    return std::tie(a.task, a.name) < std::tie(b.task, b.name);
  });
  return list;
}

Result<std::string> KeptOutputs::read(const std::string& task, const std::string& name,
                                      std::uint64_t from) const {
  const std::vector<std::string> parts = base::split(name, '/');
  const bool leads_out = std::ranges::any_of(parts, [](const std::string& part) {
    return part.empty() || part == "." || part == ".." || part.find('\0') != std::string::npos;
  });
  if (!is_of_task(task) || leads_out || parts.size() > cluster::kMaxOutputDepth) {
    return base::not_found("the job has no such output");
  }
  const std::string what = base::format("the output {} of {}", name, task);
  auto file = cluster::open_output(base::format("{}/{}", folder_, task), name);
  if (!file.ok()) return std::move(file).error().context(what);
  return base::read_at(file->get(), static_cast<std::int64_t>(from), wire::kMaxOutputAnswerBytes,
                       base::format("read {}", what));
}

Result<> KeptOutputs::remove(const std::string& task) {
  if (!is_of_task(task)) return base::not_found("the job has no such task");
  std::error_code failed;
  std::filesystem::remove_all(base::format("{}/{}", folder_, task), failed);
  if (failed) {
    return base::from_errno(failed.value(), base::format("remove the outputs of {}", task));
  }
  return {};
}

}  // namespace gangrun::agents
