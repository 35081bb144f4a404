#include "base/sizes.h"

#include <cmath>
#include <string_view>

#include "base/format.h"

namespace gangrun::base {

std::string size_text(std::uint64_t bytes) {
  constexpr std::uint64_t kStep = 1024;
  if (bytes < kStep) return format("{} B", bytes);
  double size = static_cast<double>(bytes);
  std::string text;
  for (const std::string_view unit : {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}) {
    size /= kStep;
    // Three digits are enough; of 1023.7 they would make 1024.
    const double shown = size < 99.95 ? std::round(size * 10) / 10 : std::round(size);
    text = format("{} {}", shown, unit);
    if (shown < kStep) break;
  }
  return text;
}

}  // namespace gangrun::base
