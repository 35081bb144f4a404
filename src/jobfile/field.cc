#include "jobfile/field.h"

#include "base/format.h"
#include "base/overloaded.h"
#include "base/strings.h"
#include "job/units.h"

namespace gangrun::jobfile {

namespace {

using base::Json;
using base::Result;

constexpr std::string_view kTrueOrFalse = "true or false";
constexpr int kMillisecondsPerSecond = 1000;

std::int64_t most_of(const FieldInfo& info) {
  if (info.max != 0) return info.max;
  return info.kind == FieldKind::kMemory ? job::kMaxMemoryMib : job::kMaxDuration.count();
}

std::string allowed_by(const FieldInfo& info) {
  switch (info.kind) {
    case FieldKind::kCount: return base::format("a whole number from {} to {}", info.min, info.max);
    case FieldKind::kMemory: return "an amount of memory, for example 2 GiB";
    case FieldKind::kDuration: return "a time, for example 10 min";
    case FieldKind::kChoice: return base::format("{}", base::join(info.choice.names(), ", "));
    case FieldKind::kBool: return std::string(kTrueOrFalse);
    case FieldKind::kText:
    case FieldKind::kTexts:
    case FieldKind::kOwn: break;
  }
  return std::string(info.allowed);
}

Found check_duration_in(const FieldInfo& info, std::int64_t value, const std::string& path) {
  if (value >= info.min && value <= most_of(info)) return std::nullopt;
  return Problem{
      path, base::format(
                "'{}' is not allowed; allowed: {} 0 s, at most {}",
                job::duration_text(std::chrono::milliseconds(value)),
                info.min == 0 ? "at least" : "more than",
                info.max == 0 ? "365 d" : job::duration_text(std::chrono::milliseconds(info.max)))};
}

Found check_memory_in(const FieldInfo& info, std::int64_t mib, const std::string& path) {
  Found found = check_range(mib, info.min, most_of(info), path);
  if (found) found->text += " MiB";
  return found;
}

}  // namespace

Result<FieldValue> parse_value(const FieldInfo& info, std::string_view text) {
  switch (info.kind) {
    case FieldKind::kCount: {
      GANGRUN_ASSIGN(const int count, job::parse_count(text, static_cast<int>(info.min),
                                                       static_cast<int>(info.max)));
      return FieldValue(std::int64_t{count});
    }
    case FieldKind::kMemory: {
      GANGRUN_ASSIGN(const std::int64_t mib, job::parse_memory_mib(text));
      return FieldValue(mib);
    }
    case FieldKind::kDuration: {
      GANGRUN_ASSIGN(const auto duration, job::parse_duration(text));
      return FieldValue(std::int64_t{duration.count()});
    }
    case FieldKind::kChoice: {
      GANGRUN_ASSIGN(std::string name, info.choice.name_of(text));
      return FieldValue(std::move(name));
    }
    case FieldKind::kBool:
      if (text == "true" || text == "false") return FieldValue(text == "true");
      return base::invalid_argument(
          base::format("{} is not allowed; allowed: {}", job::in_quotes(text), kTrueOrFalse));
    case FieldKind::kText: {
      if (info.parse == nullptr) break;
      GANGRUN_ASSIGN(std::string parsed, info.parse(text));
      return FieldValue(std::move(parsed));
    }
    case FieldKind::kTexts:
    case FieldKind::kOwn: break;
  }
  return FieldValue(std::string(text));
}

Result<FieldValue> read_value(const Field& field, const FieldInfo& info) {
  if (info.kind == FieldKind::kTexts) {
    // "paths, a path": the list's elements, and one of them.
    const std::size_t comma = info.allowed.find(',');
    GANGRUN_ASSIGN(auto texts, read_list(field, info.allowed.substr(0, comma),
                                         base::trim(info.allowed.substr(comma + 1))));
    return FieldValue(std::move(texts));
  }
  const bool is_number = info.kind == FieldKind::kCount || info.kind == FieldKind::kMemory ||
                         info.kind == FieldKind::kDuration;
  if (is_number) {
    const int scale = info.kind == FieldKind::kDuration ? kMillisecondsPerSecond : 1;
    const auto number = number_in(field.node, info.min, most_of(info), scale);
    if (number) return FieldValue(*number);
  }
  GANGRUN_ASSIGN(const std::string text, read_text(field, allowed_by(info)));
  auto value = parse_value(info, text);
  if (!value.ok()) return field.error(value.error());
  return value;
}

std::string text_of(const FieldInfo& info, const FieldValue& value) {
  return std::visit(base::Overloaded{
                        [](std::monostate) { return std::string(); },
                        [&](std::int64_t number) {
                          if (info.kind == FieldKind::kMemory) return job::memory_text(number);
                          if (info.kind == FieldKind::kDuration) {
                            return job::duration_text(std::chrono::milliseconds(number));
                          }
                          return std::to_string(number);
                        },
                        [](bool truth) { return std::string(truth ? "true" : "false"); },
                        [](const std::string& text) { return text; },
                        [](const std::vector<std::string>& texts) {
                          return base::format("{}", base::join(texts, ", "));
                        },
                    },
                    value);
}

Json json_of(const FieldInfo& info, const FieldValue& value, job::PlanForm form) {
  return std::visit(base::Overloaded{
                        [](std::monostate) { return Json(); },
                        [&](std::int64_t number) -> Json {
                          if (info.kind == FieldKind::kCount) return number;
                          if (form == job::PlanForm::kForPeople) return text_of(info, value);
                          if (info.kind == FieldKind::kMemory) return number;
                          // In seconds, as a bare number of a job file.
                          if (number % kMillisecondsPerSecond == 0)
                            return number / kMillisecondsPerSecond;
                          return static_cast<double>(number) / kMillisecondsPerSecond;
                        },
                        [](bool truth) { return Json(truth); },
                        [](const std::string& text) { return Json(text); },
                        [](const std::vector<std::string>& texts) {
                          Json list = Json::array();
                          for (const std::string& text : texts) list.push_back(text);
                          return list;
                        },
                    },
                    value);
}

Found check_value(const FieldInfo& info, const FieldValue& value, const std::string& path) {
  const bool has_own_check = info.check != nullptr;
  return std::visit(base::Overloaded{
                        [](std::monostate) { return Found(); },
                        [&](std::int64_t number) -> Found {
                          if (has_own_check) return info.check(value, path);
                          if (info.kind == FieldKind::kDuration)
                            return check_duration_in(info, number, path);
                          if (info.kind == FieldKind::kMemory)
                            return check_memory_in(info, number, path);
                          return check_range(number, info.min, most_of(info), path);
                        },
                        [&](const std::string& text) -> Found {
                          if (has_own_check) return info.check(value, path);
                          return info.kind == FieldKind::kText ? check_bytes(text, path)
                                                               : std::nullopt;
                        },
                        [&](const base::OneOf<bool, std::vector<std::string>> auto&) -> Found {
                          return has_own_check ? info.check(value, path) : std::nullopt;
                        },
                    },
                    value);
}

std::string_view name_of(const FieldFlag& flag) {
  return flag.names.substr(0, flag.names.find(','));
}

std::string help_of(const FieldInfo& info) {
  std::string text(info.flag.help.empty() ? info.about : info.flag.help);
  constexpr std::string_view kChoices = "{choices}";
  if (const std::size_t at = text.find(kChoices); at != std::string::npos) {
    text.replace(at, kChoices.size(), base::format("{}", base::join(info.choice.names(), ", ")));
  }
  return text;
}

std::string value_in_help(const FieldInfo& info) {
  if (!info.flag.value.empty()) return std::string(info.flag.value);
  const bool is_one = info.flag.forms == FlagForms::kOneValue;
  if (is_one && info.kind == FieldKind::kChoice) {
    return base::format("{}", base::join(info.choice.names(), "|"));
  }
  std::string value;
  switch (info.kind) {
    case FieldKind::kCount: value = "N"; break;
    case FieldKind::kMemory: value = "SIZE"; break;
    case FieldKind::kDuration: value = "TIME"; break;
    case FieldKind::kBool: value = "TYPE,..."; break;
    case FieldKind::kChoice:
    case FieldKind::kText:
    case FieldKind::kTexts:
    case FieldKind::kOwn: value = job::in_variable(info.key); break;
  }
  switch (info.flag.forms) {
    case FlagForms::kTypeOnly: return "TYPE:" + value;
    case FlagForms::kGeneralOrType: return "[TYPE:]" + value;
    case FlagForms::kGeneralTypeOrTask: return "[TASK:]" + value;
    case FlagForms::kTypes:
    case FlagForms::kOneValue:
    case FlagForms::kItems:
    case FlagForms::kEach:
    case FlagForms::kSwitch: break;
  }
  return value;
}

}  // namespace gangrun::jobfile
