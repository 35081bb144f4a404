#include "cluster/yarn/client/yarn_fetch.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <ctime>

#include "base/format.h"
#include "cluster/brought_files.h"

namespace gangrun::client {

namespace {

using base::Result;

timespec time_of(const cluster::FarOutput& output) {
  constexpr std::int64_t kMillisecondsOfSecond = 1000;
  constexpr std::int64_t kNanosecondsOfMillisecond = 1'000'000;
  return {.tv_sec = output.modified_ms / kMillisecondsOfSecond,
          .tv_nsec = output.modified_ms % kMillisecondsOfSecond * kNanosecondsOfMillisecond};
}

bool is_here(const std::string& path, const cluster::FarOutput& output) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  const timespec there = time_of(output);
  return static_cast<std::uint64_t>(info.st_size) == output.bytes &&
         info.st_mtim.tv_sec == there.tv_sec && info.st_mtim.tv_nsec == there.tv_nsec;
}

}  // namespace

Result<> fetch_far_outputs(
    cluster::YarnSite& site, const std::string& job, const std::string& task,
    const std::string& folder,
    const std::function<void(const std::string&, std::uint64_t, std::uint64_t)>& progress) {
  GANGRUN_ASSIGN(const auto outputs, site.outputs(job, task));
  for (const cluster::FarOutput& output : outputs) {
    if (output.task.find('/') != std::string::npos) {
      return base::invalid_argument(base::format("'{}' is no folder of a task", output.task));
    }
    const std::string own = base::format("{}/{}", folder, output.task);
    const std::string path = base::format("{}/{}", own, output.name);
    if (is_here(path, output)) continue;
    const std::string shown = base::format("{}/{}", output.task, output.name);
    cluster::BroughtFiles files(own, 0);
    GANGRUN_TRY(files.begin({output.name, output.bytes, output.is_executable}));
    progress(shown, 0, output.bytes);
    GANGRUN_TRY(site.read_output(job, output, [&](std::string_view piece) -> Result<> {
      GANGRUN_TRY(files.add(piece));
      progress(shown, files.bytes(), output.bytes);
      return {};
    }));
    if (files.bytes() < output.bytes) {
      return base::Error{base::Code::kDataLoss,
                         base::format("{} became shorter while it was brought", shown)};
    }
    const timespec times[2] = {time_of(output), time_of(output)};
    if (::utimensat(AT_FDCWD, path.c_str(), static_cast<const timespec*>(times),
                    AT_SYMLINK_NOFOLLOW) != 0) {
      return base::from_errno(errno, base::format("set the time of {}", path));
    }
  }
  return {};
}

}  // namespace gangrun::client
