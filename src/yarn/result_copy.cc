#include "yarn/result_copy.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/unique_fd.h"
#include "yarn/job_access.h"

namespace gangrun::yarn {

namespace {

constexpr std::chrono::seconds kRemoveTimeout(20);

base::Result<> put(hadoop::WebHdfs& files, const std::string& from, const std::string& folder,
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
  auto renamed = files.rename(unfinished, whole, deadline);
  if (renamed.ok() || renamed.error().code != base::Code::kAlreadyExists) return renamed;
  if (auto removed = files.remove(whole, false, deadline); !removed.ok()) return removed.error();
  return files.rename(unfinished, whole, deadline);
}

}  // namespace

ResultCopy::ResultCopy(net::EventLoop& loop, base::Logger& logger, hadoop::WebHdfs files,
                       std::string folder)
    : logger_(logger),
      files_(std::make_shared<hadoop::WebHdfs>(std::move(files))),
      folder_(std::move(folder)),
      worker_(loop, 1) {}

void ResultCopy::keep(const std::string& name, const std::string& path,
                      std::function<void(base::Result<>)> done) {
  const auto submitted = worker_.run(
      [files = files_, path, folder = folder_, name] { return put(*files, path, folder, name); },
      done);
  if (!submitted.ok()) done(submitted.error());
}

void ResultCopy::remove(const std::string& name) {
  const auto note = [this, name](const base::Result<bool>& removed) {
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
