#include "yarn/commands/yarn_fetch.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/strings.h"
#include "cluster/brought_files.h"

namespace gangrun::yarn::commands {

namespace {

using base::Result;

constexpr std::size_t kMaxNamedSkipped = 3;

timespec time_of(const yarn::FarOutput& output) {
  constexpr std::int64_t kMillisecondsOfSecond = 1000;
  constexpr std::int64_t kNanosecondsOfMillisecond = 1'000'000;
  return {.tv_sec = output.modified_ms / kMillisecondsOfSecond,
          .tv_nsec = output.modified_ms % kMillisecondsOfSecond * kNanosecondsOfMillisecond};
}

bool is_here(const std::string& path, const yarn::FarOutput& output) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  const timespec there = time_of(output);
  return static_cast<std::uint64_t>(info.st_size) == output.bytes &&
         info.st_mtim.tv_sec == there.tv_sec && info.st_mtim.tv_nsec == there.tv_nsec;
}

}  // namespace

Result<> fetch_far_outputs(
    yarn::YarnJob& job, const std::string& task, const std::string& folder,
    const std::function<void(const std::string&, std::uint64_t, std::uint64_t)>& progress) {
  GANGRUN_ASSIGN(const auto outputs, job.outputs(task));
  std::vector<std::string> skipped;
  const auto note_skipped = [&skipped](const cluster::BroughtFiles& files) {
    std::string words = files.skipped_words();
    if (words.empty()) return false;
    skipped.push_back(std::move(words));
    return true;
  };
  for (const yarn::FarOutput& output : outputs) {
    if (output.task.find('/') != std::string::npos) {
      return base::invalid_argument(base::format("'{}' is no folder of a task", output.task));
    }
    const std::string own = base::format("{}/{}", folder, output.task);
    const std::string path = base::format("{}/{}", own, output.name);
    if (!output.is_folder && is_here(path, output)) continue;
    const std::string shown = base::format("{}/{}", output.task, output.name);
    cluster::BroughtFiles files(own, 0);
    GANGRUN_TRY(
        files.begin({output.name, output.bytes, output.is_executable, "", output.is_folder}));
    // One that has no place here does not stop the others.
    if (note_skipped(files) || output.is_folder) continue;
    progress(shown, 0, output.bytes);
    GANGRUN_TRY(job.read_output(output, [&](std::string_view piece) -> Result<> {
      GANGRUN_TRY(files.add(piece));
      progress(shown, files.of_last(), output.bytes);
      return {};
    }));
    if (note_skipped(files)) continue;
    if (files.of_last() < output.bytes) {
      return base::Error{base::Code::kDataLoss,
                         base::format("{} became shorter while it was brought", shown)};
    }
    const timespec times[2] = {time_of(output), time_of(output)};
    if (::utimensat(AT_FDCWD, path.c_str(), static_cast<const timespec*>(times),
                    AT_SYMLINK_NOFOLLOW) != 0) {
      return base::from_errno(errno, base::format("set the time of {}", path));
    }
  }
  if (skipped.empty()) return {};
  return base::Error{base::Code::kFailedPrecondition,
                     base::first_and_more(skipped, kMaxNamedSkipped)};
}

}  // namespace gangrun::yarn::commands
