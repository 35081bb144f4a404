#include "jobfile/problem.h"

#include "base/format.h"
#include "base/strings.h"
#include "job/limits.h"

namespace gangrun::jobfile {

Found check_range(std::int64_t value, std::int64_t min, std::int64_t max, const std::string& path) {
  if (value >= min && value <= max) return std::nullopt;
  return Problem{path, base::format("{} is not allowed; allowed: {} to {}", value, min, max)};
}

Found check_bytes(const std::string& bytes, const std::string& path) {
  if (bytes.find('\0') != std::string::npos) return Problem{path, "has a NUL character"};
  if (bytes.size() >= job::kMaxTextBytes) {
    return Problem{path, base::format("{} bytes are more than the limit of {}", bytes.size(),
                                      job::kMaxTextBytes - 1)};
  }
  return std::nullopt;
}

Found check_text(const std::string& text, const std::string& path) {
  if (!base::is_valid_utf8(text)) return Problem{path, "is not valid UTF-8"};
  return check_bytes(text, path);
}

}  // namespace gangrun::jobfile
