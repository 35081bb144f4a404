#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace gangrun::job {

// What is wrong with one field of a spec; `path` as in "tasks.worker.memory", empty for the whole.
struct Problem {
  std::string path;
  std::string text;
};

using Found = std::optional<Problem>;

Found check_range(std::int64_t value, std::int64_t min, std::int64_t max, const std::string& path);

// A text that can be an argument or a variable of a process and stand in JSON.
Found check_text(const std::string& text, const std::string& path);

}  // namespace gangrun::job
