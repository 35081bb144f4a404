#include "kubernetes/value_at.h"

namespace gangrun::kubernetes {

const base::Json& value_at(const base::Json& object, KeyPath path) {
  static const base::Json kNone;
  const base::Json* at = &object;
  for (const std::string_view key : path) {
    const auto member = at->find(key);
    if (member == at->end()) return kNone;
    at = &*member;
  }
  return *at;
}

std::string text_at(const base::Json& object, KeyPath path) {
  const base::Json& value = value_at(object, path);
  return value.is_string() ? value.get<std::string>() : std::string();
}

const base::Json& list_at(const base::Json& object, KeyPath path) {
  static const base::Json kEmpty = base::Json::array();
  const base::Json& value = value_at(object, path);
  return value.is_array() ? value : kEmpty;
}

}  // namespace gangrun::kubernetes
