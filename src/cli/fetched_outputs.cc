#include "cli/fetched_outputs.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "base/format.h"
#include "base/random.h"
#include "base/strings.h"
#include "job/units.h"

namespace gangrun::cli {

namespace {

namespace fs = std::filesystem;

// How many of the names that could be given an error lists.
constexpr std::size_t kMaxAllowedNamed = 16;

base::Error failed_at(const std::string& what, const std::error_code& code) {
  return base::from_errno(code.value(), what);
}

// It is about where a user wants it, and not about what the user wants: never "no such job".
base::Error cannot_write(const fs::path& path, const std::error_code& code) {
  base::Error error = failed_at(base::format("cannot write {}", path.string()), code);
  if (error.code != base::Code::kResourceExhausted) error.code = base::Code::kFailedPrecondition;
  return error;
}

base::Result<> measure(const fs::path& path, FetchedOutput& output) {
  std::error_code failed;
  const auto add = [&output](const fs::directory_entry& entry) {
    std::error_code ignored;
    if (!entry.is_regular_file(ignored)) return;
    ++output.files;
    output.bytes += entry.file_size(ignored);
  };
  const fs::directory_entry top(path, failed);
  if (failed) return failed_at(path.string(), failed);
  add(top);
  if (!top.is_directory(failed)) return {};
  for (auto at = fs::recursive_directory_iterator(path, failed);
       !failed && at != fs::recursive_directory_iterator(); at.increment(failed)) {
    add(*at);
  }
  if (failed) return failed_at(path.string(), failed);
  return {};
}

base::Result<std::vector<fs::path>> entries_of(const fs::path& folder) {
  std::error_code failed;
  std::vector<fs::path> entries;
  for (auto at = fs::directory_iterator(folder, failed); !failed && at != fs::directory_iterator();
       at.increment(failed)) {
    entries.push_back(at->path());
  }
  if (failed == std::errc::no_such_file_or_directory) return std::vector<fs::path>{};
  if (failed) return failed_at(folder.string(), failed);
  std::sort(entries.begin(), entries.end());
  return entries;
}

}  // namespace

base::Result<> check_fetched_name(const job::JobSpec& spec, const std::string& name) {
  if (name.empty()) return {};
  std::vector<std::string> allowed;
  for (const job::TaskSpec& task : spec.tasks) {
    const int last = task.slots() - 1;
    // "worker:0", or "worker-0" as its folder is called.
    for (const char separator : {':', '-'}) {
      const std::string begin = base::format("{}{}", task.type, separator);
      const auto index = name.starts_with(begin) ? base::parse_integer(name.substr(begin.size()))
                                                 : std::optional<std::int64_t>();
      if (index && *index >= 0 && *index <= last) return {};
    }
    allowed.push_back(last == 0 ? base::format("{}:0", task.type)
                                : base::format("{0}:0 to {0}:{1}", task.type, last));
  }
  for (const job::Host& host : spec.hosts) {
    if (host.name == name) return {};
    allowed.push_back(base::format("host {}", host.name));
  }
  return base::invalid_argument(base::format(
      "TASK: {} is no task{} of this job; allowed: {}", job::in_quotes(name),
      spec.hosts.empty() ? "" : " and no host", base::first_and_more(allowed, kMaxAllowedNamed)));
}

base::Result<std::vector<FetchedOutput>> fetched_outputs(const std::string& folder) {
  std::vector<FetchedOutput> outputs;
  GANGRUN_ASSIGN(const auto tasks, entries_of(folder));
  for (const fs::path& task : tasks) {
    // Files that come lie beside these folders until they are whole.
    std::error_code failed;
    if (!fs::is_directory(fs::symlink_status(task, failed))) continue;
    GANGRUN_ASSIGN(const auto names, entries_of(task));
    for (const fs::path& path : names) {
      FetchedOutput output{task.filename().string(), path.filename().string()};
      GANGRUN_TRY(measure(path, output));
      outputs.push_back(std::move(output));
    }
  }
  return outputs;
}

base::Result<> copy_output(const std::string& folder, const FetchedOutput& output,
                           const std::string& to) {
  const fs::path target = fs::path(to) / output.task / output.name;
  std::error_code failed;
  if (fs::exists(fs::symlink_status(target, failed))) {
    return base::Error{base::Code::kAlreadyExists,
                       base::format("{} is there already", target.string())};
  }
  fs::create_directories(target.parent_path(), failed);
  if (failed) return cannot_write(target.parent_path(), failed);
  // Nothing that is not whole is at its name; and no file of the user's is at this one.
  const fs::path part = target.parent_path() / base::name_until_whole();
  fs::copy(fs::path(folder) / output.task / output.name, part,
           fs::copy_options::recursive | fs::copy_options::copy_symlinks, failed);
  if (!failed) fs::rename(part, target, failed);
  if (!failed) return {};
  std::error_code ignored;
  fs::remove_all(part, ignored);
  return cannot_write(target, failed);
}

}  // namespace gangrun::cli
