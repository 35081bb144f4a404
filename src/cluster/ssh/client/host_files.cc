#include "cluster/ssh/client/host_files.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/format.h"
#include "client/prepare.h"
#include "job/shipped_files.h"

namespace gangrun::client {

namespace {

using base::Result;

Result<> add_file(const std::filesystem::path& path, std::string name,
                  std::vector<cluster::HostFile>& files) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    return base::from_errno(errno, base::format("files: stat {}", path.string()));
  }
  files.push_back({.path = path.string(),
                   .name = std::move(name),
                   .size = static_cast<std::uint64_t>(info.st_size),
                   .is_executable = (info.st_mode & S_IXUSR) != 0});
  return {};
}

void add_folder(std::string name, std::vector<cluster::HostFile>& files) {
  files.push_back({.path = {}, .name = std::move(name), .size = 0, .is_folder = true});
}

}  // namespace

Result<std::vector<cluster::HostFile>> host_files(const job::JobSpec& spec,
                                                  const std::string& folder) {
  GANGRUN_ASSIGN(const auto shipped, job::shipped_files(spec, folder, kind_of));
  std::vector<cluster::HostFile> files;
  for (const job::LocalFile& file : shipped.local) {
    if (kind_of(file.path) != job::FileKind::kFolder) {
      GANGRUN_TRY(add_file(file.path, file.name, files));
      continue;
    }
    std::error_code failed;
    add_folder(file.name, files);
    for (auto at = std::filesystem::recursive_directory_iterator(file.path, failed);
         !failed && at != std::filesystem::recursive_directory_iterator(); at.increment(failed)) {
      const std::string name =
          base::format("{}/{}", file.name, at->path().lexically_relative(file.path).string());
      GANGRUN_TRY(job::check_file_name(name));
      std::error_code ignored;
      // Empty ones come too.
      if (at->is_directory(ignored)) add_folder(name, files);
      if (at->is_regular_file(ignored)) GANGRUN_TRY(add_file(at->path(), name, files));
    }
    if (failed) {
      return base::invalid_argument(
          base::format("files: '{}' cannot be read: {}", file.path, failed.message()));
    }
  }
  return files;
}

}  // namespace gangrun::client
