#include "cluster/ssh/folder_mark.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/unique_fd.h"
#include "net/digests.h"

namespace gangrun::cluster {

namespace {

constexpr std::string_view kBeginning = ".gangrun-mark-";
// Nobody guesses it, and no two are the same.
constexpr std::size_t kRandomBytes = 16;

std::string path_of(const std::string& folder, const std::string& name) {
  return base::format("{}/{}", folder, name);
}

}  // namespace

base::Result<std::unique_ptr<FolderMark>> FolderMark::make(const std::string& folder) {
  std::string name = std::string(kBeginning) + net::to_hex(net::random_bytes(kRandomBytes));
  const base::UniqueFd file(::open(path_of(folder, name).c_str(),
                                   O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.valid()) return base::from_errno(errno, base::format("make a file in {}", folder));
  return std::make_unique<FolderMark>(Private{}, folder, std::move(name));
}

FolderMark::FolderMark(Private /*made by make()*/, std::string folder, std::string name)
    : folder_(std::move(folder)), name_(std::move(name)) {}

FolderMark::~FolderMark() { (void)::unlink(path_of(folder_, name_).c_str()); }

bool has_mark(const std::string& folder, const std::string& name) {
  if (!name.starts_with(kBeginning) || name.find('/') != std::string::npos) return false;
  struct stat info {};
  return ::lstat(path_of(folder, name).c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

}  // namespace gangrun::cluster
