#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace gangrun::ssh {

// A file with a random name in a folder. Who finds that name at the same path has the same folder:
// whatever is made or removed in it meanwhile, whatever a client of NFS remembers of it, and
// however much another disk was copied from the same image.
class FolderMark {
  struct Private {};

 public:
  // Removes those of gangrun that was killed: of this user, older than 10 minutes, held by nobody.
  static base::Result<std::unique_ptr<FolderMark>> make(const std::string& folder);
  FolderMark(Private /*made by make()*/, std::string folder, std::string name, base::UniqueFd file);
  FolderMark(const FolderMark&) = delete;
  FolderMark& operator=(const FolderMark&) = delete;
  // Removes the file.
  ~FolderMark();

  // In the folder. Later marks have other names, so that nobody remembers that one is not there.
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  const std::string folder_;
  const std::string name_;
  base::UniqueFd file_;  // with its lock, as long as it is a mark
};

// `name` is a host's to look for, as the client says; one that is no mark's is not there.
bool has_mark(const std::string& folder, const std::string& name);

}  // namespace gangrun::ssh
