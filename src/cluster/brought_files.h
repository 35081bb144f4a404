#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace gangrun::cluster {

// A file that comes from where tasks have written it, or a symbolic link where it has a target.
struct BroughtFile {
  std::string name;  // relative to the folder into which it is brought
  std::uint64_t size = 0;
  bool is_executable = false;
  std::string target{};
};

// Files that one host or task brings, into a folder of this machine. It may be hostile: nothing
// outside the folder is touched, and no link leads out of it.
class BroughtFiles {
 public:
  // `limit`: of all bytes together; 0: none.
  BroughtFiles(std::string folder, std::uint64_t limit)
      : folder_(std::move(folder)), limit_(limit) {}
  BroughtFiles(const BroughtFiles&) = delete;
  BroughtFiles& operator=(const BroughtFiles&) = delete;
  // What has not come whole is removed.
  ~BroughtFiles() { drop(); }

  // The file comes in place of one of its name when it is whole.
  base::Result<> begin(const BroughtFile& output);
  base::Result<> add(std::string_view bytes);
  // Nothing more comes of the file that came.
  void drop();

  [[nodiscard]] std::uint64_t files() const { return files_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  base::Result<base::UniqueFd> open_parent(const std::string& name);
  base::Result<> link(const BroughtFile& output);
  base::Result<> finish();

  const std::string folder_;
  const std::uint64_t limit_;
  std::uint64_t files_ = 0;
  std::uint64_t bytes_ = 0;
  base::UniqueFd parent_;
  base::UniqueFd file_;  // that comes
  std::string base_name_;
  std::uint64_t left_ = 0;
};

}  // namespace gangrun::cluster
