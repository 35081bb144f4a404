#include "client/run_record.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "base/strings.h"
#include "client/prepare.h"
#include "client/sites.h"
#include "host/job_folder.h"
#include "jobfile/shipped_files.h"

namespace gangrun::client {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxRecordBytes = std::size_t{16} << 20U;
// The entries of a folder that are compared; it may have more.
constexpr std::uint64_t kMaxFilesOfFolder = 1000;
// The records of jobs that their place keeps itself; the oldest go.
constexpr std::size_t kMaxRecordsElsewhere = 200;
constexpr const char* kEnding = ".json";

struct NamedList {
  const char* name;
  std::vector<std::string> jobfile::Flags::*list;
};
constexpr NamedList kLists[] = {{"resource", &jobfile::Flags::resources},
                                {"ports", &jobfile::Flags::ports},
                                {"env", &jobfile::Flags::env},
                                {"timeout", &jobfile::Flags::timeouts},
                                {"zookeeper", &jobfile::Flags::zookeeper},
                                {"hosts", &jobfile::Flags::hosts}};

struct NamedValue {
  const char* name;
  std::optional<std::string> jobfile::Flags::*value;
};
constexpr NamedValue kValues[] = {{"framework", &jobfile::Flags::framework},
                                  {"restarts", &jobfile::Flags::restarts},
                                  {"restart_pause", &jobfile::Flags::restart_pause},
                                  {"queue", &jobfile::Flags::queue},
                                  {"tensorboard", &jobfile::Flags::tensorboard},
                                  {"command_line", &jobfile::Flags::command_line}};
// The names that records have for two flags of places; others have their own.
constexpr const char* kHost = "host";
constexpr const char* kServeTls = "serve_tls";

constexpr const char* kMirrors = "mirrors_in_zookeeper";

bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void append(const std::vector<std::string>& more, std::vector<std::string>& list) {
  list.insert(list.end(), more.begin(), more.end());
}

// "ps:2,worker:4" as its parts.
std::vector<std::string> parts_of(const std::vector<std::string>& roles) {
  std::vector<std::string> parts;
  for (const std::string& each : roles) append(base::split(each, ','), parts);
  return parts;
}

std::string type_of(const std::string& role) { return role.substr(0, role.find(':')); }

// A type that is named again has the new number.
void add_roles(const std::vector<std::string>& more, std::vector<std::string>& roles) {
  const std::vector<std::string> added = parts_of(more);
  std::set<std::string> types;
  for (const std::string& role : added) types.insert(type_of(role));
  std::vector<std::string> kept;
  for (const std::string& role : parts_of(roles)) {
    if (!types.contains(type_of(role))) kept.push_back(role);
  }
  append(added, kept);
  roles = std::move(kept);
}

std::int64_t modified_of(const struct stat& info) {
  return info.st_mtim.tv_sec * std::int64_t{1'000'000'000} + info.st_mtim.tv_nsec;
}

std::optional<RecordedFile> look_at(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  RecordedFile file{.path = path};
  file.modified_ns = modified_of(info);
  if (!S_ISDIR(info.st_mode)) {
    file.bytes = static_cast<std::uint64_t>(info.st_size);
    return file;
  }
  std::error_code failed;
  fs::recursive_directory_iterator entry(path, fs::directory_options::skip_permission_denied,
                                         failed);
  for (; !failed && entry != fs::recursive_directory_iterator() && file.files < kMaxFilesOfFolder;
       entry.increment(failed)) {
    if (::stat(entry->path().c_str(), &info) != 0) continue;
    ++file.files;
    if (!S_ISDIR(info.st_mode)) file.bytes += static_cast<std::uint64_t>(info.st_size);
    file.modified_ns = std::max(file.modified_ns, modified_of(info));
  }
  return file;
}

// With the job's other files where these are here, so that it goes with them.
std::string record_path(const std::string& home, const std::string& id) {
  const host::JobPaths paths = host::paths_of(home, id);
  std::error_code failed;
  if (fs::exists(paths.spec(), failed)) return paths.folder + "/run.json";
  return base::format("{}/runs/{}{}", home, id, kEnding);
}

base::Error damaged(const std::string& path, const base::Error& error) {
  return host::as_damage(error.context(base::format("{} is damaged", path)));
}

// The ids of applications sort by their age.
void drop_oldest(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code failed;
  for (const auto& file : fs::directory_iterator(folder, failed)) {
    names.push_back(file.path().filename().string());
  }
  if (names.size() <= kMaxRecordsElsewhere) return;
  std::sort(names.begin(), names.end());
  for (std::size_t i = 0; i + kMaxRecordsElsewhere < names.size(); ++i) {
    base::remove_if_there(base::format("{}/{}", folder, names[i]));
  }
}

base::Result<> keep(const std::string& id, const job::JobSpec& spec, const RunOptions& options,
                    const Context& context) {
  GANGRUN_ASSIGN(const std::string home, home_of(context));
  const RunRecord record{.folder = context.folder,
                         .spec_path = options.spec_path,
                         .text = options.spec_text,
                         .defaults = options.defaults.value_or(std::vector<jobfile::DefaultFile>()),
                         .flags = recorded(options),
                         .files = files_of(spec, context.folder)};
  const std::string path = record_path(home, id);
  const std::string folder = fs::path(path).parent_path().string();
  GANGRUN_TRY(base::make_folders(folder, 0700));
  GANGRUN_TRY(
      base::write_file_atomically(path, base::dump_json(base::to_json(record)) + "\n", 0600));
  if (folder == home + "/runs") drop_oldest(folder);
  return {};
}

}  // namespace

RecordedFlags recorded(const RunOptions& options) {
  const jobfile::Flags& flags = options.flags;
  RecordedFlags record;
  record.roles = flags.roles;
  for (const auto& [name, values] : flags.fields) {
    if (!values.empty()) record.fields[name] = values;
  }
  for (const auto& [name, value] : flags.job_fields) {
    if (value) record.job_fields[name] = *value;
  }
  for (const auto& [name, values] : flags.job_lists) {
    if (!values.empty()) record.job_lists[name] = values;
  }
  for (const auto& [name, is_given] : flags.job_switches) {
    if (is_given) record.job_switches.push_back(name);
  }
  for (const NamedList& each : kLists) {
    if (!(flags.*each.list).empty()) record.lists[each.name] = flags.*each.list;
  }
  for (const NamedValue& each : kValues) {
    if (flags.*each.value) record.values[each.name] = *(flags.*each.value);
  }
  for (const auto& [flag, value] : options.of_place) {
    if (!value) continue;
    if (flag == kHostFlag) {
      record.values[kHost] = *value;
    } else {
      record.of_place[flag] = *value;
    }
  }
  for (const auto& [flag, is_given] : options.switches_of_place) {
    if (is_given) record.switches.push_back(flag == kServeTlsFlag ? kServeTls : flag);
  }
  if (flags.mirrors_in_zookeeper) record.switches.emplace_back(kMirrors);
  record.command = flags.command;
  return record;
}

RunOptions run_options_of(const RunRecord& record) {
  RunOptions options;
  jobfile::Flags& flags = options.flags;
  const RecordedFlags& given = record.flags;
  flags.roles = given.roles;
  flags.fields.insert(given.fields.begin(), given.fields.end());
  flags.job_fields.insert(given.job_fields.begin(), given.job_fields.end());
  flags.job_lists.insert(given.job_lists.begin(), given.job_lists.end());
  for (const std::string& name : given.job_switches) flags.job_switches[name] = true;
  for (const NamedList& each : kLists) {
    const auto found = given.lists.find(each.name);
    if (found != given.lists.end()) flags.*each.list = found->second;
  }
  for (const NamedValue& each : kValues) {
    const auto found = given.values.find(each.name);
    if (found != given.values.end()) flags.*each.value = found->second;
  }
  if (const auto host = given.values.find(kHost); host != given.values.end()) {
    options.of_place.emplace(kHostFlag, host->second);
  }
  options.of_place.insert(given.of_place.begin(), given.of_place.end());
  for (const std::string& name : given.switches) {
    if (name == kServeTls) options.switches_of_place.emplace(kServeTlsFlag, true);
    if (name.starts_with("--")) options.switches_of_place[name] = true;
  }
  flags.mirrors_in_zookeeper = has(given.switches, kMirrors);
  flags.command = given.command;
  options.spec_path = record.spec_path;
  options.spec_text = record.text;
  // Those of then, even if there were none.
  options.defaults = record.defaults;
  return options;
}

void add_options(const RunOptions& more, RunOptions& options) {
  jobfile::Flags& flags = options.flags;
  add_roles(more.flags.roles, flags.roles);
  for (const auto& [name, values] : more.flags.fields) append(values, flags.fields[name]);
  for (const auto& [name, value] : more.flags.job_fields) {
    if (value) flags.job_fields[name] = value;
  }
  for (const auto& [name, values] : more.flags.job_lists) append(values, flags.job_lists[name]);
  for (const auto& [name, is_given] : more.flags.job_switches) {
    flags.job_switches[name] |= is_given;
  }
  for (const NamedList& each : kLists) append(more.flags.*each.list, flags.*each.list);
  // They are a whole.
  if (!more.flags.hosts.empty()) flags.hosts = more.flags.hosts;
  if (!more.flags.zookeeper.empty()) flags.zookeeper = more.flags.zookeeper;
  for (const NamedValue& each : kValues) {
    if (more.flags.*each.value) flags.*each.value = more.flags.*each.value;
  }
  if (!more.flags.command.empty()) {
    flags.command = more.flags.command;
    flags.command_line.reset();
  }
  for (const auto& [name, value] : more.of_place) {
    if (value) options.of_place[name] = value;
  }
  for (const auto& [name, is_given] : more.switches_of_place) {
    options.switches_of_place[name] |= is_given;
  }
  options.no_defaults |= more.no_defaults;
  append(more.env_files, options.env_files);
  options.display = more.display;
  options.dry_run = more.dry_run;
  options.detach = more.detach;
}

std::vector<RecordedFile> files_of(const job::JobSpec& spec, const std::string& folder) {
  std::set<std::string> paths;
  for (const std::string& file : spec.files) {
    if (jobfile::has_scheme(file)) continue;
    const std::string path = in_folder(folder, file);
    std::error_code ignored;
    const bool is_whole = fs::exists(path, ignored);
    paths.insert(is_whole ? path : in_folder(folder, jobfile::split_name(file).path));
  }
  for (const job::TaskSpec& task : spec.tasks) {
    for (const auto& [name, path] : spec.archives_of(task)) {
      if (!jobfile::has_scheme(path)) paths.insert(in_folder(folder, path));
    }
  }
  std::vector<RecordedFile> files;
  for (const std::string& path : paths) {
    if (auto file = look_at(path)) files.push_back(*std::move(file));
  }
  return files;
}

void keep_run(const std::string& id, const job::JobSpec& spec, const RunOptions& options,
              Context& context) {
  const auto kept = keep(id, spec, options, context);
  if (kept.ok()) return;
  context.console.error(
      base::format("warning: `gangrun rerun` will not know {}: {}", id, kept.error().message));
}

ExitStatus leave_submitted(const std::string& id, const base::Json& json, const job::JobSpec& spec,
                           const RunOptions& options, Context& context) {
  keep_run(id, spec, options, context);
  if (options.when_submitted) return options.when_submitted(id, spec);
  if (options.display.json) {
    context.console.out(base::dump_json(json) + "\n");
    return ExitStatus::kSuccess;
  }
  context.console.out(id + "\n");
  if (!options.display.quiet) {
    context.console.err(
        base::format("gangrun: the job runs in the background; gangrun attach {} shows it\n", id));
  }
  return ExitStatus::kSuccess;
}

base::Result<RunRecord> kept_run(const std::string& home, const std::string& id) {
  const std::string path = record_path(home, id);
  auto text = base::read_file(path, kMaxRecordBytes);
  if (!text.ok() && text.error().code == base::Code::kNotFound) {
    return base::not_found(base::format(
        "{} is not known here by its flags and files: it was submitted from elsewhere, by an older "
        "version, or too long ago",
        id));
  }
  if (!text.ok()) return host::as_damage(text.error());
  const auto json = base::parse_json(*text, kMaxRecordBytes);
  if (!json.ok()) return damaged(path, json.error());
  auto record = base::from_json<RunRecord>(*json);
  if (!record.ok()) return damaged(path, record.error());
  return record;
}

void forget_run(const std::string& home, const std::string& id) {
  base::remove_if_there(record_path(home, id));
}

}  // namespace gangrun::client
