#pragma once

#include "base/json.h"
#include "base/result.h"
#include "job/plan_form.h"
#include "job/spec.h"
#include "jobfile/field.h"
#include "jobfile/spec_field.h"

// As field_values.h, of the job itself.
namespace gangrun::jobfile {

base::Result<> read_tasks(const Field& field, job::JobSpec& job);
base::Json tasks_json(const job::JobSpec& job, job::PlanForm form);
base::Result<> read_framework(const Field& field, job::JobSpec& job);
base::Json frameworks_json(const job::JobSpec& job);
base::Result<> read_restarts(const Field& field, job::JobSpec& job);
base::Result<> read_hosts(const Field& field, job::JobSpec& job);
base::Json hosts_json(const job::JobSpec& job);
base::Result<> read_mounts(const Field& field, job::JobSpec& job);
base::Json mounts_json(const job::JobSpec& job);
base::Result<std::string> take_mount(std::string_view text, job::JobSpec& job);
base::Result<> read_readers(const Field& field, job::ZooKeeper& zookeeper);
base::Json zookeeper_json(const job::JobSpec& job, job::PlanForm form);

}  // namespace gangrun::jobfile
