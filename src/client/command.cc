#include "client/command.h"

#include <utility>

#include "base/format.h"
#include "base/overloaded.h"
#include "base/strings.h"
#include "job/field.h"
#include "job/task_fields.h"

namespace gangrun::client {

namespace {

FlagTarget target_of(const job::JobField& field, job::Flags& flags) {
  const job::FlagForms forms = field.row->info.flag.forms;
  if (forms == job::FlagForms::kSwitch) return &flags.job_switches[field.path];
  if (forms == job::FlagForms::kItems || forms == job::FlagForms::kEach) {
    return &flags.job_lists[field.path];
  }
  return &flags.job_fields[field.path];
}

}  // namespace

bool is_given(const Flag& flag) {
  return std::visit(
      base::Overloaded{[](const bool* target) { return *target; },
                       [](const std::optional<std::string>* target) { return target->has_value(); },
                       [](const std::vector<std::string>* target) { return !target->empty(); }},
      flag.target);
}

std::optional<Flag> flag_of(const job::TaskField& field, job::Flags& flags) {
  const job::FieldInfo& info = field.row->info;
  if (info.flag.names.empty()) return std::nullopt;
  return Flag{std::string(info.flag.names), &flags.fields[field.path], job::value_in_help(info),
              job::help_of(info)};
}

std::optional<Flag> flag_of(const job::JobField& field, job::Flags& flags,
                            const job::Places& places) {
  const job::FieldInfo& info = field.row->info;
  if (info.flag.names.empty()) return std::nullopt;
  Flag flag{std::string(info.flag.names), target_of(field, flags), job::value_in_help(info),
            job::help_of(info)};
  if (field.path == "on") {
    flag.value = base::format("{}", base::join(places.names(), "|"));
    flag.help += ": " + places.words(&job::Place::words);
  }
  return flag;
}

std::vector<Flag> flags_of(std::span<const std::string_view> paths, job::Flags& flags,
                           const job::Places& places) {
  std::vector<Flag> found;
  for (const std::string_view path : paths) {
    for (const job::JobField& field : places.job_fields()) {
      if (field.path != path) continue;
      if (auto flag = flag_of(field, flags, places)) found.push_back(*std::move(flag));
    }
  }
  return found;
}

std::vector<Flag> display_flags(DisplayOptions& options) {
  return {{"--json", &options.json, "", "Print one JSON object a line"},
          {"--logs", &options.logs, "",
           "Print all of the tasks' output above the live table, not its last lines below"},
          {"--no-logs", &options.no_logs, "", "Do not print the tasks' output"},
          {"-q,--quiet", &options.quiet, "", "Print only the tasks' output and failures"},
          {"-v,--verbose", &options.verbose, "", "Print every change of every task"}};
}

base::Result<> check_display(const DisplayOptions& options) {
  if (options.quiet && options.verbose) {
    return base::invalid_argument("--quiet and --verbose exclude each other");
  }
  if (options.logs && options.no_logs) {
    return base::invalid_argument("--logs and --no-logs exclude each other");
  }
  return {};
}

}  // namespace gangrun::client
