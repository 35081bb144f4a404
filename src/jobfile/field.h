#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "job/choice.h"
#include "job/plan_form.h"
#include "job/spec.h"
#include "jobfile/problem.h"
#include "jobfile/spec_field.h"

// One row says all about a field of a job: job files, flags, checks, plans, the JSON Schema, the
// reference, help and the Python package are made of the rows. A new field is a member, its row,
// and the code that acts on it. What one row cannot say (a rule over two fields) is code.
namespace gangrun::jobfile {

// The kind of a field's value. The member's type decides: int, std::int64_t (memory in MiB),
// milliseconds, an enum, bool, std::string, std::vector<std::string>; kOwn is read and written by
// own code.
enum class FieldKind { kCount, kMemory, kDuration, kChoice, kBool, kText, kTexts, kOwn };

// A field's value. A choice is one of its names; nothing is an absent std::optional.
using FieldValue =
    std::variant<std::monostate, bool, std::int64_t, std::string, std::vector<std::string>>;

// Task types by their policies, a bit each.
using Policies = unsigned;
template <typename... Some>
constexpr Policies policies_of(Some... some) {
  return ((1U << static_cast<unsigned>(some)) | ... | 0U);
}
inline constexpr Policies kAllPolicies = ~0U;
constexpr bool has(Policies policies, job::Policy one) {
  return (policies & policies_of(one)) != 0;
}

// How a flag is written, and what a value of it is for.
enum class FlagForms {
  // Flags of the job.
  kOneValue,
  kItems,   // as often as is wanted, each time with one value or several at commas
  kEach,    // as often as is wanted, each time with one value
  kSwitch,  // without a value: the field is then true
  // Flags of task types, as often as is wanted, with values at commas.
  kTypes,              // the types for which the field is then true
  kTypeOnly,           // "type:value"
  kGeneralOrType,      // "value" too, for all types
  kGeneralTypeOrTask,  // "type[0]:value" too, for one task
};

// The flag that gives a field.
struct FieldFlag {
  std::string_view names{};  // "-m,--memory"; errors have the first. Empty: there is none
  FlagForms forms = FlagForms::kTypeOnly;
  // The types that a value for all types is meant for.
  Policies meant_for = kAllPolicies;
  bool adds = false;             // kItems, kEach: to what the file has, whose place others take
  std::string_view value{};      // what stands for its value in help, where not by kind and forms
  std::string_view help{};       // where not what the field is about; {choices} is all names
  std::string_view reference{};  // how the reference shows its values, likewise
};

// A flag of the job that takes one value.
constexpr FieldFlag one_value(std::string_view names, std::string_view value = {},
                              std::string_view help = {}, std::string_view reference = {}) {
  return {.names = names,
          .forms = FlagForms::kOneValue,
          .value = value,
          .help = help,
          .reference = reference};
}

struct FieldChoice {
  std::vector<std::string> (*names)() = nullptr;
  // The one name for what may be written otherwise ("SIGTERM"); the error says what is allowed.
  base::Result<std::string> (*name_of)(std::string_view text) = nullptr;
  std::string_view prefix{};  // Choice::prefix
};

struct FieldInfo {
  std::string_view key{};
  // The meaning, without a full stop: help, schema, reference and Python say it.
  std::string_view about{};
  // kCount, kMemory and kDuration (ms). 0 as `max`: what every memory and time keeps to.
  std::int64_t min = 0;
  std::int64_t max = 0;
  std::string_view allowed{};  // kText, kTexts: in the error about a value of another type
  // kText: what makes the value of what is written; the error says what is allowed.
  base::Result<std::string> (*parse)(std::string_view text) = nullptr;
  Policies policies = kAllPolicies;  // of the types that have it
  std::string_view beside{};         // the key of the text without which it means nothing
  bool is_always_written = false;    // in a plan, even where it has its default
  bool has_own_words = false;        // --dry-run tells it in other words than its key, or not
  FieldFlag flag{};
  // Its value in the reference, where `about` is not enough; {range} is "1 to 64", and
  // {choices} all names.
  std::string_view reference{};
  std::string_view default_words{};  // its default in the reference, where it is no plain value
  std::string_view no_default{};     // why files of defaults do not have it; empty: they may
  bool is_path = false;              // of a file on the machine where gangrun is called
  std::string_view schema{};         // further members of its JSON Schema, or (kOwn) all, as JSON
  std::string_view python{};         // kOwn: type and default in Python; empty: no keyword there
  // Instead of the range, or of what every text keeps to.
  Found (*check)(const FieldValue& value, const std::string& path) = nullptr;
  FieldKind kind = FieldKind::kOwn;  // set by field_of()
  bool is_optional = false;          // likewise
  FieldChoice choice{};              // likewise, but for kOwn
};

template <typename Owner>
struct FieldRow {
  FieldInfo info{};
  FieldValue (*get)(const Owner&) = nullptr;
  void (*set)(Owner&, const FieldValue&) = nullptr;
  // kOwn only. What is written as null is left out.
  base::Result<> (*read)(const Field&, Owner&) = nullptr;
  base::Json (*write)(const Owner&, job::PlanForm) = nullptr;
  // kOwn with a flag of kItems or kEach: takes one value of it, and gives the key of that within
  // the field. The error goes behind the flag and the value.
  base::Result<std::string> (*take)(std::string_view item, Owner&) = nullptr;
};

// The error says what is allowed.
base::Result<FieldValue> parse_value(const FieldInfo& info, std::string_view text);
// The same of a job file. A number of JSON is taken as it is.
base::Result<FieldValue> read_value(const Field& field, const FieldInfo& info);
// As a person writes it.
std::string text_of(const FieldInfo& info, const FieldValue& value);
base::Json json_of(const FieldInfo& info, const FieldValue& value, job::PlanForm form);
// Whether a spec that was built by hand, too, has a value that the row allows.
Found check_value(const FieldInfo& info, const FieldValue& value, const std::string& path);

// The first of the flag's names.
std::string_view name_of(const FieldFlag& flag);
// The value of the flag in help: "[TASK:]SIZE".
std::string value_in_help(const FieldInfo& info);
std::string help_of(const FieldInfo& info);

namespace field_detail {

template <auto kFirst, auto... kRest>
struct Member {
  template <typename Owner>
  static constexpr auto& in(Owner& owner) {
    if constexpr (sizeof...(kRest) == 0) {
      return owner.*kFirst;
    } else {
      return Member<kRest...>::in(owner.*kFirst);
    }
  }
};

template <typename Owner, typename T>
Owner owner_of(T Owner::*member);

template <typename T>
struct Type;

template <typename T, FieldKind kKindOfT>
struct NumberType {
  static constexpr FieldKind kKind = kKindOfT;
  static FieldValue value(T number) { return std::int64_t{number}; }
  static T from(const FieldValue& value) {
    return static_cast<T>(*std::get_if<std::int64_t>(&value));
  }
};

template <typename T, FieldKind kKindOfT>
struct PlainType {
  static constexpr FieldKind kKind = kKindOfT;
  static FieldValue value(const T& value) { return value; }
  static T from(const FieldValue& value) { return *std::get_if<T>(&value); }
};

template <>
struct Type<int> : NumberType<int, FieldKind::kCount> {};
template <>
struct Type<std::int64_t> : NumberType<std::int64_t, FieldKind::kMemory> {};
template <>
struct Type<bool> : PlainType<bool, FieldKind::kBool> {};
template <>
struct Type<std::string> : PlainType<std::string, FieldKind::kText> {};
template <>
struct Type<std::vector<std::string>> : PlainType<std::vector<std::string>, FieldKind::kTexts> {};

template <>
struct Type<std::chrono::milliseconds> {
  static constexpr FieldKind kKind = FieldKind::kDuration;
  static FieldValue value(std::chrono::milliseconds value) { return std::int64_t{value.count()}; }
  static std::chrono::milliseconds from(const FieldValue& value) {
    return std::chrono::milliseconds(*std::get_if<std::int64_t>(&value));
  }
};

template <typename T>
requires std::is_enum_v<T>
struct Type<T> {
  static constexpr FieldKind kKind = FieldKind::kChoice;
  static FieldValue value(T value) { return std::string(to_string(value)); }
  static T from(const FieldValue& value) {
    return *job::choice_from<T>(*std::get_if<std::string>(&value));
  }
  static constexpr FieldChoice kChoice = {
      .names = job::choice_names<T>,
      .name_of = [](std::string_view text) -> base::Result<std::string> {
        GANGRUN_ASSIGN(const T chosen, job::choice_from<T>(text));
        return std::string(to_string(chosen));
      },
      .prefix = job::kChoice<T>.prefix,
  };
};

template <typename T>
struct Optional {
  static constexpr bool kIs = false;
  using Inner = T;
};
template <typename T>
struct Optional<std::optional<T>> {
  static constexpr bool kIs = true;
  using Inner = T;
};

// The row of what `At::in(owner)` refers to.
template <typename Owner, typename At>
constexpr FieldRow<Owner> row_at(FieldInfo info) {
  using Held = std::remove_cvref_t<decltype(At::in(std::declval<Owner&>()))>;
  using IsOptional = Optional<Held>;
  using Kind = Type<typename IsOptional::Inner>;
  FieldRow<Owner> row;
  row.info = info;
  row.info.kind = Kind::kKind;
  row.info.is_optional = IsOptional::kIs;
  if constexpr (Kind::kKind == FieldKind::kChoice) row.info.choice = Kind::kChoice;
  row.get = [](const Owner& owner) -> FieldValue {
    const auto& held = At::in(owner);
    if constexpr (IsOptional::kIs) {
      return held ? Kind::value(*held) : FieldValue{};
    } else {
      return Kind::value(held);
    }
  };
  row.set = [](Owner& owner, const FieldValue& value) {
    auto& held = At::in(owner);
    if constexpr (IsOptional::kIs) {
      if (std::holds_alternative<std::monostate>(value)) {
        held.reset();
        return;
      }
    }
    held = Kind::from(value);
  };
  return row;
}

}  // namespace field_detail

// The row of a member, or of a member of a member: field_of<&TaskSpec::ports, &Ports::hold>({…}).
template <auto kFirst, auto... kRest>
constexpr auto field_of(FieldInfo info) {
  using Owner = decltype(field_detail::owner_of(kFirst));
  return field_detail::row_at<Owner, field_detail::Member<kFirst, kRest...>>(info);
}

// A field that is neither one number nor one text.
template <typename Owner>
constexpr FieldRow<Owner> own_field(FieldInfo info, base::Result<> (*read)(const Field&, Owner&),
                                    base::Json (*write)(const Owner&, job::PlanForm),
                                    base::Result<std::string> (*take)(std::string_view,
                                                                      Owner&) = nullptr) {
  info.kind = FieldKind::kOwn;
  return {info, nullptr, nullptr, read, write, take};
}

// A row, and the path of its field within its owner: "memory", "ports.hold".
template <typename Owner>
struct FieldAt {
  const FieldRow<Owner>* row = nullptr;
  std::string path;
};

template <typename Owner>
using FieldRows = std::span<const FieldRow<Owner>>;

template <typename Owner>
const FieldRow<Owner>* find_row(FieldRows<Owner> rows, std::string_view key) {
  for (const FieldRow<Owner>& row : rows) {
    if (row.info.key == key) return &row;
  }
  return nullptr;
}

// Those that are one value, and those that have a flag.
template <typename Owner>
void add_plain_fields(FieldRows<Owner> rows, std::string_view prefix,
                      std::vector<FieldAt<Owner>>& fields) {
  for (const FieldRow<Owner>& row : rows) {
    if (row.info.kind == FieldKind::kOwn && row.take == nullptr) continue;
    fields.push_back({&row, std::string(prefix).append(row.info.key)});
  }
}

template <typename Owner>
std::vector<std::string> keys_of(FieldRows<Owner> rows) {
  std::vector<std::string> keys;
  for (const FieldRow<Owner>& row : rows) keys.emplace_back(row.info.key);
  return keys;
}

template <typename Owner>
base::Result<> read_row(const Field& field, const FieldRow<Owner>& row, Owner& owner) {
  if (row.info.kind == FieldKind::kOwn) return row.read(field, owner);
  GANGRUN_ASSIGN(const FieldValue value, read_value(field, row.info));
  row.set(owner, value);
  return {};
}

// A map of a job file. What it gives has an origin from then on.
template <typename Owner>
base::Result<> read_fields(const Field& field, FieldRows<Owner> rows, Owner& owner) {
  return read_keys(field, keys_of(rows), [&](std::size_t i, const Field& child) {
    return read_row(child, rows[i], owner);
  });
}

template <typename Owner>
bool has_default(const FieldRow<Owner>& row, const Owner& owner) {
  return row.get(owner) == row.get(Owner{});
}

inline bool applies_to(const FieldInfo& info, const job::TaskSpec& task) {
  return has(info.policies, task.policy);
}
template <typename Owner>
bool applies_to(const FieldInfo& /*info*/, const Owner& /*owner*/) {
  return true;
}

// Whether a plan has it: it differs from its default, or says what counts for this owner.
template <typename Owner>
bool is_written(const FieldRow<Owner>& row, FieldRows<Owner> rows, const Owner& owner) {
  if (std::holds_alternative<std::monostate>(row.get(owner))) return false;
  if (!has_default(row, owner)) return true;
  if (!row.info.is_always_written || !applies_to(row.info, owner)) return false;
  return row.info.beside.empty() || !has_default(*find_row(rows, row.info.beside), owner);
}

// The key of the first field that is not as it is by default, and its value; empty: there is none.
template <typename Owner>
std::pair<std::string, std::string> first_given(FieldRows<Owner> rows, const Owner& owner) {
  for (const FieldRow<Owner>& row : rows) {
    std::string value;
    if (row.info.kind != FieldKind::kOwn) {
      if (has_default(row, owner)) continue;
      value = text_of(row.info, row.get(owner));
    } else {
      const base::Json json = row.write(owner, job::PlanForm::kForPeople);
      if (json == row.write(Owner{}, job::PlanForm::kForPeople)) continue;
      value = base::dump_json(json);
    }
    return {std::string(row.info.key), value};
  }
  return {};
}

template <typename Owner>
base::Json json_of_fields(FieldRows<Owner> rows, const Owner& owner, job::PlanForm form) {
  base::Json json = base::Json::object();
  for (const FieldRow<Owner>& row : rows) {
    if (row.info.kind != FieldKind::kOwn) {
      if (!is_written(row, rows, owner)) continue;
      json[std::string(row.info.key)] = json_of(row.info, row.get(owner), form);
    } else if (base::Json value = row.write(owner, form); !value.is_null()) {
      json[std::string(row.info.key)] = std::move(value);
    }
  }
  return json;
}

}  // namespace gangrun::jobfile
