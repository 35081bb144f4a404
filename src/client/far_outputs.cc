#include "client/far_outputs.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "cluster/brought_files.h"

namespace gangrun::client {

namespace {

using base::Result;

constexpr std::size_t kMaxNamedSkipped = 3;

timespec time_of(const cluster::FarFile& file) {
  constexpr std::int64_t kMillisecondsOfSecond = 1000;
  constexpr std::int64_t kNanosecondsOfMillisecond = 1'000'000;
  return {.tv_sec = file.modified_ms / kMillisecondsOfSecond,
          .tv_nsec = file.modified_ms % kMillisecondsOfSecond * kNanosecondsOfMillisecond};
}

bool is_here(const std::string& path, const cluster::FarFile& file) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  const timespec there = time_of(file);
  return static_cast<std::uint64_t>(info.st_size) == file.bytes &&
         info.st_mtim.tv_sec == there.tv_sec && info.st_mtim.tv_nsec == there.tv_nsec;
}

}  // namespace

Result<> bring(const std::vector<cluster::FarFile>& files, const ReadFar& read,
               const std::string& folder, TransferProgress& progress) {
  std::vector<std::string> skipped;
  const auto note_skipped = [&skipped](const cluster::BroughtFiles& brought) {
    std::string words = brought.skipped_words();
    if (words.empty()) return false;
    skipped.push_back(std::move(words));
    return true;
  };
  for (const cluster::FarFile& file : files) {
    if (file.task.find('/') != std::string::npos || file.task.starts_with('.')) {
      return base::invalid_argument(base::format("'{}' is no folder of a task", file.task));
    }
    const bool has_content = !file.is_folder && file.target.empty();
    const std::string own = base::format("{}/{}", folder, file.task);
    const std::string path = base::format("{}/{}", own, file.name);
    if (has_content && is_here(path, file)) continue;
    const std::string shown = base::format("{}/{}", file.task, file.name);
    cluster::BroughtFiles brought(own, 0);
    GANGRUN_TRY(brought.begin({file.name, has_content ? file.bytes : 0, file.is_executable,
                               file.target, file.is_folder}));
    // One that has no place here does not stop the others.
    if (note_skipped(brought) || !has_content) continue;
    progress.show(shown, 0, file.bytes);
    GANGRUN_TRY(read(file, [&](std::string_view piece) -> Result<> {
      GANGRUN_TRY(brought.add(piece));
      progress.show(shown, brought.of_last(), file.bytes);
      return {};
    }));
    if (note_skipped(brought)) continue;
    if (brought.of_last() < file.bytes) {
      return base::Error{base::Code::kDataLoss,
                         base::format("{} became shorter while it was brought", shown)};
    }
    const timespec times[2] = {time_of(file), time_of(file)};
    if (::utimensat(AT_FDCWD, path.c_str(), static_cast<const timespec*>(times),
                    AT_SYMLINK_NOFOLLOW) != 0) {
      return base::from_errno(errno, base::format("set the time of {}", path));
    }
  }
  if (skipped.empty()) return {};
  return base::Error{base::Code::kFailedPrecondition,
                     base::first_and_more(skipped, kMaxNamedSkipped)};
}

}  // namespace gangrun::client
