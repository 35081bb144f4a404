#include "kubernetes/commands/cluster_records.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "job/described.h"
#include "job/units.h"
#include "jobfile/plan_json.h"
#include "kubernetes/pods/kubernetes_options.h"

namespace gangrun::kubernetes::commands {

namespace {

using base::Result;

constexpr std::size_t kMaxRecordBytes = std::size_t{64} << 20U;
constexpr std::string_view kEnd = ".json";

std::string folder_of(const std::string& home) { return home + "/kubernetes"; }

std::string file_of(const std::string& home, const std::string& id) {
  return base::format("{}/{}{}", folder_of(home), id, kEnd);
}

// An id is a file's name here, and leads nowhere else.
bool may_be_id(std::string_view id) {
  return !id.empty() && id.front() != '.' && id.find('/') == std::string_view::npos;
}

std::vector<std::string> recorded_ids(const std::string& home) {
  std::vector<std::string> ids;
  const base::Folder folder = base::open_folder(folder_of(home));
  if (!folder) return ids;
  while (const dirent* entry = ::readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    if (!name.ends_with(kEnd)) continue;
    const std::string_view id = name.substr(0, name.size() - kEnd.size());
    if (may_be_id(id)) ids.emplace_back(id);
  }
  return ids;
}

}  // namespace

base::Json RecordedSpec::write(const job::JobSpec& spec) {
  return spec.tasks.empty() ? base::Json() : base::JsonOf<job::JobSpec>::write(spec);
}

Result<> RecordedSpec::read(const base::Json& json, std::string_view key, job::JobSpec& out) {
  if (json.is_null()) return {};
  GANGRUN_ASSIGN(
      out, jobfile::job_spec_from_json(json, {&pods::KubernetesOptions::section()}).context(key));
  return {};
}

Result<> write_cluster_record(const std::string& home, const ClusterRecord& record) {
  // Whoever may make config maps in a namespace can give a job any id.
  if (!may_be_id(record.id)) {
    return base::Error{base::Code::kDataLoss,
                       base::format("{} is no id of a job", job::in_quotes(record.id))};
  }
  GANGRUN_TRY(base::make_folders(folder_of(home), 0700));
  return base::write_file_atomically(file_of(home, record.id),
                                     base::dump_json_indented(base::to_json(record)) + "\n", 0600);
}

Result<std::optional<ClusterRecord>> read_cluster_record(const std::string& home,
                                                         const std::string& id) {
  if (!may_be_id(id)) return std::optional<ClusterRecord>();
  const std::string path = file_of(home, id);
  const auto text = base::read_file(path, kMaxRecordBytes);
  if (!text.ok() && text.error().code == base::Code::kNotFound) {
    return std::optional<ClusterRecord>();
  }
  if (!text.ok()) return text.error();
  GANGRUN_ASSIGN(const base::Json json, base::parse_json(*text, kMaxRecordBytes).context(path));
  GANGRUN_ASSIGN(ClusterRecord record, base::from_json<ClusterRecord>(json).context(path));
  return std::optional(std::move(record));
}

Result<std::vector<ClusterRecord>> list_cluster_records(const std::string& home) {
  std::vector<ClusterRecord> records;
  for (const std::string& id : recorded_ids(home)) {
    auto record = read_cluster_record(home, id);
    if (record.ok() && *record) records.push_back(*std::move(*record));
  }
  std::ranges::sort(records, [](const ClusterRecord& a, const ClusterRecord& b) {
    return std::pair(a.submitted, a.id) > std::pair(b.submitted, b.id);
  });
  return records;
}

std::optional<std::string> recorded_id(const std::string& home, std::string_view job) {
  if (job.empty()) return std::nullopt;
  std::vector<std::string> fitting;
  for (const std::string& id : recorded_ids(home)) {
    if (id == job) return id;
    if (id.starts_with(job)) fitting.push_back(id);
  }
  return fitting.size() == 1 ? std::optional(fitting.front()) : std::nullopt;
}

Result<> remove_cluster_record(const std::string& home, const std::string& id) {
  const std::string path = file_of(home, id);
  if (!may_be_id(id) || std::remove(path.c_str()) == 0 || errno == ENOENT) return {};
  return base::from_errno(errno, base::format("cannot remove {}", path));
}

}  // namespace gangrun::kubernetes::commands
