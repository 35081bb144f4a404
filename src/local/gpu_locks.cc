#include "local/gpu_locks.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/format.h"
#include "base/variable.h"

namespace gangrun::local {

namespace {

// All may add files; only its owner takes one away.
constexpr mode_t kShared = 01777;
// Locks are taken on descriptors for reading: the files of other users are as good as our own.
constexpr mode_t kReadByAll = 0644;
constexpr int kNoSurprise = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;

base::Error refused(const std::string& folder, const std::string& reason) {
  return {base::Code::kFailedPrecondition,
          base::format("the folder of the GPUs' locks, {}, {}", folder, reason)};
}

base::UniqueFd lock(const std::string& folder, const std::string& name, int operation) {
  const std::string path = base::format("{}/{}", folder, name);
  // A file that is there is opened without O_CREAT, by which the kernel refuses other users' files
  // in such a folder (fs.protected_regular).
  base::UniqueFd file(::open(path.c_str(), kNoSurprise));
  if (!file.valid() && errno == ENOENT) {
    file.reset(::open(path.c_str(), kNoSurprise | O_CREAT | O_EXCL, kReadByAll));
    if (file.valid()) {
      // Whatever the umask says.
      (void)::fchmod(file.get(), kReadByAll);
    } else if (errno == EEXIST) {
      file.reset(::open(path.c_str(), kNoSurprise));
    }
  }
  struct stat found {};
  if (!file.valid() || ::fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode) ||
      ::flock(file.get(), operation | LOCK_NB) != 0) {
    return {};
  }
  return file;
}

}  // namespace

base::Result<> make_gpu_lock_folder(const std::string& folder, uid_t user) {
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return base::from_errno(errno, base::format("the folder of the GPUs' locks, {}", folder));
  }
  const base::UniqueFd opened(::open(folder.c_str(), kNoSurprise | O_DIRECTORY));
  struct stat found {};
  if (!opened.valid() || ::fstat(opened.get(), &found) != 0) {
    return refused(folder, "is not a folder");
  }
  const bool is_ours = found.st_uid == user;
  if (is_ours && ::fchmod(opened.get(), kShared) != 0) {
    return base::from_errno(errno, base::format("chmod of {}", folder));
  }
  if (!is_ours && (found.st_mode & S_ISVTX) == 0) {
    return refused(
        folder, base::format("has mode {:04o}: others could take locks away; its owner, user {}, "
                             "or root has to set 1777",
                             found.st_mode & 07777U, found.st_uid));
  }
  return {};
}

// Not below TMPDIR, which users have of their own; the Python package knows it too (gpu_info.py).
base::Result<std::string> gpu_lock_folder() {
  std::string folder = base::variable("GANGRUN_GPU_LOCKS");
  if (folder.empty()) folder = "/tmp/gangrun-gpus";
  GANGRUN_TRY(make_gpu_lock_folder(folder));
  return folder;
}

std::vector<base::UniqueFd> lock_gpu(const std::string& folder, const job::Gpu& gpu) {
  std::vector<base::UniqueFd> locks;
  if (!gpu.whole_lock.empty()) {
    locks.push_back(lock(folder, gpu.whole_lock, LOCK_SH));
    if (!locks.back().valid()) return {};
  }
  locks.push_back(lock(folder, gpu.lock, LOCK_EX));
  if (!locks.back().valid()) return {};
  return locks;
}

}  // namespace gangrun::local
