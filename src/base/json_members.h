#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/json.h"
#include "base/result.h"

// The templates behind json_member(): included by json.h only.
namespace gangrun::base {

namespace json_detail {

template <typename T>
constexpr std::string_view type_name() {
  if constexpr (std::is_same_v<T, bool>) return "true or false";
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) return "a whole number in range";
  if constexpr (std::is_floating_point_v<T>) return "a number";
  if constexpr (std::is_same_v<T, std::string>) return "a string";
  return "of another type";
}

template <typename T>
bool read_integer(const Json& value, T& out) {
  const auto take = [&out](auto number) {
    if (!std::in_range<T>(number)) return false;
    out = static_cast<T>(number);
    return true;
  };
  if (value.is_number_unsigned()) return take(value.get<std::uint64_t>());
  return value.is_number_integer() && take(value.get<std::int64_t>());
}

template <typename T>
bool read(const Json& value, T& out) {
  if constexpr (std::is_same_v<T, bool>) {
    if (!value.is_boolean()) return false;
    out = value.get<bool>();
    return true;
  } else if constexpr (std::is_integral_v<T>) {
    return read_integer(value, out);
  } else if constexpr (std::is_floating_point_v<T>) {
    if (!value.is_number()) return false;
    out = value.get<T>();
    return true;
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!value.is_string()) return false;
    out = value.get<std::string>();
    return true;
  } else {
    static_assert(std::is_same_v<T, std::vector<typename T::value_type>>, "scalar or vector");
    if (!value.is_array()) return false;
    for (const Json& element : value) {
      typename T::value_type item{};
      if (!read(element, item)) return false;
      out.push_back(std::move(item));
    }
    return true;
  }
}

}  // namespace json_detail

template <typename T>
Result<T> json_member(const Json& object, std::string_view key) {
  if (!object.is_object()) return invalid_argument(format("expected an object with \"{}\"", key));
  const auto found = object.find(key);
  if (found == object.end()) return invalid_argument(format("\"{}\" is missing", key));
  T out{};
  if (!json_detail::read(*found, out)) {
    return invalid_argument(format("\"{}\" must be {}", key, json_detail::type_name<T>()));
  }
  return out;
}

template <typename T>
Result<T> json_member_or(const Json& object, std::string_view key, T fallback) {
  if (!object.is_object()) return invalid_argument(format("expected an object with \"{}\"", key));
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return fallback;
  return json_member<T>(object, key);
}

}  // namespace gangrun::base
