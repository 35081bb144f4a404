#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "job/spec.h"
#include "jobfile/field.h"
#include "jobfile/spec_field.h"

// Values that are neither a number nor a text: from a job file, and into a plan. What is empty is
// null there.
namespace gangrun::jobfile {

// The allowed keys of a map of the user's own keys to texts, for errors. `check_key` may be null.
struct TextsForm {
  std::string_view allowed{};
  std::string_view allowed_text = "a text; an empty one is written \"\"";
  base::Result<> (*check_key)(std::string_view key) = nullptr;
};
base::Result<> read_texts(const Field& field, const TextsForm& form,
                          std::map<std::string, std::string>& out);
base::Result<> read_environment(const Field& field, std::map<std::string, std::string>& out);
base::Result<> read_archives(const Field& field, std::map<std::string, std::string>& out);
base::Result<> read_resources(const Field& field, std::map<std::string, std::int64_t>& out);
base::Result<> read_overrides(const Field& field, std::map<int, job::ResourceOverride>& out);
base::Result<> read_port_names(const Field& field, std::vector<std::string>& out);
base::Result<> read_command(const Field& field, job::Command& out);
// A pod, or a part of one, as a map.
base::Result<> read_pod(const Field& field, base::Json& pod);

// A map, or a list.
inline constexpr auto plain_json = [](const auto& items) {
  return items.empty() ? base::Json() : base::Json(items);
};
base::Json overrides_json(const std::map<int, job::ResourceOverride>& overrides,
                          job::PlanForm form);
base::Json command_json(const job::Command& command);

// The row of what `At::in(owner)` refers to, which `kRead` takes from a job file, and `kWrite` puts
// into a plan, whose form it may ask for.
template <typename Owner, typename At, auto kRead, auto kWrite>
constexpr FieldRow<Owner> own_field_at(FieldInfo info,
                                       base::Result<std::string> (*take)(std::string_view,
                                                                         Owner&) = nullptr) {
  return own_field<Owner>(
      info, [](const Field& field, Owner& owner) { return kRead(field, At::in(owner)); },
      [](const Owner& owner, job::PlanForm form) -> base::Json {
        if constexpr (std::is_invocable_v<decltype(kWrite), decltype(At::in(owner)),
                                          job::PlanForm>) {
          return kWrite(At::in(owner), form);
        } else {
          return kWrite(At::in(owner));
        }
      },
      take);
}

// The row of a member.
template <auto kRead, auto kWrite, auto kFirst, auto... kRest>
constexpr auto own_field(FieldInfo info) {
  using Owner = decltype(field_detail::owner_of(kFirst));
  return own_field_at<Owner, field_detail::Member<kFirst, kRest...>, kRead, kWrite>(info);
}

// A map with rows of the same owner. Without any of them it is not written.
template <typename Owner, FieldRows<Owner> (*kRows)()>
constexpr FieldRow<Owner> map_field(FieldInfo info) {
  return own_field<Owner>(
      info, [](const Field& field, Owner& owner) { return read_fields(field, kRows(), owner); },
      [](const Owner& owner, job::PlanForm form) {
        base::Json json = json_of_fields(kRows(), owner, form);
        return json.empty() ? base::Json() : json;
      });
}

}  // namespace gangrun::jobfile
