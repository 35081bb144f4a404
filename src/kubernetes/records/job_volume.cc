#include "kubernetes/records/job_volume.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <system_error>

#include "base/files.h"
#include "base/format.h"
#include "base/strings.h"
#include "base/unique_fd.h"

namespace gangrun::kubernetes::records {
namespace {

namespace fs = std::filesystem;

using base::Code;
using base::Result;

constexpr mode_t kOwnersFolder = 0700;
constexpr mode_t kOwnersFile = 0600;
constexpr std::size_t kMaxOwnerBytes = 4096;
constexpr std::size_t kCopiedAtOnce = std::size_t{1} << 20U;
constexpr std::string_view kSegmentEnd = ".jsonl";
// An earlier master that does not know of its end may bring a file once more.
constexpr int kMovingTries = 3;

Result<> sync_folder(const std::string& path) {
  const base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.valid() && ::fsync(fd.get()) == 0) return {};
  // Some file systems do not know that of a folder.
  if (fd.valid() && errno == EINVAL) return {};
  return base::from_errno(errno, base::format("keep {}", path));
}

Result<> copy_file(const std::string& from, const std::string& to) {
  GANGRUN_ASSIGN(const base::UniqueFd source, base::open_file(from, O_RDONLY | O_NOFOLLOW));
  GANGRUN_ASSIGN(const base::UniqueFd copy,
                 base::open_file(to, O_WRONLY | O_CREAT | O_EXCL, kOwnersFile));
  for (std::int64_t at = 0;;) {
    GANGRUN_ASSIGN(const std::string bytes,
                   base::read_at(source.get(), at, kCopiedAtOnce, base::format("read {}", from)));
    if (bytes.empty()) break;
    GANGRUN_TRY(base::write_all(copy.get(), bytes, base::format("write {}", to)));
    at += static_cast<std::int64_t>(bytes.size());
  }
  if (::fsync(copy.get()) == 0) return {};
  return base::from_errno(errno, base::format("write {}", to));
}

// `each` gets the names in a folder, until an error.
Result<> for_names_in(const std::string& folder,
                      const std::function<Result<>(const std::string& name)>& each) {
  std::error_code failed;
  fs::directory_iterator entries(folder, failed);
  for (; !failed && entries != fs::directory_iterator(); entries.increment(failed)) {
    GANGRUN_TRY(each(entries->path().filename().string()));
  }
  if (failed) return base::from_errno(failed.value(), base::format("read {}", folder));
  return {};
}

Result<> copy_segments(const std::string& from, const std::string& to) {
  return for_names_in(from, [&](const std::string& name) -> Result<> {
    if (!name.ends_with(kSegmentEnd)) return {};
    return copy_file(base::format("{}/{}", from, name), base::format("{}/{}", to, name));
  });
}

Result<> remove_tree(const std::string& path) {
  std::error_code failed;
  fs::remove_all(path, failed);
  if (failed) return base::from_errno(failed.value(), base::format("remove {}", path));
  return {};
}

// Whether the folder is of this owner, or becomes so as nobody has said whose it is.
Result<> check_owner(const std::string& folder, const std::string& owner_uid) {
  struct stat info {};
  if (::lstat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
    return base::Error{Code::kAlreadyExists, base::format("{} is no folder", folder)};
  }
  const std::string path = folder + "/owner";
  const auto told = base::read_file(path, kMaxOwnerBytes);
  if (told.ok() && *told == owner_uid) return {};
  if (!told.ok() && told.error().code != Code::kNotFound) return told.error();
  std::error_code failed;
  if (told.ok() || !fs::is_empty(folder, failed) || failed) {
    return base::Error{
        Code::kAlreadyExists,
        base::format("{} is the folder of another job; allowed: another `path`", folder)};
  }
  return base::write_file_atomically(path, owner_uid, kOwnersFile);
}

}  // namespace

Result<JobVolume> JobVolume::open(const std::string& parent, const std::string& job_id,
                                  const std::string& owner_uid) {
  const std::string folder = base::format("{}/{}", parent, job_id);
  GANGRUN_TRY(base::make_folders(parent, kOwnersFolder));
  if (::mkdir(folder.c_str(), kOwnersFolder) != 0 && errno != EEXIST) {
    return base::from_errno(errno, base::format("make {}", folder));
  }
  GANGRUN_TRY(check_owner(folder, owner_uid));
  GANGRUN_TRY(sync_folder(parent));
  return JobVolume(folder);
}

std::string JobVolume::folder_of(int master) const {
  return base::format("{}/{:06}", folder_, master);
}

std::string JobVolume::in(int master, const char* what) const {
  return base::format("{}/{}", folder_of(master), what);
}

Result<> JobVolume::begin(int master, int counting) const {
  // A try that was cut short has left one.
  GANGRUN_TRY(remove_tree(folder_of(master)));
  for (const std::string& path : {journal_of(master), keys_of(master), outputs_of(master)}) {
    GANGRUN_TRY(base::make_folders(path, kOwnersFolder));
  }
  if (counting > 0) {
    const Result<> journal = copy_segments(journal_of(counting), journal_of(master));
    if (!journal.ok() && journal.error().code == Code::kNotFound) {
      return base::Error{Code::kDataLoss,
                         base::format("the journal of the job is gone: there is no {}; it was in "
                                      "this volume, or in one of the same name on another node",
                                      journal_of(counting))};
    }
    GANGRUN_TRY(journal);
    GANGRUN_TRY(copy_segments(keys_of(counting), keys_of(master)));
  }
  for (const std::string& path :
       {journal_of(master), keys_of(master), folder_of(master), folder_}) {
    GANGRUN_TRY(sync_folder(path));
  }
  return {};
}

Result<std::vector<int>> JobVolume::masters_before(int master) const {
  std::vector<int> masters;
  GANGRUN_TRY(for_names_in(folder_, [&](const std::string& name) -> Result<> {
    const auto number = base::parse_integer(name);
    if (number && *number > 0 && *number < master) masters.push_back(static_cast<int>(*number));
    return {};
  }));
  std::ranges::sort(masters, std::greater<>());
  return masters;
}

// Nothing of outputs is removed but where a later master has others of the task: a folder that is
// not empty stays.
Result<> JobVolume::take_outputs_of(int from, int to) const {
  const std::string old = outputs_of(from);
  std::vector<std::string> names;
  const Result<> listed = for_names_in(old, [&names](const std::string& name) -> Result<> {
    names.push_back(name);
    return {};
  });
  if (!listed.ok() && listed.error().code != Code::kNotFound) return listed;
  for (const std::string& name : names) {
    const std::string moved = base::format("{}/{}", outputs_of(to), name);
    const std::string path = base::format("{}/{}", old, name);
    std::error_code failed;
    if (fs::exists(fs::symlink_status(moved, failed))) {
      GANGRUN_TRY(remove_tree(path));
      continue;
    }
    fs::rename(path, moved, failed);
    if (failed) return base::from_errno(failed.value(), base::format("move {}", path));
  }
  GANGRUN_TRY(remove_tree(journal_of(from)));
  GANGRUN_TRY(remove_tree(keys_of(from)));
  for (const std::string& path : {old, folder_of(from)}) {
    if (::rmdir(path.c_str()) != 0 && errno != ENOENT) {
      return base::from_errno(errno, base::format("remove {}", path));
    }
  }
  return {};
}

Result<> JobVolume::take_outputs(int master) const {
  Result<> taken;
  for (int i = 0; i < kMovingTries; ++i) {
    GANGRUN_ASSIGN(const std::vector<int> masters, masters_before(master));
    if (masters.empty()) return {};
    taken = Result<>();
    for (const int from : masters) {
      const Result<> one = take_outputs_of(from, master);
      if (!one.ok() && taken.ok()) taken = one;
    }
    if (taken.ok()) return {};
  }
  return taken;
}

Result<> JobVolume::remove() const { return remove_tree(folder_); }

}  // namespace gangrun::kubernetes::records
