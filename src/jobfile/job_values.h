#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "job/plan_form.h"
#include "job/spec.h"
#include "jobfile/container.h"
#include "jobfile/field.h"
#include "jobfile/hosts.h"
#include "jobfile/spec_field.h"

// As field_values.h, of the job itself.
namespace gangrun::jobfile {

base::Result<> read_tasks(const Field& field, job::JobSpec& job);
base::Json tasks_json(const job::JobSpec& job, job::PlanForm form);
base::Result<> read_framework(const Field& field, std::optional<std::vector<job::Framework>>& out);
base::Json frameworks_json(const std::optional<std::vector<job::Framework>>& frameworks);
base::Result<> read_restarts(const Field& field, job::JobSpec& job);
base::Result<> read_hosts(const Field& field, std::vector<job::Host>& out);
base::Result<> read_mounts(const Field& field, job::JobSpec& job);
base::Result<std::string> take_mount(std::string_view text, job::JobSpec& job);
base::Result<> read_zookeeper(const Field& field, std::optional<job::ZooKeeper>& out);
base::Json zookeeper_json(const std::optional<job::ZooKeeper>& zookeeper, job::PlanForm form);
base::Result<> read_readers(const Field& field, bool& is_all);
base::Json readers_json(bool is_all);

// A list of what is written as texts.
template <typename Item>
base::Json list_json(const std::vector<Item>& items) {
  base::Json list;
  for (const Item& item : items) list.push_back(to_string(item));
  return list;
}

}  // namespace gangrun::jobfile
