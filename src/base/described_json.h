#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/described.h"
#include "base/json.h"
#include "base/result.h"

// Everything that follows from the rows of a struct (described.h).
namespace gangrun::base {

template <typename T>
concept Described = requires {
  RowsOf<T>::rows();
};

template <Described T>
Json to_json(const T& value);
// The error names the member and what it must be. Members that are not known are refused, unless
// the struct has `static constexpr bool kIsOpen = true`: newer versions may add some then.
template <Described T>
Result<T> from_json(const Json& json);
// One that can be read: each member is there, with the least that it may be.
template <Described T>
T sample_of();

// One row of a document's table.
struct MemberWords {
  std::string key;
  std::string type;    // "a whole number"
  std::string bounds;  // "from 0 to 65535"; may be empty
  Presence presence = Presence::kAlways;
};
template <Described T>
std::vector<MemberWords> members_of();

namespace described_detail {

// The type that an std::optional holds, else T itself.
template <typename T>
struct Held {
  using Type = T;
};
template <typename T>
struct Held<std::optional<T>> {
  using Type = T;
};
template <typename T>
using HeldBy = typename Held<T>::Type;
template <typename T>
inline constexpr bool kIsOptional = !std::is_same_v<T, HeldBy<T>>;

template <Presence kWhen, typename Owner, typename T, typename Form>
void write_row(const Row<kWhen, Owner, T, Form>& row, const Owner& owner, Json& json) {
  const T& value = owner.*row.member;
  if constexpr (kIsOptional<T>) {
    if (value) {
      json[row.key] = row.form.write(*value);
    } else if constexpr (kWhen == Presence::kOrNull) {
      json[row.key] = nullptr;
    }
  } else {
    if constexpr (kWhen == Presence::kIfSet) {
      if (value == Owner{}.*row.member) return;
    }
    json[row.key] = row.form.write(value);
  }
}
template <Presence kWhen, typename Owner, typename T, typename Form>
Result<> read_row(const Row<kWhen, Owner, T, Form>& row, Members& in, Owner& out) {
  const Json* json = in.take(row.key);
  if (json == nullptr) {
    if (kWhen != Presence::kAlways) return {};
    return missing_member(row.key);
  }
  T& value = out.*row.member;
  if constexpr (kIsOptional<T>) {
    if (kWhen == Presence::kOrNull && json->is_null()) return {};
    return row.form.read(*json, row.key, value.emplace());
  } else {
    return row.form.read(*json, row.key, value);
  }
}
template <Presence kWhen, typename Owner, typename T, typename Form>
void sample_row(const Row<kWhen, Owner, T, Form>& row, Owner& out) {
  out.*row.member = row.form.template sample<HeldBy<T>>();
}
template <Presence kWhen, typename Owner, typename T, typename Form>
void tell_row(const Row<kWhen, Owner, T, Form>& row, std::vector<MemberWords>& out) {
  out.push_back({std::string(row.key), JsonOf<HeldBy<T>>::words(), row.form.bounds(), kWhen});
}

template <typename T>
void write_rows(const T& value, Json& json);
template <typename T>
Result<> read_rows(Members& in, T& out);
template <typename T>
bool has_any(const Members& in);

template <typename Owner, typename T>
void write_row(const FlatRow<Owner, T>& row, const Owner& owner, Json& json) {
  const T& value = owner.*row.member;
  if constexpr (kIsOptional<T>) {
    if (value) write_rows(*value, json);
  } else {
    write_rows(value, json);
  }
}
template <typename Owner, typename T>
Result<> read_row(const FlatRow<Owner, T>& row, Members& in, Owner& out) {
  T& value = out.*row.member;
  if constexpr (kIsOptional<T>) {
    if (!has_any<HeldBy<T>>(in)) return {};
    return read_rows(in, value.emplace());
  } else {
    return read_rows(in, value);
  }
}
template <typename Owner, typename T>
void sample_row(const FlatRow<Owner, T>& row, Owner& out) {
  out.*row.member = sample_of<HeldBy<T>>();
}
template <typename Owner, typename T>
void tell_row(const FlatRow<Owner, T>& /*row*/, std::vector<MemberWords>& out) {
  std::vector<MemberWords> all = members_of<HeldBy<T>>();
  if constexpr (kIsOptional<T>) {
    for (MemberWords& member : all) member.presence = Presence::kIfSet;
  }
  out.insert(out.end(), all.begin(), all.end());
}

template <typename Owner, typename T, typename Form>
void write_row(const RowWhen<Owner, T, Form>& row, const Owner& owner, Json& json) {
  if (row.is_there(owner)) json[row.key] = row.form.write(owner.*row.member);
}
template <typename Owner, typename T, typename Form>
Result<> read_row(const RowWhen<Owner, T, Form>& row, Members& in, Owner& out) {
  if (!row.is_tolerant && !row.is_there(out)) return {};
  const Json* json = in.take(row.key);
  if (json == nullptr && row.is_tolerant) return {};
  if (json == nullptr) return missing_member(row.key);
  return row.form.read(*json, row.key, out.*row.member);
}
template <typename Owner, typename T, typename Form>
void sample_row(const RowWhen<Owner, T, Form>& row, Owner& out) {
  if (row.is_there(out)) out.*row.member = row.form.template sample<T>();
}
template <typename Owner, typename T, typename Form>
void tell_row(const RowWhen<Owner, T, Form>& row, std::vector<MemberWords>& out) {
  out.push_back({std::string(row.key), JsonOf<T>::words(), row.form.bounds(), Presence::kIfSet});
}

template <typename Owner>
void write_row(const OwnRow<Owner>& row, const Owner& owner, Json& json) {
  row.write(owner, json);
}
template <typename Owner>
Result<> read_row(const OwnRow<Owner>& row, Members& in, Owner& out) {
  return row.read(in, out);
}
template <typename Owner>
void sample_row(const OwnRow<Owner>& row, Owner& out) {
  row.make_valid(out);
}
template <typename Owner>
void tell_row(const OwnRow<Owner>& row, std::vector<MemberWords>& out) {
  out.push_back({std::string(row.key), std::string(row.type), "", Presence::kAlways});
}

template <typename Owner>
void write_row(const FixedRow<Owner>& row, const Owner& /*owner*/, Json& json) {
  json[row.key] = row.value;
}
template <typename Owner>
Result<> read_row(const FixedRow<Owner>& row, Members& in, Owner& /*out*/) {
  static_cast<void>(in.take(row.key));
  GANGRUN_ASSIGN(const auto value, json_member<std::int64_t>(in.object(), row.key));
  if (value != row.value) return row.refuse(value);
  return {};
}
template <typename Owner>
void sample_row(const FixedRow<Owner>& /*row*/, Owner& /*out*/) {}
template <typename Owner>
void tell_row(const FixedRow<Owner>& row, std::vector<MemberWords>& out) {
  out.push_back({std::string(row.key), std::to_string(row.value), "", Presence::kAlways});
}

template <typename Owner, typename T>
void write_row(const DerivedRow<Owner, T>& row, const Owner& owner, Json& json) {
  const T value = row.of(owner);
  if constexpr (kIsOptional<T>) {
    if (value) json[row.key] = JsonOf<HeldBy<T>>::write(*value);
  } else {
    json[row.key] = JsonOf<T>::write(value);
  }
}
template <typename Owner, typename T>
Result<> read_row(const DerivedRow<Owner, T>& row, Members& in, Owner& /*out*/) {
  static_cast<void>(in.take(row.key));
  return {};
}
template <typename Owner, typename T>
void sample_row(const DerivedRow<Owner, T>& /*row*/, Owner& /*out*/) {}
template <typename Owner, typename T>
void tell_row(const DerivedRow<Owner, T>& row, std::vector<MemberWords>& out) {
  out.push_back({std::string(row.key), JsonOf<HeldBy<T>>::words(), "", Presence::kLate});
}

template <typename T>
void write_rows(const T& value, Json& json) {
  std::apply([&](const auto&... row) { (write_row(row, value, json), ...); }, RowsOf<T>::rows());
}

template <typename T>
Result<> read_rows(Members& in, T& out) {
  Result<> result;
  const auto read_one = [&](const auto& row) {
    result = read_row(row, in, out);
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

}  // namespace described_detail

template <Described T>
Json to_json(const T& value) {
  Json json = Json::object();
  described_detail::write_rows(value, json);
  return json;
}

namespace described_detail {

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

}  // namespace described_detail

template <Described T>
Result<T> from_json(const Json& json) {
  if (!json.is_object()) return invalid_argument("it must be an object");
  if constexpr (requires { T::renewed(json); }) {
    GANGRUN_ASSIGN(const std::optional<Json> now, T::renewed(json));
    if (now) return from_json<T>(*now);
  }
  Members in(json);
  return described_detail::read_whole<T>(in);
}

// The same beside members that were taken before.
template <Described T>
Result<T> from_json(Members& in) {
  return described_detail::read_whole<T>(in);
}

template <Described T>
T sample_of() {
  T value{};
  std::apply([&](const auto&... row) { (described_detail::sample_row(row, value), ...); },
             RowsOf<T>::rows());
  if constexpr (requires { value.make_valid(); }) value.make_valid();
  return value;
}

template <Described T>
std::vector<MemberWords> members_of() {
  std::vector<MemberWords> members;
  std::apply([&](const auto&... row) { (described_detail::tell_row(row, members), ...); },
             RowsOf<T>::rows());
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

template <typename T>
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

template <typename Variant>
struct OneOfSeveral;
template <typename... Each>
struct OneOfSeveral<std::variant<Each...>> {
  using Variant = std::variant<Each...>;

  static Result<Variant> read(std::string_view name, Members& in) {
    std::optional<Result<Variant>> out;
    static_cast<void>((read_if_named<Variant, Each>(name, in, out) || ...));
    if (out) return *std::move(out);
    return unknown_message(name);
  }
};

}  // namespace described_detail

// Errors begin with the name of the message. Members of `in` that were taken before may stand
// beside those of the message.
template <typename Variant>
Result<Variant> tagged_from(std::string_view tag, Members& in) {
  static_cast<void>(in.take(tag));
  GANGRUN_ASSIGN(const auto name, json_member<std::string>(in.object(), tag));
  return described_detail::OneOfSeveral<Variant>::read(name, in);
}
template <typename Variant>
Result<Variant> tagged_from(std::string_view tag, const Json& json) {
  Members in(json);
  return tagged_from<Variant>(tag, in);
}

}  // namespace gangrun::base

#include "base/described_values.h"  // IWYU pragma: export
