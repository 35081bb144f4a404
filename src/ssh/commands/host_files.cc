#include "ssh/commands/host_files.h"

#include "base/file_tree.h"
#include "base/format.h"
#include "client/prepare.h"
#include "jobfile/shipped_files.h"

namespace gangrun::ssh::commands {

base::Result<std::vector<ssh::HostFile>> host_files(const job::JobSpec& spec,
                                                    const std::string& folder) {
  GANGRUN_ASSIGN(const auto shipped, jobfile::shipped_files(spec, folder, client::kind_of));
  base::FileTree tree({});
  for (const jobfile::LocalFile& file : shipped.local) {
    auto added = tree.add(file.name, file.path);
    if (!added.ok())
      return base::invalid_argument(base::format("files: {}", added.error().message));
  }
  std::vector<ssh::HostFile> files;
  for (const auto& [name, entry] : tree.entries()) {
    GANGRUN_TRY(jobfile::check_file_name(name));
    if (entry.is_folder) {
      files.push_back({.path = {}, .name = name, .size = 0, .is_folder = true});
    } else {
      files.push_back({.path = entry.path,
                       .name = name,
                       .size = entry.size,
                       .is_executable = entry.is_program});
    }
  }
  return files;
}

}  // namespace gangrun::ssh::commands
