#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "job/figures.h"

namespace gangrun::agent {

// The file in which a task's processes tell how far they are, one JSON object, replaced as often as
// they like.
class FiguresFile {
 public:
  explicit FiguresFile(std::string path) : path_(std::move(path)) {}

  [[nodiscard]] const std::string& path() const { return path_; }
  // Before a run: what an earlier one told is none of its figures.
  void begin_run();
  // The figures that were not read before; none: nothing new. An error is told once for each
  // content.
  base::Result<std::optional<job::Figures>> changed();
  // The next changed() reads again: whoever was told before may have forgotten.
  void forget() { seen_.reset(); }

 private:
  // The state of the file that was read last.
  struct Seen {
    ino_t inode = 0;
    off_t size = 0;
    std::int64_t modified_ns = 0;

    friend bool operator==(const Seen&, const Seen&) = default;
  };

  std::string path_;
  std::optional<Seen> seen_;
};

}  // namespace gangrun::agent
