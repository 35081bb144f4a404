#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/described_macros.h"
#include "base/json.h"
#include "base/result.h"
#include "base/secret.h"

// A struct that is sent or kept as JSON names its members once, in the order in which they are
// written:
//
//   struct StopMessage {
//     std::uint32_t agent = 0;
//     std::chrono::milliseconds grace{0};
//
//     static constexpr std::string_view kName = "stop";  // where one of several is told apart
//     static constexpr auto rows() {
//       return std::tuple(base::row("agent", &StopMessage::agent),
//                         base::row("grace_ms", &StopMessage::grace, base::Range{0, kMaxGrace}));
//     }
//   };
//
// Members that JSON has by their own names, with all that their types allow, need no row each
// (described_macros.h).
//
// described_json.h makes both ways of JSON, the table of a document and a valid sample of it. A
// struct may have further members, for what a row cannot say:
//
//   Result<> complete();                   a rule over two members, or a value that follows from
//                                          another one: called when all are read
//   void make_valid();                     where a sample with the least of everything is not valid
//   static Result<std::optional<Json>> renewed(const Json&);
//                                          the JSON of today for one that an older version wrote;
//                                          none: it is of today. Called before anything is read
//   static constexpr bool kIsOpen = true;  members that no row has are passed over, as newer
//                                          versions may write some; without it they are an error
namespace gangrun::base {

// When a member is written, and whether it may be absent where it is read: it has its default then.
enum class Presence {
  kAlways,  // and never absent
  kIfSet,   // only where it is not the default
  kLate,    // always; older versions did not
  kOrNull,  // always, an std::optional that holds nothing as null; absent is nothing, too
};

// How a T stands in JSON, where no form says otherwise:
//   static Json write(const T&);
//   static Result<> read(const Json& value, std::string_view key, T& out);  // an error has the key
//   static std::string words();                                             // "a whole number"
//   static T sample();                                                      // one that is valid
template <typename T>
struct JsonOf;

// "\"port\" must be a number"
Error wrong_member(std::string_view key, std::string_view must_be);
// "\"port\" is missing"
Error missing_member(std::string_view key);

// "waiting, running or exited"
std::string one_of(const std::vector<std::string>& names);

// A form has write(), read() and sample() as members, for the types that it is made for, and
// bounds(), which go on after the words of the type: "from 1 to 5".

// All that its type allows.
struct Plain {
  template <typename T>
  [[nodiscard]] Json write(const T& value) const {
    return JsonOf<T>::write(value);
  }
  template <typename T>
  Result<> read(const Json& json, std::string_view key, T& out) const {
    return JsonOf<T>::read(json, key, out);
  }
  [[nodiscard]] static std::string bounds() { return {}; }
  template <typename T>
  [[nodiscard]] T sample() const {
    return JsonOf<T>::sample();
  }
};

// A number or a time, in the unit of JSON.
struct Range {
  std::int64_t least = 0;
  std::int64_t most = 0;

  template <typename T>
  [[nodiscard]] Json write(const T& value) const {
    return JsonOf<T>::write(value);
  }
  template <typename T>
  Result<> read(const Json& json, std::string_view key, T& out) const {
    GANGRUN_TRY(JsonOf<T>::read(json, key, out));
    return check(key, number_of(out));
  }
  [[nodiscard]] std::string bounds() const;
  template <typename T>
  [[nodiscard]] T sample() const {
    return T(least);
  }

 private:
  template <typename T>
  static std::int64_t number_of(const T& value) {
    if constexpr (std::is_arithmetic_v<T>) {
      return static_cast<std::int64_t>(value);
    } else {
      return value.count();
    }
  }
  [[nodiscard]] Result<> check(std::string_view key, std::int64_t number) const;
};

// An enumerator as its number, where the numbers are somebody else's.
struct ByNumber {
  template <typename T>
  [[nodiscard]] Json write(T value) const {
    return static_cast<int>(value);
  }
  template <typename T>
  Result<> read(const Json& json, std::string_view key, T& out) const {
    int number = 0;
    if (!json_detail::read(json, number)) return wrong_member(key, "a number");
    out = static_cast<T>(number);
    return {};
  }
  [[nodiscard]] static std::string bounds() { return {}; }
  template <typename T>
  [[nodiscard]] T sample() const {
    return T{};
  }
};

// A number of at least 0. What is none (an infinite one, say) is written as 0.
struct Amount {
  [[nodiscard]] static Json write(double value);
  static Result<> read(const Json& json, std::string_view key, double& out);
  [[nodiscard]] static std::string bounds() { return "at least 0"; }
  template <typename T>
  [[nodiscard]] T sample() const {
    return 0.5;
  }
};

// A text of any bytes; a longer one is refused where it is read.
struct Bytes {
  std::size_t max_bytes = 0;
  bool is_cut = false;  // where it is written

  [[nodiscard]] Json write(const std::string& value) const;
  Result<> read(const Json& json, std::string_view key, std::string& out) const;
  [[nodiscard]] std::string bounds() const;
  template <typename T>
  [[nodiscard]] T sample() const {
    return "a";
  }
};

// Any bytes, written in hexadecimal digits.
struct Hex {
  std::size_t max_bytes = 0;

  [[nodiscard]] Json write(const std::string& value) const;
  [[nodiscard]] Json write(const Secret& value) const;
  Result<> read(const Json& json, std::string_view key, std::string& out) const;
  Result<> read(const Json& json, std::string_view key, Secret& out) const;
  [[nodiscard]] std::string bounds() const;
  template <typename T>
  [[nodiscard]] T sample() const {
    return T("a");
  }
};

inline constexpr auto kAnyNumber = std::numeric_limits<std::size_t>::max();
Result<> check_list(const Json& json, std::string_view key, std::size_t max_items);
std::string list_bounds(std::size_t max_items, const std::string& each);

template <typename Form>
struct ListOf {
  std::size_t max_items = kAnyNumber;
  Form each{};

  template <typename T>
  [[nodiscard]] Json write(const std::vector<T>& values) const {
    Json list = Json::array();
    for (const T& value : values) list.push_back(each.write(value));
    return list;
  }
  template <typename T>
  Result<> read(const Json& json, std::string_view key, std::vector<T>& out) const {
    GANGRUN_TRY(check_list(json, key, max_items));
    out.clear();
    out.reserve(json.size());
    for (const Json& element : json) {
      T item{};
      GANGRUN_TRY(each.read(element, key, item));
      out.push_back(std::move(item));
    }
    return {};
  }
  [[nodiscard]] std::string bounds() const { return list_bounds(max_items, each.bounds()); }
  template <typename T>
  [[nodiscard]] T sample() const {
    return {each.template sample<typename T::value_type>()};
  }
};

// The rows of a T. For a struct of a room that knows nothing of JSON, a specialisation has them.
template <typename T>
struct RowsOf {
  static constexpr auto rows() requires requires { T::rows(); }
  { return T::rows(); }
};

template <typename T>
concept Described = requires {
  RowsOf<T>::rows();
};

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

// The kName of structs that differ in nothing else, as a parameter of their template.
template <std::size_t kSize>
struct Name {
  // NOLINTNEXTLINE(google-explicit-constructor): a literal is one
  consteval Name(const char (&literal)[kSize]) { std::copy_n(literal, kSize, text); }
  char text[kSize]{};
};

// An object while it is read.
class Members {
 public:
  // `beside`: what somebody else has read.
  explicit Members(const Json& object, std::vector<std::string_view> beside = {})
      : object_(object), taken_(std::move(beside)) {}

  [[nodiscard]] const Json& object() const { return object_; }
  [[nodiscard]] bool has(std::string_view key) const { return object_.contains(key); }
  // Null: there is none.
  const Json* take(std::string_view key) {
    const auto found = object_.find(key);
    if (found == object_.end()) return nullptr;
    taken_.push_back(key);
    return &*found;
  }
  [[nodiscard]] const std::vector<std::string_view>& taken() const { return taken_; }
  [[nodiscard]] bool all_are_taken() const { return taken_.size() == object_.size(); }

 private:
  const Json& object_;
  std::vector<std::string_view> taken_;
};

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

template <typename T>
void write_rows(const T& value, Json& json);
template <typename T>
Result<> read_rows(Members& in, T& out);
template <typename T>
bool has_any(const Members& in);

}  // namespace described_detail

// A row writes its member of an owner, reads it, gives it a valid value, and tells of it.
template <Presence kWhen, typename Owner, typename T, typename Form>
struct Row {
  std::string_view key;
  T Owner::*member = nullptr;
  Form form{};
  // With one, the member is written where it says so of the struct. Where it is read, it is there
  // exactly if that is so of the members before it; kLate: it may be, and else has its default.
  bool (*is_there)(const Owner&) = nullptr;

  using HeldType = described_detail::HeldBy<T>;
  static constexpr bool kIsOptional = described_detail::kIsOptional<T>;

  [[nodiscard]] bool may_be_in(const Owner& owner) const {
    return is_there == nullptr || is_there(owner);
  }
  void write(const Owner& owner, Json& json) const {
    if (!may_be_in(owner)) return;
    const T& value = owner.*member;
    if constexpr (kIsOptional) {
      if (value) {
        json[key] = form.write(*value);
      } else if constexpr (kWhen == Presence::kOrNull) {
        json[key] = nullptr;
      }
    } else {
      if constexpr (kWhen == Presence::kIfSet) {
        if (value == Owner{}.*member) return;
      }
      json[key] = form.write(value);
    }
  }
  Result<> read(Members& in, Owner& out) const {
    if (kWhen == Presence::kAlways && !may_be_in(out)) return {};
    const Json* json = in.take(key);
    if (json == nullptr) {
      if (kWhen != Presence::kAlways) return {};
      return missing_member(key);
    }
    T& value = out.*member;
    if constexpr (kIsOptional) {
      if (kWhen == Presence::kOrNull && json->is_null()) return {};
      return form.read(*json, key, value.emplace());
    } else {
      return form.read(*json, key, value);
    }
  }
  void sample(Owner& out) const {
    if (may_be_in(out)) out.*member = form.template sample<HeldType>();
  }
  void tell(std::vector<MemberWords>& out) const {
    out.push_back({std::string(key), JsonOf<HeldType>::words(), form.bounds(),
                   is_there == nullptr ? kWhen : Presence::kIfSet});
  }
};

template <typename Owner, typename T, typename Form = Plain>
constexpr auto row(std::string_view key, T Owner::*member, Form form = {}) {
  return Row<Presence::kAlways, Owner, T, Form>{key, member, form};
}
// One that is an std::optional has no other way.
template <typename Owner, typename T, typename Form = Plain>
constexpr auto row(std::string_view key, std::optional<T> Owner::*member, Form form = {}) {
  return Row<Presence::kIfSet, Owner, std::optional<T>, Form>{key, member, form};
}
// Its default is the one that it has in an `Owner{}`, which need not be that of its type.
template <typename Owner, typename T, typename Form = Plain>
constexpr auto row_if_set(std::string_view key, T Owner::*member, Form form = {}) {
  return Row<Presence::kIfSet, Owner, T, Form>{key, member, form};
}
template <typename Owner, typename T, typename Form = Plain>
constexpr auto late_row(std::string_view key, T Owner::*member, Form form = {}) {
  return Row<Presence::kLate, Owner, T, Form>{key, member, form};
}
template <typename Owner, typename T, typename Form = Plain>
constexpr auto row_or_null(std::string_view key, std::optional<T> Owner::*member, Form form = {}) {
  return Row<Presence::kOrNull, Owner, std::optional<T>, Form>{key, member, form};
}
template <typename Owner, typename T, typename Form = Plain>
constexpr auto row_when(bool (*is_there)(const Owner&), std::string_view key, T Owner::*member,
                        Form form = {}) {
  return Row<Presence::kAlways, Owner, T, Form>{key, member, form, is_there};
}
template <typename Owner, typename T, typename Form = Plain>
constexpr auto tolerant_row_when(bool (*is_there)(const Owner&), std::string_view key,
                                 T Owner::*member, Form form = {}) {
  return Row<Presence::kLate, Owner, T, Form>{key, member, form, is_there};
}

// A described member whose own members stand beside the others. Of an std::optional all are there
// or none.
template <typename Owner, typename T>
struct FlatRow {
  T Owner::*member = nullptr;

  using HeldType = described_detail::HeldBy<T>;
  static constexpr bool kIsOptional = described_detail::kIsOptional<T>;

  void write(const Owner& owner, Json& json) const {
    const T& value = owner.*member;
    if constexpr (kIsOptional) {
      if (value) described_detail::write_rows(*value, json);
    } else {
      described_detail::write_rows(value, json);
    }
  }
  Result<> read(Members& in, Owner& out) const {
    T& value = out.*member;
    if constexpr (kIsOptional) {
      if (!described_detail::has_any<HeldType>(in)) return {};
      return described_detail::read_rows(in, value.emplace());
    } else {
      return described_detail::read_rows(in, value);
    }
  }
  void sample(Owner& out) const { out.*member = sample_of<HeldType>(); }
  void tell(std::vector<MemberWords>& out) const {
    for (MemberWords& words : members_of<HeldType>()) {
      if (kIsOptional) words.presence = Presence::kIfSet;
      out.push_back(std::move(words));
    }
  }
};
template <typename Owner, typename T>
constexpr auto flat_row(T Owner::*member) {
  return FlatRow<Owner, T>{member};
}

// A number that is the same in each of them, such as a version. Another one is the error that
// `refuse` makes of it, before anything else is read.
template <typename Owner>
struct FixedRow {
  std::string_view key;
  std::int64_t value = 0;
  Error (*refuse)(std::int64_t other) = nullptr;

  void write(const Owner& /*owner*/, Json& json) const { json[key] = value; }
  Result<> read(Members& in, Owner& /*out*/) const {
    static_cast<void>(in.take(key));
    GANGRUN_ASSIGN(const auto found, json_member<std::int64_t>(in.object(), key));
    if (found != value) return refuse(found);
    return {};
  }
  void sample(Owner& /*out*/) const {}
  void tell(std::vector<MemberWords>& out) const {
    out.push_back({std::string(key), std::to_string(value), "", Presence::kAlways});
  }
};

// Follows from the rest: written for others, and passed over where it is read.
template <typename Owner, typename T>
struct DerivedRow {
  std::string_view key;
  T (*of)(const Owner&) = nullptr;

  void write(const Owner& owner, Json& json) const {
    const T value = of(owner);
    if constexpr (described_detail::kIsOptional<T>) {
      if (value) json[key] = JsonOf<described_detail::HeldBy<T>>::write(*value);
    } else {
      json[key] = JsonOf<T>::write(value);
    }
  }
  Result<> read(Members& in, Owner& /*out*/) const {
    static_cast<void>(in.take(key));
    return {};
  }
  void sample(Owner& /*out*/) const {}
  void tell(std::vector<MemberWords>& out) const {
    out.push_back(
        {std::string(key), JsonOf<described_detail::HeldBy<T>>::words(), "", Presence::kLate});
  }
};
template <typename Owner, typename T>
constexpr auto derived_row(std::string_view key, T (*of)(const Owner&)) {
  return DerivedRow<Owner, T>{key, of};
}

// One that is written in several ways, or by other members.
template <typename Owner>
struct OwnRow {
  std::string_view key;
  std::string_view type;  // in words
  void (*write)(const Owner&, Json&) = nullptr;
  Result<> (*read)(Members&, Owner&) = nullptr;
  void (*sample)(Owner&) = nullptr;

  void tell(std::vector<MemberWords>& out) const {
    out.push_back({std::string(key), std::string(type), "", Presence::kAlways});
  }
};

}  // namespace gangrun::base
