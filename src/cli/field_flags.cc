#include "cli/field_flags.h"

#include <string>

#include "base/format.h"
#include "base/strings.h"
#include "cli/command_builder.h"
#include "job/field.h"
#include "job/task_fields.h"

namespace gangrun::cli {

void FieldFlags::add(std::string_view path) {
  for (const job::TaskField& field : job::plain_task_fields()) {
    if (field.path == path) add(field);
  }
}

void FieldFlags::add_job(std::string_view path) {
  for (const job::JobField& field : places_.job_fields()) {
    if (field.path == path) add(field);
  }
}

void FieldFlags::add_others() {
  for (const job::TaskField& field : job::plain_task_fields()) {
    if (!flags_.fields.contains(field.path)) add(field);
  }
  for (const job::JobField& field : places_.job_fields()) {
    const std::string_view path = field.path;
    const std::size_t dot = path.find('.');
    if (dot != std::string_view::npos && places_.find(path.substr(0, dot)) != nullptr) {
      begin_group(command_, base::format("With --on {}", path.substr(0, dot)));
    }
    const bool is_there = flags_.job_fields.contains(field.path) ||
                          flags_.job_lists.contains(field.path) ||
                          flags_.job_switches.contains(field.path);
    if (!is_there) add(field);
  }
}

void FieldFlags::add(const job::TaskField& field) {
  const job::FieldInfo& info = field.row->info;
  if (info.flag.names.empty()) return;
  add_list(command_, std::string(info.flag.names), flags_.fields[field.path],
           job::value_in_help(info), std::string(job::help_of(info)));
}

void FieldFlags::add(const job::JobField& field) {
  const job::FieldInfo& info = field.row->info;
  if (info.flag.names.empty()) return;
  const std::string names(info.flag.names);
  std::string value = job::value_in_help(info);
  std::string help(job::help_of(info));
  if (field.path == "on") {
    value = base::format("{}", base::join(places_.names(), "|"));
    help += ": " + places_.words(&job::Place::words);
  }
  switch (info.flag.forms) {
    case job::FlagForms::kSwitch:
      add_flag(command_, names, flags_.job_switches[field.path], help);
      break;
    case job::FlagForms::kItems:
    case job::FlagForms::kEach:
      add_list(command_, names, flags_.job_lists[field.path], value, help);
      break;
    case job::FlagForms::kOneValue:
    case job::FlagForms::kTypes:
    case job::FlagForms::kTypeOnly:
    case job::FlagForms::kGeneralOrType:
    case job::FlagForms::kGeneralTypeOrTask:
      add_value(command_, names, flags_.job_fields[field.path], value, help);
      break;
  }
}

}  // namespace gangrun::cli
