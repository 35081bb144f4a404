#include "cluster/kubernetes/client/unpacking.h"

#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/format.h"
#include "base/strings.h"
#include "process/engine.h"

namespace gangrun::client {

namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes kLongest(10);
constexpr std::size_t kToldBytes = 300;
constexpr std::size_t kToldNames = 3;
constexpr std::size_t kToldNameBytes = 80;

// Where nobody else comes, until only what may be there is left.
constexpr mode_t kClosed = 0700;
constexpr mode_t kOpen = 0755;
// What a file or folder may have: no setuid, no setgid, no sticky bit, nothing for others to write.
constexpr mode_t kPermitted = 0755;

// Whether a link leads to something in `folder` (canonical), or to nothing in it yet.
bool leads_inside(const fs::path& link, const fs::path& folder) {
  std::error_code failed;
  const fs::path target = fs::weakly_canonical(link, failed);
  if (failed) return false;
  const fs::path from_folder = target.lexically_relative(folder);
  return !from_folder.empty() && *from_folder.begin() != "..";
}

// Takes away what no output is, and rights that only this machine gives.
class Sweep {
 public:
  explicit Sweep(fs::path folder) : folder_(std::move(folder)) {}

  base::Result<> run() {
    std::vector<fs::path> folders{folder_};
    while (!folders.empty()) {
      const fs::path folder = std::move(folders.back());
      folders.pop_back();
      std::error_code failed;
      for (fs::directory_iterator it(folder, failed), end; !failed && it != end;
           it.increment(failed)) {
        GANGRUN_TRY(look_at(it->path(), folders));
      }
      if (failed) return base::from_errno(failed.value(), folder.string());
    }
    return {};
  }

  [[nodiscard]] const std::vector<std::string>& removed() const { return removed_; }

 private:
  base::Result<> look_at(const fs::path& path, std::vector<fs::path>& folders) {
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0) return base::from_errno(errno, path.string());
    if (S_ISLNK(info.st_mode)) return leads_inside(path, folder_) ? base::Result<>() : remove(path);
    const bool is_folder = S_ISDIR(info.st_mode);
    if (!is_folder && !S_ISREG(info.st_mode)) return remove(path);
    const mode_t mode = (info.st_mode & kPermitted) | (is_folder ? S_IRWXU : S_IRUSR | S_IWUSR);
    if (::chmod(path.c_str(), mode) != 0) return base::from_errno(errno, path.string());
    if (is_folder) folders.push_back(path);
    return {};
  }

  base::Result<> remove(const fs::path& path) {
    removed_.push_back(
        base::shorten(base::printable(path.lexically_relative(folder_).string()), kToldNameBytes));
    std::error_code failed;
    fs::remove(path, failed);
    if (failed) return base::from_errno(failed.value(), path.string());
    return {};
  }

  const fs::path folder_;
  std::vector<std::string> removed_;
};

base::Result<> set_mode(const std::string& folder, mode_t mode) {
  if (::chmod(folder.c_str(), mode) != 0) return base::from_errno(errno, folder);
  return {};
}

}  // namespace

base::Result<std::string> unpack_tar(const std::string& archive, const std::string& folder) {
  GANGRUN_TRY(set_mode(folder, kClosed));
  GANGRUN_ASSIGN(
      const auto answer,
      process::ask({"tar", "--extract", "--no-same-owner", "--no-same-permissions", "--no-xattrs",
                    "--no-acls", "--no-selinux", "--file", archive, "--directory", folder},
                   std::chrono::steady_clock::now() + kLongest));
  std::error_code failed;
  const fs::path whole = fs::canonical(folder, failed);
  if (failed) return base::from_errno(failed.value(), folder);
  Sweep sweep(whole);
  GANGRUN_TRY(sweep.run());
  GANGRUN_TRY(set_mode(folder, kOpen));
  if (answer.status != 0) {
    return base::Error{
        base::Code::kDataLoss,
        base::format("tar ended with status {}: {}", answer.status,
                     base::shorten(base::printable(base::trim(answer.output)), kToldBytes))};
  }
  if (sweep.removed().empty()) return std::string();
  return base::format("left out, as they are no files or folders, nor links to any of them: {}",
                      base::first_and_more(sweep.removed(), kToldNames));
}

}  // namespace gangrun::client
