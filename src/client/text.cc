#include "client/text.h"

#include <algorithm>

#include "base/format.h"

namespace gangrun::client {

std::string path_in_quotes(std::string_view path) {
  return base::format("'{}'", harmless_sentence(path));
}

std::string fit(std::string_view text, std::size_t width) {
  std::string result = cut(text, width);
  result.append(width - std::min(width, display_width(result)), ' ');
  return result;
}

std::string bytes_text(std::int64_t bytes) {
  if (bytes <= 0) return "-";
  constexpr std::int64_t kKib = 1024;
  constexpr std::int64_t kMib = kKib * 1024;
  constexpr std::int64_t kGib = kMib * 1024;
  if (bytes < kMib) return base::format("{} KiB", (bytes + kKib - 1) / kKib);
  if (bytes < kGib) return base::format("{} MiB", bytes / kMib);
  return base::format("{:.1f} GiB", static_cast<double>(bytes) / static_cast<double>(kGib));
}

}  // namespace gangrun::client
