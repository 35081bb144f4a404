#include "ssh/folder_mark.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <string_view>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/hex.h"
#include "base/letters.h"
#include "net/digests.h"

namespace gangrun::ssh {

namespace {

constexpr std::string_view kBeginning = ".gangrun-mark-";
// Nobody guesses it, and no two are the same.
constexpr std::size_t kRandomBytes = 16;
constexpr mode_t kMode = 0600;
// A mark that a killed login has left is older.
constexpr std::time_t kLeftSeconds = 600;
// The most files of a folder that are read.
constexpr int kMaxEntries = 10'000;

std::string path_of(const std::string& folder, const std::string& name) {
  return base::format("{}/{}", folder, name);
}

bool is_name_of_mark(std::string_view name) {
  if (!name.starts_with(kBeginning)) return false;
  const std::string_view digits = name.substr(kBeginning.size());
  return digits.size() == 2 * kRandomBytes && std::ranges::all_of(digits, base::is_small_hex_digit);
}

// Empty, ours, long there, and nobody holds it. `now`: of the same clock, which may be a server's.
bool is_left(int folder, const char* name, std::time_t now) {
  struct stat info {};
  const base::UniqueFd file(::openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  return file.valid() && ::fstat(file.get(), &info) == 0 && S_ISREG(info.st_mode) &&
         info.st_size == 0 && info.st_uid == ::geteuid() && (info.st_mode & ALLPERMS) == kMode &&
         now - info.st_mtim.tv_sec > kLeftSeconds && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0;
}

// Those of gangrun that was killed.
void remove_left(const std::string& folder, std::time_t now) {
  const base::Folder entries = base::open_folder(folder);
  if (!entries) return;
  const int fd = ::dirfd(entries.get());
  for (int i = 0; i < kMaxEntries; ++i) {
    const dirent* entry =
        ::readdir(entries.get());  // NOLINT(concurrency-mt-unsafe): it is ours alone
    if (entry == nullptr) break;
    if (!is_name_of_mark(entry->d_name) || !is_left(fd, entry->d_name, now)) continue;
    (void)::unlinkat(fd, entry->d_name, 0);
  }
}

}  // namespace

base::Result<std::unique_ptr<FolderMark>> FolderMark::make(const std::string& folder) {
  std::string name = std::string(kBeginning) + base::to_hex(net::random_bytes(kRandomBytes));
  base::UniqueFd file(::open(path_of(folder, name).c_str(),
                             O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kMode));
  if (!file.valid()) return base::from_errno(errno, base::format("make a file in {}", folder));
  // If that does not work, nobody gets the lock, and nobody takes it for one that was left.
  (void)::flock(file.get(), LOCK_EX | LOCK_NB);
  struct stat info {};
  if (::fstat(file.get(), &info) == 0) remove_left(folder, info.st_mtim.tv_sec);
  return std::make_unique<FolderMark>(Private{}, folder, std::move(name), std::move(file));
}

FolderMark::FolderMark(Private /*made by make()*/, std::string folder, std::string name,
                       base::UniqueFd file)
    : folder_(std::move(folder)), name_(std::move(name)), file_(std::move(file)) {}

FolderMark::~FolderMark() {
  // NFS gives a file that is open another name instead.
  file_.reset();
  (void)::unlink(path_of(folder_, name_).c_str());
}

bool has_mark(const std::string& folder, const std::string& name) {
  if (!name.starts_with(kBeginning) || name.find('/') != std::string::npos) return false;
  struct stat info {};
  return ::lstat(path_of(folder, name).c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

}  // namespace gangrun::ssh
