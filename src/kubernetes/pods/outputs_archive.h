#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "cluster/disk_room.h"

namespace gangrun::kubernetes::pods {

// A file of ours for what the program `tar` of a task's image sends, while it comes. That program
// is the image's, which may send anything, without end.
class OutputsArchive {
 public:
  struct Limits {
    std::optional<std::uint64_t> bytes;                     // outputs_limit
    std::function<base::Result<cluster::DiskRoom>()> room;  // where it is kept
  };

  OutputsArchive(std::string path, Limits limits);
  ~OutputsArchive();
  OutputsArchive(const OutputsArchive&) = delete;
  OutputsArchive& operator=(const OutputsArchive&) = delete;

  // Makes the file. An error, here and below, is the end of it: why it cannot be had.
  base::Result<> begin();
  base::Result<> put(std::string_view piece);
  // It is whole, and there is room for what is in it.
  base::Result<> end();

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool is_empty() const { return bytes_ == 0; }

 private:
  // Checks that the disk has room for so many bytes more.
  [[nodiscard]] base::Result<> has_room(std::uint64_t bytes) const;

  const std::string path_;
  const Limits limits_;
  base::UniqueFd file_;
  std::uint64_t bytes_ = 0;
  std::uint64_t looked_at_ = 0;
};

}  // namespace gangrun::kubernetes::pods
