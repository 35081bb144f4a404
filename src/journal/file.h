#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace gangrun::journal {

// The file that a writer appends to.
class File {
 public:
  virtual ~File() = default;
  // How much was appended; less than all where there is no room for the rest.
  virtual base::Result<std::size_t> append(std::string_view bytes) = 0;
  virtual base::Result<> truncate(std::int64_t bytes) = 0;
  // Returns when the disk has what was appended.
  virtual base::Result<> sync() = 0;
};

}  // namespace gangrun::journal
