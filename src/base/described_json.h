#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "base/described.h"
#include "base/json.h"
#include "base/result.h"

// Everything that follows from the rows of a struct (described.h).
namespace gangrun::base {

template <Described T>
Json to_json(const T& value);
// The error names the member and what it must be. Members that are not known are refused, unless
// the struct has `static constexpr bool kIsOpen = true`: newer versions may add some then.
template <Described T>
Result<T> from_json(const Json& json);

namespace described_detail {

template <typename T>
void write_rows(const T& value, Json& json) {
  std::apply([&](const auto&... row) { (row.write(value, json), ...); }, RowsOf<T>::rows());
}

template <typename T>
Result<> read_rows(Members& in, T& out) {
  Result<> result;
  const auto read_one = [&](const auto& row) {
    result = row.read(in, out);
    return result.ok();
  };
  static_cast<void>(
      std::apply([&](const auto&... row) { return (read_one(row) && ...); }, RowsOf<T>::rows()));
  return result;
}

template <typename T>
bool has_any(const Members& in) {
  return std::apply([&](const auto&... row) { return (in.has(row.key) || ...); },
                    RowsOf<T>::rows());
}

// The first member that nobody has taken.
Error unknown_member(const Members& in);

// Takes all that is left of the object.
template <Described T>
Result<T> read_whole(Members& in) {
  T value{};
  GANGRUN_TRY(read_rows(in, value));
  if constexpr (
      !requires { T::kIsOpen; } && !requires { RowsOf<T>::kIsOpen; }) {
    if (!in.all_are_taken()) return unknown_member(in);
  }
  if constexpr (requires { value.complete(); }) GANGRUN_TRY(value.complete());
  return value;
}

// The same of one that an older version may have written.
template <Described T>
Result<T> read_one(Members& in) {
  if constexpr (requires { T::renewed(in.object()); }) {
    GANGRUN_ASSIGN(const std::optional<Json> now, T::renewed(in.object()));
    if (now) {
      Members of_now(*now, in.taken());
      return read_whole<T>(of_now);
    }
  }
  return read_whole<T>(in);
}

}  // namespace described_detail

template <Described T>
Json to_json(const T& value) {
  Json json = Json::object();
  described_detail::write_rows(value, json);
  return json;
}

template <Described T>
Result<T> from_json(const Json& json) {
  if (!json.is_object()) return invalid_argument("it must be an object");
  Members in(json);
  return described_detail::read_one<T>(in);
}

// The same beside members that were taken before.
template <Described T>
Result<T> from_json(Members& in) {
  return described_detail::read_whole<T>(in);
}

template <Described T>
T sample_of() {
  T value{};
  std::apply([&](const auto&... row) { (row.sample(value), ...); }, RowsOf<T>::rows());
  if constexpr (requires { value.make_valid(); }) value.make_valid();
  return value;
}

template <Described T>
std::vector<MemberWords> members_of() {
  std::vector<MemberWords> members;
  std::apply([&](const auto&... row) { (row.tell(members), ...); }, RowsOf<T>::rows());
  return members;
}

// One of several, each with a kName, which stands in the member `tag` before the others.
template <typename... Each>
void add_tagged(Json& json, std::string_view tag, const std::variant<Each...>& message) {
  std::visit(
      [&]<typename T>(const T& one) {
        json[tag] = T::kName;
        described_detail::write_rows(one, json);
      },
      message);
}
template <typename... Each>
Json tagged_json(std::string_view tag, const std::variant<Each...>& message) {
  Json json = Json::object();
  add_tagged(json, tag, message);
  return json;
}

namespace described_detail {

Error unknown_message(std::string_view name);

template <typename Variant, typename T>
bool read_if_named(std::string_view name, Members& in, std::optional<Result<Variant>>& out) {
  if (name != T::kName) return false;
  auto one = read_one<T>(in);
  if (one.ok()) {
    out.emplace(Variant(*std::move(one)));
  } else {
    out.emplace(one.error().context(name));
  }
  return true;
}

template <typename... Each>
Result<std::variant<Each...>> read_named(std::string_view name, Members& in,
                                         std::type_identity<std::variant<Each...>> /*of*/) {
  std::optional<Result<std::variant<Each...>>> out;
  static_cast<void>((read_if_named<std::variant<Each...>, Each>(name, in, out) || ...));
  if (out) return *std::move(out);
  return unknown_message(name);
}

}  // namespace described_detail

// Errors begin with the name of the message. Members of `in` that were taken before may stand
// beside those of the message.
template <typename Variant>
Result<Variant> tagged_from(std::string_view tag, Members& in) {
  static_cast<void>(in.take(tag));
  GANGRUN_ASSIGN(const auto name, json_member<std::string>(in.object(), tag));
  return described_detail::read_named(name, in, std::type_identity<Variant>());
}
template <typename Variant>
Result<Variant> tagged_from(std::string_view tag, const Json& json) {
  Members in(json);
  return tagged_from<Variant>(tag, in);
}

}  // namespace gangrun::base

#include "base/described_values.h"  // IWYU pragma: export
