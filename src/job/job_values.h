#pragma once

#include "base/json.h"
#include "base/result.h"
#include "job/field.h"
#include "job/plan_form.h"
#include "job/spec.h"
#include "job/spec_field.h"

// As field_values.h, of the job itself.
namespace gangrun::job {

base::Result<> read_tasks(const Field& field, JobSpec& job);
base::Json tasks_json(const JobSpec& job, PlanForm form);
base::Result<> read_framework(const Field& field, JobSpec& job);
base::Json frameworks_json(const JobSpec& job);
base::Result<> read_restarts(const Field& field, JobSpec& job);
base::Result<> read_hosts(const Field& field, JobSpec& job);
base::Json hosts_json(const JobSpec& job);
base::Result<> read_mounts(const Field& field, JobSpec& job);
base::Json mounts_json(const JobSpec& job);
base::Result<std::string> take_mount(std::string_view text, JobSpec& job);
base::Result<> read_readers(const Field& field, ZooKeeper& zookeeper);
base::Json zookeeper_json(const JobSpec& job, PlanForm form);

}  // namespace gangrun::job
