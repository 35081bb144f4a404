#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/json.h"
#include "base/letters.h"
#include "base/strings.h"
#include "jobfile/field.h"
#include "jobfile/section.h"
#include "jobfile/task_fields.h"

// The words of documents and of the Python package about the rows of a table.
namespace gangrun::jobfile {

inline std::string with_small_start(std::string_view text) {
  std::string small(text);
  const char second = small.size() > 1 ? small[1] : ' ';
  if (second == ' ' || base::is_small_letter(second)) small[0] = base::small_letter(small[0]);
  return small;
}

// "10,000".
inline std::string with_commas(std::int64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

template <typename Owner>
bool has_plain_default(const FieldRow<Owner>& row) {
  return row.get != nullptr && !row.info.is_optional && row.info.default_words.empty();
}

inline std::string description_of(const FieldInfo& info) {
  std::string words(info.default_words);
  std::erase(words, '`');
  if (words.empty() || words == "none" || words == "below") {
    return base::format("{}.", info.about);
  }
  return base::format("{}. Default: {}.", info.about, words);
}

// A name may also be written with the prefix, but "none" names nothing.
inline base::Json choice_schema(const FieldChoice& choice) {
  const std::vector<std::string> names = choice.names();
  if (choice.prefix.empty()) return {{"enum", names}};
  std::vector<std::string> all = names;
  std::erase(all, "none");
  return {{"anyOf",
           {{{"enum", names}},
            {{"pattern", base::format("^{}({})$", choice.prefix, base::join(all, "|"))}}}}};
}

// The row in the JSON Schema.
template <typename Owner>
base::Json property_of(const FieldRow<Owner>& row) {
  const FieldInfo& info = row.info;
  const auto more = base::Json::parse(info.schema.empty() ? "{}" : info.schema);
  base::Json json = {{"description", description_of(info)}};
  switch (info.kind) {
    case FieldKind::kCount:
      json.update({{"type", "integer"}, {"minimum", info.min}, {"maximum", info.max}});
      break;
    case FieldKind::kMemory: json["$ref"] = "#/$defs/memory"; break;
    case FieldKind::kDuration: json["$ref"] = "#/$defs/duration"; break;
    case FieldKind::kChoice: json.update(choice_schema(info.choice)); break;
    case FieldKind::kBool: json["type"] = "boolean"; break;
    case FieldKind::kText: json["type"] = "string"; break;
    case FieldKind::kTexts:
    case FieldKind::kOwn: break;
  }
  if (more.contains("enum") || more.contains("$ref")) json.erase("type");
  json.update(more);
  if (has_plain_default(row) && !text_of(info, row.get(Owner{})).empty()) {
    json["default"] = json_of(info, row.get(Owner{}), job::PlanForm::kForPeople);
  }
  return json;
}

template <typename Owner>
base::Json properties_of(FieldRows<Owner> rows) {
  base::Json json = base::Json::object();
  for (const auto& row : rows) json[std::string(row.info.key)] = property_of(row);
  return json;
}

inline base::Json property_of(const Section& section) {
  return {{"description", base::format("{}.", section.about)},
          {"oneOf", {{{"$ref", base::format("#/$defs/{}", section.key)}}, {{"type", "null"}}}}};
}

inline std::string in_one_line(const base::Json& json) {
  std::string text;
  if (!json.is_structured()) return json.dump();
  for (const auto& [key, value] : json.items()) {
    if (!text.empty()) text += ", ";
    if (json.is_object()) text += base::Json(key).dump() + ": ";
    text += in_one_line(value);
  }
  return json.is_object() ? "{" + text + "}" : "[" + text + "]";
}

// A value that fits into a line is in one; `used` is what stands before it there.
inline std::string laid_out(const base::Json& json, std::size_t indent = 0, std::size_t used = 0) {
  constexpr std::size_t kWidth = 118;
  const std::string line = in_one_line(json);
  if (used + line.size() <= kWidth || !json.is_structured()) return line;
  const bool is_object = json.is_object();
  const std::string margin(indent + 2, ' ');
  std::string text;
  for (const auto& [key, value] : json.items()) {
    const std::string name = is_object ? base::Json(key).dump() + ": " : "";
    text += (text.empty() ? "\n" : ",\n") + margin + name;
    text += laid_out(value, indent + 2, margin.size() + name.size());
  }
  return (is_object ? "{" : "[") + text + "\n" + std::string(indent, ' ') + (is_object ? "}" : "]");
}

// --- docs/job.md

inline std::string types_text(Policies policies) {
  constexpr std::pair<job::Policy, std::string_view> kNames[] = {
      {job::Policy::kTracked, "tracked types"},
      {job::Policy::kService, "services"},
      {job::Policy::kObserver, "observers"},
      {job::Policy::kSidecar, "sidecars"}};
  std::vector<std::string_view> names;
  for (const auto& [policy, name] : kNames) {
    if (has(policies, policy)) names.push_back(name);
  }
  return base::format("{}", base::join(names, " and "));
}

inline std::string value_in_reference(const FieldInfo& info) {
  std::string text(info.reference);
  if (text.empty()) {
    text = with_small_start(info.about) + (info.kind == FieldKind::kCount ? ", {range}" : "");
  }
  constexpr std::string_view kRange = "{range}";
  if (const std::size_t at = text.find(kRange); at != std::string::npos) {
    text.replace(at, kRange.size(),
                 base::format("{} to {}", with_commas(info.min), with_commas(info.max)));
  }
  constexpr std::string_view kChoices = "{choices}";
  if (const std::size_t at = text.find(kChoices); at != std::string::npos) {
    std::vector<std::string> names = info.choice.names();
    const std::string last = std::move(names.back());
    names.pop_back();
    text.replace(at, kChoices.size(),
                 base::format("`{}` or `{}`", base::join(names, "`, `"), last));
  }
  if (info.policies != kAllPolicies) text += base::format("; {} only", types_text(info.policies));
  return text;
}

template <typename Owner>
std::string default_in_reference(const FieldRow<Owner>& row) {
  if (!row.info.default_words.empty()) return std::string(row.info.default_words);
  if (row.get == nullptr || row.info.is_optional) return "none";
  const std::string text = text_of(row.info, row.get(Owner{}));
  if (text.empty()) return "none";
  return row.info.kind == FieldKind::kCount ? text : base::format("`{}`", text);
}

template <typename Owner>
std::string reference_table(FieldRows<Owner> rows) {
  std::string text = "| key | value | default |\n|---|---|---|\n";
  for (const auto& row : rows) {
    text += base::format("| `{}` | {} | {} |\n", row.info.key, value_in_reference(row.info),
                         default_in_reference(row));
  }
  return text;
}

inline std::string reference_row(const Section& section) {
  return base::format("| `{0}` | with `on: {0}` only: a map (below) | below |\n", section.key);
}

inline std::string value_of_flag(const FieldInfo& info) {
  if (!info.flag.reference.empty()) return std::string(info.flag.reference);
  std::string value = std::string(info.key);
  if (info.kind == FieldKind::kCount) value = "number";
  if (info.kind == FieldKind::kMemory) value = "memory";
  if (info.kind == FieldKind::kDuration) value = "time";
  switch (info.flag.forms) {
    case FlagForms::kOneValue:
    case FlagForms::kItems:
    case FlagForms::kEach: return "as in the file";
    case FlagForms::kSwitch: return "none";
    case FlagForms::kTypes: return "`type`";
    case FlagForms::kTypeOnly: return base::format("`type:{}`", value);
    case FlagForms::kGeneralOrType: return base::format("`{0}` or `type:{0}`", value);
    case FlagForms::kGeneralTypeOrTask: return base::format("{}, in three forms", value);
  }
  return value;
}

template <typename Owner>
std::string flags_table(const std::vector<FieldAt<Owner>>& fields) {
  std::string text = "| flag | value | in the file |\n|---|---|---|\n";
  for (const FieldAt<Owner>& field : fields) {
    const FieldInfo& info = field.row->info;
    if (info.flag.names.empty()) continue;
    std::vector<std::string> names = base::split(info.flag.names, ',');
    for (std::string& name : names) name = base::format("`{}`", name);
    // "memory of master of yarn".
    std::vector<std::string> keys = base::split(field.path, '.');
    std::reverse(keys.begin(), keys.end());
    for (std::string& key : keys) key = base::format("`{}`", key);
    text += base::format("| {} | {} | {} |\n", base::join(names, " or "), value_of_flag(info),
                         base::join(keys, " of "));
  }
  return text;
}

// --- the Python package

// The order of keywords since they may be given without names. Later ones follow.
inline constexpr std::string_view kPositions[] = {
    "instances",     "memory", "vcores", "gpus",   "processes", "label",     "env",
    "command",       "policy", "grace",  "logdir", "image",     "resources", "one_per_node",
    "min_instances", "spares", "ports",  "pod",    "outputs"};

template <typename Owner>
std::string python_type(const FieldRow<Owner>& row) {
  switch (row.info.kind) {
    case FieldKind::kCount:
      if (row.info.min > 0 && has_plain_default(row)) {
        return base::format("int = {}", text_of(row.info, row.get(Owner{})));
      }
      return "Optional[int] = None";
    case FieldKind::kMemory:
    case FieldKind::kDuration: return "Union[None, int, str] = None";
    case FieldKind::kChoice:
    case FieldKind::kText: return "Optional[str] = None";
    case FieldKind::kBool: return "bool = False";
    case FieldKind::kTexts: return "Optional[Sequence[str]] = None";
    case FieldKind::kOwn: break;
  }
  return std::string(row.info.python);
}

inline std::string python_words(const FieldInfo& info) {
  std::string words = with_small_start(info.about);
  if (info.kind == FieldKind::kMemory) words += "; a bare number is in MiB";
  if (info.kind == FieldKind::kDuration) words += "; a bare number is in seconds";
  if (info.kind == FieldKind::kChoice) {
    std::vector<std::string> names;
    for (const std::string& name : info.choice.names())
      names.push_back(base::format("\"{}\"", name));
    words += base::format(": {}", base::join(names, ", "));
  }
  return words;
}

// Words in lines of the docstring, the later ones below the first.
inline std::string wrapped_words(std::string_view words, std::size_t indent) {
  constexpr std::size_t kWidth = 120;
  std::string text;
  std::size_t column = indent;
  for (const std::string& word : base::split(words, ' ')) {
    if (column > indent && column + 1 + word.size() > kWidth) {
      text += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      text += ' ';
      ++column;
    }
    text += word;
    column += word.size();
  }
  return text;
}

inline std::string task_spec_module(FieldRows<job::TaskSpec> rows) {
  std::vector<const FieldRow<job::TaskSpec>*> keywords;
  for (const std::string_view key : kPositions) keywords.push_back(find_row(rows, key));
  for (const auto& row : rows) {
    const bool is_placed = std::find(std::begin(kPositions), std::end(kPositions), row.info.key) !=
                           std::end(kPositions);
    if (!is_placed && !python_type(row).empty()) keywords.push_back(&row);
  }
  std::string docs;
  std::string fields;
  for (const auto* row : keywords) {
    docs +=
        base::format("    {:<14} {}\n", row->info.key, wrapped_words(python_words(row->info), 19));
    fields += base::format("    {}: {}\n", row->info.key, python_type(*row));
  }
  return base::format(
      R"("""TaskSpec, made from the table of a task type's fields: src/jobfile/task_fields.cc."""

from __future__ import annotations

import dataclasses
from typing import Any, Mapping, Optional, Sequence, Union

from gangrun._task_keys import TaskKeys


@dataclasses.dataclass(frozen=True)
class TaskSpec(TaskKeys):
    """The resources and settings of all tasks of one type.

    The fields are the keys of a task type in docs/job.md, where their defaults are described. None means the default.

{}    environment    the Python environment of these tasks instead of the job's (gangrun.environments)
    """

{}    environment: Any = None
)",
      docs, fields);
}

}  // namespace gangrun::jobfile
