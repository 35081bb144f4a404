#include "yarn/far_copies.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/format.h"
#include "base/pause.h"
#include "base/strings.h"
#include "base/unique_fd.h"
#include "yarn/job_access.h"
#include "yarn/journal_copy.h"

namespace gangrun::yarn {

namespace {

using base::Result;

constexpr std::chrono::seconds kRemoveTimeout(20);

// Replaces what may be there: a try before may have come through without our knowing.
Result<> store(hadoop::WebHdfs& files, const std::string& folder, const std::string& path,
               const std::string& bytes, bool is_first, base::Instant deadline) {
  if (is_first) GANGRUN_TRY(files.make_folders(folder, kOwnFolder, deadline));
  return files.replace(path, bytes, kOwnFile, deadline);
}

// The last parts of the newest segments first: what is left is the beginning of some.
Result<> forget(hadoop::WebHdfs& files, const std::string& folder, int segment) {
  const base::Instant deadline = std::chrono::steady_clock::now() + kKeyPartTimeout;
  GANGRUN_ASSIGN(const auto listed, files.list(folder, deadline));
  std::vector<std::string> names;
  for (const hadoop::FileStatus& file : listed) {
    const auto number = base::parse_integer(base::split(file.name, '.').front());
    if (number && *number < segment) names.push_back(file.name);
  }
  std::sort(names.begin(), names.end(), std::greater<>());
  for (const std::string& name : names) {
    GANGRUN_TRY(files.remove(base::format("{}/{}", folder, name), false, deadline));
  }
  return {};
}

Result<> put(hadoop::WebHdfs& files, const std::string& from, const std::string& folder,
             const std::string& name) {
  const base::Instant deadline = std::chrono::steady_clock::now() + kResultCopyTimeout;
  GANGRUN_ASSIGN(const base::UniqueFd file, base::open_file(from, O_RDONLY));
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return base::from_errno(errno, "fstat");
  GANGRUN_TRY(files.make_folders(folder, kOwnFolder, deadline));
  const std::string unfinished = base::format("{}/.{}", folder, name);
  const std::string whole = base::format("{}/{}", folder, name);
  const net::FileSlice slice{file.get(), 0, static_cast<std::uint64_t>(info.st_size)};
  GANGRUN_TRY(files.create_from(unfinished, slice, {.overwrite = true, .permission = kOwnFile}, {},
                                deadline));
  return files.rename_over(unfinished, whole, deadline);
}

}  // namespace

KeyCopy::KeyCopy(net::EventLoop& loop, base::Logger& logger, hadoop::WebHdfs files,
                 std::string folder)
    : logger_(logger),
      files_(std::make_shared<hadoop::WebHdfs>(std::move(files))),
      folder_(std::move(folder)),
      worker_(loop, 1) {}

void KeyCopy::keep(int segment, int part, std::string bytes, std::function<void(Result<>)> done) {
  const auto submitted = worker_.run(
      [files = files_, folder = folder_, bytes = std::move(bytes), is_first = part == 1,
       path = base::format("{}/{:06}.{:05}", folder_, segment, part)] {
        const base::Instant limit = std::chrono::steady_clock::now() + kKeyCopyTimeout;
        while (true) {
          const base::Instant now = std::chrono::steady_clock::now();
          const auto stored = store(*files, folder, path, bytes, is_first, now + kKeyPartTimeout);
          if (stored.ok() || !may_pass(stored.error()) || now + kKeyPartPause >= limit) {
            return stored;
          }
          base::pause_for(kKeyPartPause);
        }
      },
      done);
  if (!submitted.ok()) done(submitted.error());
}

void KeyCopy::forget_before(int segment) {
  const auto note = [this](const Result<>& forgotten) {
    if (!forgotten.ok()) logger_.warning("old keys: {}", forgotten.error().message);
  };
  const auto submitted = worker_.run(
      [files = files_, folder = folder_, segment] { return forget(*files, folder, segment); },
      note);
  if (!submitted.ok()) note(submitted.error());
}

ResultCopy::ResultCopy(net::EventLoop& loop, base::Logger& logger, hadoop::WebHdfs files,
                       std::string folder)
    : logger_(logger),
      files_(std::make_shared<hadoop::WebHdfs>(std::move(files))),
      folder_(std::move(folder)),
      worker_(loop, 1) {}

void ResultCopy::keep(const std::string& name, const std::string& path,
                      std::function<void(Result<>)> done) {
  const auto submitted = worker_.run(
      [files = files_, path, folder = folder_, name] { return put(*files, path, folder, name); },
      done);
  if (!submitted.ok()) done(submitted.error());
}

void ResultCopy::remove(const std::string& name) {
  const auto note = [this, name](const Result<bool>& removed) {
    if (!removed.ok()) logger_.warning("the result {}: {}", name, removed.error().message);
  };
  const auto submitted = worker_.run(
      [files = files_, path = base::format("{}/{}", folder_, name)] {
        return files->remove(path, false, std::chrono::steady_clock::now() + kRemoveTimeout);
      },
      note);
  if (!submitted.ok()) note(submitted.error());
}

}  // namespace gangrun::yarn
