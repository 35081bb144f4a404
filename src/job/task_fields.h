#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "job/field.h"

// The table of a task type's fields.
namespace gangrun::job {

// The keys of a task type, of its `ports`, and of one of its `overrides`, in the order of the
// reference.
FieldRows<TaskSpec> task_fields();
FieldRows<TaskSpec> ports_fields();
FieldRows<ResourceOverride> override_fields();

using TaskField = FieldAt<TaskSpec>;

// All that is a number, a text or a choice, those of `ports` among them.
const std::vector<TaskField>& plain_task_fields();

// Ranges, texts, and policies: what one row says of a spec, whoever made it.
Found check_task_fields(const JobSpec& job, const TaskSpec& task, const std::string& path);

}  // namespace gangrun::job
