#pragma once

#include <string>
#include <vector>

#include "jobfile/field.h"

// The table of a task type's fields.
namespace gangrun::jobfile {

// The keys of a task type, of its `ports`, and of one of its `overrides`, in the order of the
// reference.
FieldRows<job::TaskSpec> task_fields();
FieldRows<job::TaskSpec> ports_fields();
FieldRows<job::ResourceOverride> override_fields();

using TaskField = FieldAt<job::TaskSpec>;

// All that is a number, a text or a choice, those of `ports` among them.
const std::vector<TaskField>& plain_task_fields();

// Ranges, texts, and policies: what one row says of a spec, whoever made it.
Found check_task_fields(const job::JobSpec& job, const job::TaskSpec& task,
                        const std::string& path);

}  // namespace gangrun::jobfile
