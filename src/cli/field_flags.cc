#include "cli/field_flags.h"

#include <string>

#include "base/format.h"
#include "cli/command_builder.h"
#include "client/command.h"
#include "jobfile/task_fields.h"

namespace gangrun::cli {

void FieldFlags::add(std::string_view path) {
  for (const jobfile::TaskField& field : jobfile::plain_task_fields()) {
    if (field.path == path) add(field);
  }
}

void FieldFlags::add_job(std::string_view path) {
  for (const jobfile::JobField& field : places_.job_fields()) {
    if (field.path == path) add(field);
  }
}

void FieldFlags::add_others() {
  for (const jobfile::TaskField& field : jobfile::plain_task_fields()) {
    if (!flags_.fields.contains(field.path)) add(field);
  }
  for (const jobfile::JobField& field : places_.job_fields()) {
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

void FieldFlags::add(const jobfile::TaskField& field) {
  if (const auto flag = client::flag_of(field, flags_)) add_flags(command_, {*flag});
}

void FieldFlags::add(const jobfile::JobField& field) {
  if (const auto flag = client::flag_of(field, flags_, places_)) add_flags(command_, {*flag});
}

}  // namespace gangrun::cli
