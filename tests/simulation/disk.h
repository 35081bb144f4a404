#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "journal/writer.h"

namespace gangrun::simulation {

// A segment of the journal on a disk that may be full, and may see its writer die in a write.
struct DiskFile {
  std::string content;
  int whole = 0;  // lines that reached it
};

// The fate of one write: how many of `bytes` reach the disk, and whether the rest fails.
struct WriteFate {
  std::size_t written = 0;
  bool disk_is_full = false;
};

class VirtualFile final : public journal::File {
 public:
  // `on_line` is told of each line that has reached the disk as a whole.
  VirtualFile(DiskFile& file, std::function<WriteFate(std::size_t)> fate,
              std::function<void(std::string_view)> on_line)
      : file_(file), fate_(std::move(fate)), on_line_(std::move(on_line)) {}
  base::Result<std::size_t> append(std::string_view bytes) override {
    const WriteFate fate = fate_(bytes.size());
    file_.content.append(bytes.substr(0, fate.written));
    if (fate.written == bytes.size()) {
      ++file_.whole;
      on_line_(bytes.substr(0, bytes.size() - 1));
    }
    if (fate.disk_is_full && fate.written == 0) {
      return base::Error{base::Code::kResourceExhausted, "the disk is full"};
    }
    // If the writer dies in it, it never learns how much was written.
    return fate.disk_is_full ? fate.written : bytes.size();
  }
  base::Result<> truncate(std::int64_t bytes) override {
    file_.content.resize(static_cast<std::size_t>(bytes));
    return {};
  }
  base::Result<> sync() override { return {}; }

 private:
  DiskFile& file_;
  std::function<WriteFate(std::size_t)> fate_;
  std::function<void(std::string_view)> on_line_;
};

}  // namespace gangrun::simulation
