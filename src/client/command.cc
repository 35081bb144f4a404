#include "client/command.h"

#include <utility>

#include "base/format.h"
#include "base/overloaded.h"
#include "jobfile/field.h"
#include "jobfile/task_fields.h"

namespace gangrun::client {

namespace {

FlagTarget target_of(const jobfile::JobField& field, jobfile::Flags& flags) {
  const jobfile::FlagForms forms = field.row->info.flag.forms;
  if (forms == jobfile::FlagForms::kSwitch) return &flags.job_switches[field.path];
  if (forms == jobfile::FlagForms::kItems || forms == jobfile::FlagForms::kEach) {
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

std::optional<Flag> flag_of(const jobfile::TaskField& field, jobfile::Flags& flags) {
  const jobfile::FieldInfo& info = field.row->info;
  if (info.flag.names.empty()) return std::nullopt;
  return Flag{std::string(info.flag.names), &flags.fields[field.path], jobfile::value_in_help(info),
              jobfile::help_of(info)};
}

std::optional<Flag> flag_of(const jobfile::JobField& field, jobfile::Flags& flags,
                            const jobfile::RulesOfPlaces& places) {
  const jobfile::FieldInfo& info = field.row->info;
  if (info.flag.names.empty()) return std::nullopt;
  Flag flag{std::string(info.flag.names), target_of(field, flags), jobfile::value_in_help(info),
            jobfile::help_of(info)};
  if (info.flag.forms == jobfile::FlagForms::kSwitch) flag.value.clear();
  if (field.path == "on") {
    flag.value = base::format("{}", base::join(places.names(), "|"));
    flag.help += ": " + places.words(&jobfile::PlaceRules::words);
  }
  return flag;
}

std::vector<Flag> flags_of(std::span<const std::string_view> paths, jobfile::Flags& flags,
                           const jobfile::RulesOfPlaces& places) {
  std::vector<Flag> found;
  for (const std::string_view path : paths) {
    for (const jobfile::JobField& field : places.job_fields()) {
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
