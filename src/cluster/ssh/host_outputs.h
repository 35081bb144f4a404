#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "cluster/ssh/keeper_messages.h"

namespace gangrun::cluster {

// Files that one host brings, into a folder of this machine. The host may be hostile: nothing
// outside the folder is touched, and no link leads out of it.
class HostOutputs {
 public:
  // `limit`: of all bytes together; 0: none.
  HostOutputs(std::string folder, std::uint64_t limit)
      : folder_(std::move(folder)), limit_(limit) {}
  HostOutputs(const HostOutputs&) = delete;
  HostOutputs& operator=(const HostOutputs&) = delete;
  // What has not come whole is removed.
  ~HostOutputs() { drop(); }

  // The file comes in place of one of its name when it is whole.
  base::Result<> begin(const OutputMessage& output);
  base::Result<> add(std::string_view bytes);
  // Nothing more comes of the file that came.
  void drop();

  [[nodiscard]] std::uint64_t files() const { return files_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  base::Result<base::UniqueFd> open_parent(const std::string& name);
  base::Result<> link(const OutputMessage& output);
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
