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
  return bytes <= 0 ? "-" : base::size_text(static_cast<std::uint64_t>(bytes));
}

std::string list_text(const std::vector<std::string>& items) {
  std::string text;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) text += i + 1 == items.size() ? " and " : ", ";
    text += items[i];
  }
  return text;
}

}  // namespace gangrun::client
