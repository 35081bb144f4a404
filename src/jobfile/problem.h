#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace gangrun::jobfile {

// An error in one field of a spec; `path` as in "tasks.worker.memory", empty for the whole.
struct Problem {
  std::string path;
  std::string text;
};

using Found = std::optional<Problem>;

Found check_range(std::int64_t value, std::int64_t min, std::int64_t max, const std::string& path);

// Bytes that can be an argument, a variable or a path of a process.
Found check_bytes(const std::string& bytes, const std::string& path);
// The same of what others than this machine's programs read, who take UTF-8 only.
Found check_text(const std::string& text, const std::string& path);

}  // namespace gangrun::jobfile
