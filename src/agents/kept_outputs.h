#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/result.h"
#include "wire/rest_bodies.h"

namespace gangrun::agents {

// Files that an OutputStore has kept in its folder, for who fetches them. Whoever sent them may be
// hostile:
// no link is followed, and nothing but files of the folder is read.
class KeptOutputs {
 public:
  explicit KeptOutputs(std::string folder) : folder_(std::move(folder)) {}

  // Those of the task with this name (cluster::result_name); empty: of all. A file that has not all
  // come is left out. `is_whole` is the caller's.
  [[nodiscard]] base::Result<wire::OutputList> list(const std::string& task) const;
  // Bytes of a file from `from` on, as many as one answer has; none: its end.
  [[nodiscard]] base::Result<std::string> read(const std::string& task, const std::string& name,
                                               std::uint64_t from) const;
  base::Result<> remove(const std::string& task);

 private:
  const std::string folder_;
};

}  // namespace gangrun::agents
