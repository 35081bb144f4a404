#include "base/byte_order_mark.h"

namespace gangrun::base {

Result<std::string_view> without_mark(std::string_view text) {
  constexpr std::string_view kUtf8 = "\xEF\xBB\xBF";
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
    return invalid_argument("the text is in UTF-16; allowed: UTF-8");
  }
  return text.substr(text.starts_with(kUtf8) ? kUtf8.size() : 0);
}

}  // namespace gangrun::base
