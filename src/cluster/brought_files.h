#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "cluster/found_outputs.h"

namespace gangrun::cluster {

// A file that comes from where tasks have written it, a symbolic link where it has a target, or an
// empty folder.
struct BroughtFile {
  std::string name;  // relative to the folder into which it is brought
  std::uint64_t size = 0;
  bool is_executable = false;
  std::string target{};
  bool is_folder = false;
};

// The limit for the bytes of all skipped files, where the bytes of all files have no limit.
inline constexpr std::uint64_t kMaxSkippedBytes = std::uint64_t{16} << 30U;

// Files that one host or task brings, into a folder of this machine. It may be hostile: nothing
// outside the folder is touched, and no link leads out of it.
class BroughtFiles {
 public:
  // `limit`: of all bytes together, also of what is skipped; 0: none but the disk's, and
  // kMaxSkippedBytes.
  BroughtFiles(std::string folder, std::uint64_t limit)
      : folder_(std::move(folder)), limit_(limit) {}
  BroughtFiles(const BroughtFiles&) = delete;
  BroughtFiles& operator=(const BroughtFiles&) = delete;
  // Removes a file that has not come whole.
  ~BroughtFiles() { drop(); }

  // The file comes in place of one of its name when it is whole. One that cannot be here, because
  // of its name or of what is in its place, is skipped, and so are its bytes.
  base::Result<> begin(const BroughtFile& output);
  base::Result<> add(std::string_view bytes);
  // Nothing more comes of the file that came.
  void drop();

  // The files and folders that have come whole, and the bytes of those files.
  [[nodiscard]] std::uint64_t files() const { return files_; }
  [[nodiscard]] std::uint64_t folders() const { return folders_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  // How much has come of the file that was begun last.
  [[nodiscard]] std::uint64_t of_last() const { return size_ - left_; }
  // Names the files that were skipped, and says why; empty: none was.
  [[nodiscard]] std::string skipped_words() const;

 private:
  base::Result<> open_parent(const std::vector<std::string>& parts);
  base::Result<> trouble(int error);
  base::Result<> check(const BroughtFile& output);
  base::Result<> finish();
  void drop_part();

  const std::string folder_;
  const std::uint64_t limit_;
  std::uint64_t begun_ = 0;
  std::uint64_t announced_ = 0;  // bytes of all that were begun
  std::uint64_t skipped_bytes_ = 0;
  std::uint64_t files_ = 0;
  std::uint64_t folders_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t skipped_ = 0;
  std::vector<OddOutput> named_;  // the first of them
  // A file lies beside the folder until it is whole, where no file of a task can be.
  base::UniqueFd beside_;
  base::UniqueFd parent_;
  base::UniqueFd file_;  // that comes
  std::string part_;     // its name until it is whole
  bool has_part_ = false;
  std::string name_;
  std::string base_name_;
  std::uint64_t size_ = 0;
  std::uint64_t left_ = 0;
  bool is_skipping_ = false;
};

}  // namespace gangrun::cluster
