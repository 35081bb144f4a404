#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace gangrun::base {

// All that is below files and folders of this machine, with symbolic links followed, for who copies
// it to somewhere else.
class FileTree {
 public:
  // Nobody means to copy more, whatever the place: a link to a data set perhaps.
  static constexpr std::size_t kMaxFiles = 100'000;

  struct Limits {
    std::size_t max_files = kMaxFiles;  // and folders
    std::uint64_t max_bytes = std::numeric_limits<std::uint64_t>::max();
    // Whether a link may lead out of the folder that was named.
    bool may_lead_out = true;
  };
  struct Entry {
    std::string path;  // of this machine
    bool is_folder = false;
    bool is_program = false;  // may be executed by its owner
    std::uint64_t size = 0;   // of a file, in bytes
  };

  explicit FileTree(Limits limits) : limits_(limits) {}

  // `path`, with all that is below it, under `name`, which has no "." and "..". kInvalidArgument: a
  // name twice, a link that leads nowhere, in a circle, or out where it may not, a socket, pipe or
  // device; kResourceExhausted: a limit; each error names the path.
  Result<> add(const std::string& name, const std::string& path);

  [[nodiscard]] const std::map<std::string, Entry>& entries() const { return entries_; }

 private:
  Result<> visit(const std::string& name, const std::string& path);
  Result<> visit_folder(const std::string& name, const std::string& path,
                        const std::pair<dev_t, ino_t>& identity);
  Result<> visit_item(const std::string& name, const std::string& path, bool is_link);
  Result<> count(const Entry& entry);

  const Limits limits_;
  std::map<std::string, Entry> entries_;
  std::string root_;
  std::vector<std::pair<dev_t, ino_t>> above_;
  std::uint64_t bytes_ = 0;
};

}  // namespace gangrun::base
