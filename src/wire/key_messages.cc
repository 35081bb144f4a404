#include "wire/key_messages.h"

#include <algorithm>

namespace gangrun::wire {

bool is_key(std::string_view text) {
  return !text.empty() && text.size() <= kMaxKeyBytes &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

base::Result<> KeyQuestion::complete() const {
  const bool is_change = action == KeyAction::kPut || action == KeyAction::kDelete;
  if (is_change != (change > 0)) {
    return base::wrong_member("change", "more than 0 exactly for a put or delete");
  }
  if (action == KeyAction::kList ? key.empty() || is_key(key) : is_key(key)) return {};
  return base::wrong_member("key", kKeyForm);
}

base::Result<> BarrierQuestion::complete() const {
  if (!is_key(name)) return base::wrong_member("name", kKeyForm);
  if (process < processes) return {};
  return base::wrong_member("process", "less than \"processes\"");
}

}  // namespace gangrun::wire
