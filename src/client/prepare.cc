#include "client/prepare.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/strings.h"
#include "client/text.h"
#include "frameworks/environment.h"
#include "host/local_launch.h"
#include "job/task_id.h"
#include "job/units.h"
#include "jobfile/default_files.h"
#include "jobfile/draft.h"
#include "jobfile/section.h"
#include "jobfile/spec_yaml.h"
#include "net/hosts.h"

namespace gangrun::client {

namespace {

using base::Result;

constexpr std::string_view kOwnAddress = "127.0.0.1";

Result<> check_file(std::string_view key, const std::string& file, const std::string& folder) {
  const std::string path = in_folder(folder, file);
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    const int error = errno;
    const std::string what = base::format("{}: {}", key, path_in_quotes(file));
    return base::invalid_argument(error == ENOENT ? what + ": there is no such file or folder"
                                                  : base::from_errno(error, what).message);
  }
  const bool is_folder = S_ISDIR(info.st_mode);
  if (!is_folder && !S_ISREG(info.st_mode)) {
    return base::invalid_argument(
        base::format("{}: {} is neither a file nor a folder; allowed: files and folders", key,
                     path_in_quotes(file)));
  }
  if (::access(path.c_str(), is_folder ? R_OK | X_OK : R_OK) != 0) {
    const int error = errno;
    const std::string what = base::format("{}: {} cannot be read", key, path_in_quotes(file));
    return base::invalid_argument(base::from_errno(error, what).message);
  }
  return {};
}

base::Error not_readable(std::string_view flag, const std::string& value, int error) {
  return refused_path(flag, value,
                      error == ENOENT ? "there is no such file or folder on this machine"
                                      : base::from_errno(error, "cannot be read").message);
}

// The text of a job file over a draft of defaults, with the paths in it relative to it.
Result<jobfile::JobDraft> read_draft(const std::string& text, const std::string& spec_path,
                                     const jobfile::SectionList& sections,
                                     jobfile::JobDraft defaults) {
  GANGRUN_ASSIGN(jobfile::JobDraft draft,
                 jobfile::parse_spec(text, spec_path, sections, std::move(defaults)));
  const std::string folder = std::filesystem::path(spec_path).parent_path().string();
  for (std::string& file : draft.spec.files) {
    if (!jobfile::has_scheme(file)) file = in_folder(folder, file);
  }
  const auto place = [&folder](std::map<std::string, std::string>& archives) {
    for (auto& [name, path] : archives) {
      if (!jobfile::has_scheme(path)) path = in_folder(folder, path);
    }
  };
  place(draft.spec.archives);
  for (job::TaskSpec& task : draft.spec.tasks) place(task.archives);
  return draft;
}

}  // namespace

base::Error as_bad_input(const base::Error& error) { return base::invalid_argument(error.message); }

jobfile::FileKind kind_of(const std::string& path) {
  std::error_code failed;
  const auto status = std::filesystem::status(path, failed);
  if (std::filesystem::is_directory(status)) return jobfile::FileKind::kFolder;
  return std::filesystem::is_regular_file(status) ? jobfile::FileKind::kFile
                                                  : jobfile::FileKind::kNone;
}

bool is_named_as_job_file(const std::string& word) {
  return word.ends_with(".yaml") || word.ends_with(".yml") || word.ends_with(".json");
}

std::string in_folder(const std::string& folder, const std::string& path) {
  if (path.starts_with("/") || folder.empty()) return path;
  return (std::filesystem::path(folder) / path).lexically_normal().string();
}

std::optional<std::string> meant_as_roles(const std::vector<std::string>& words) {
  std::vector<std::string> roles;
  bool has_number = false;
  for (const std::string& word : words) {
    for (const std::string& item : base::split(word, ',')) {
      const std::size_t mark = item.find_first_of(":=");
      const std::string type = item.substr(0, mark);
      if (!job::is_valid_type_name(type)) return std::nullopt;
      if (mark == std::string::npos) {
        roles.push_back(type);
        continue;
      }
      const std::string number = item.substr(mark + 1);
      if (!job::parse_count(number, 1, job::kMaxTasks).ok()) return std::nullopt;
      roles.push_back(base::format("{}:{}", type, number));
      has_number = true;
    }
  }
  if (!has_number) return std::nullopt;
  return base::format("-r {}", base::join(roles, ","));
}

base::Error refused_path(std::string_view flag, const std::string& value, std::string_view why) {
  return base::invalid_argument(base::format("{}: {}: {}", flag, path_in_quotes(value), why));
}

Result<> check_local_file(std::string_view flag, const std::string& as_written,
                          const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return not_readable(flag, as_written, errno);
  if (!S_ISREG(info.st_mode))
    return refused_path(flag, as_written, "is not a file; allowed: a file");
  if (::access(path.c_str(), R_OK) != 0) return not_readable(flag, as_written, errno);
  return {};
}

Result<> check_local_input(std::string_view flag, const std::string& input,
                           const std::string& folder) {
  const std::string path = in_folder(folder, input);
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return not_readable(flag, input, errno);
  const int wanted = S_ISDIR(info.st_mode) ? R_OK | X_OK : R_OK;
  if (::access(path.c_str(), wanted) != 0) return not_readable(flag, input, errno);
  return {};
}

Result<> read_spec_text(RunOptions& options, const std::string& folder) {
  if (options.spec_path.empty() || options.spec_text) return {};
  const std::string path = in_folder(folder, options.spec_path);
  const auto roles = meant_as_roles({options.spec_path});
  if (roles && kind_of(path) == jobfile::FileKind::kNone) {
    return base::invalid_argument(
        base::format("there is no job file {}; to start these tasks, use {}",
                     path_in_quotes(options.spec_path), *roles));
  }
  if (options.spec_path.ends_with(".py") || options.spec_path.ends_with(".sh")) {
    return base::invalid_argument(
        base::format("{} is a script, not a job file; put -- before the tasks' command",
                     path_in_quotes(options.spec_path)));
  }
  std::error_code failed;
  if (!is_named_as_job_file(options.spec_path) && !std::filesystem::exists(path, failed) &&
      !failed) {
    return base::invalid_argument(
        base::format("there is no job file {}; to run it as the tasks' command, put -- before it",
                     path_in_quotes(options.spec_path)));
  }
  auto text = base::read_input(path, job::kMaxSpecBytes);
  if (!text.ok()) return as_bad_input(text.error());
  options.spec_text = *std::move(text);
  return {};
}

// A job of defaults alone has no command either.
Result<> check_anything_is_given(const RunOptions& options) {
  const jobfile::Flags& flags = options.flags;
  const bool has_command = !flags.command.empty() || flags.command_line || flags.tensorboard;
  if (!options.spec_path.empty() || !flags.roles.empty() || has_command) return {};
  return base::invalid_argument(
      "nothing to run is given; give a job file, or the tasks' command after --, for example "
      "gangrun run -r worker:4 -- python3 train.py");
}

Result<job::JobSpec> read_job(const RunOptions& options, const std::string& folder,
                              const jobfile::RulesOfPlaces& places,
                              std::vector<std::string>* without_use, jobfile::Sources* sources) {
  GANGRUN_TRY(check_anything_is_given(options));
  RunOptions read = options;
  GANGRUN_TRY(read_spec_text(read, folder));
  const auto job_file = [&](jobfile::JobDraft defaults) -> Result<jobfile::JobDraft> {
    if (options.spec_path.empty()) return defaults;
    return read_draft(*read.spec_text, in_folder(folder, options.spec_path), places.sections(),
                      std::move(defaults));
  };
  const jobfile::Defaults facts{.spec_path = options.spec_path,
                                .places = &places,
                                .without_use = without_use,
                                .sources = sources};
  using Files = std::vector<jobfile::DefaultFile>;
  auto spec =
      jobfile::build_over(options.defaults.value_or(Files()), job_file, options.flags, facts);
  if (!spec.ok()) return as_bad_input(spec.error());
  const auto served = frameworks::check(*spec);
  if (!served.ok()) return as_bad_input(served.error());
  // Other hosts would only say so when they are logged in to.
  const auto wanted = net::check_wanted(spec->interface);
  if (!wanted.ok()) return as_bad_input(wanted.error().context("interface"));
  return spec;
}

Result<> check_files(const job::JobSpec& spec, const std::string& folder, bool are_brought) {
  const auto is_there = [&folder](const std::string& path) {
    std::error_code ignored;
    return std::filesystem::exists(in_folder(folder, path), ignored);
  };
  for (const std::string& file : spec.files) {
    if (jobfile::is_cluster_url(file)) continue;
    const jobfile::LocalFile named = jobfile::split_name(file);
    const bool is_renamed = !named.name.empty() && !is_there(file);
    GANGRUN_TRY(check_file("files", is_renamed ? named.path : file, folder));
    // If nothing is brought, nothing gets another name.
    if (!is_renamed || are_brought || is_there(named.name)) continue;
    return base::invalid_argument(base::format(
        "files: {}: tasks work in your own folder here, where nothing is put for them, and it has "
        "no {}; allowed: a name that is there",
        path_in_quotes(file), path_in_quotes(named.name)));
  }
  for (const job::TaskSpec& task : spec.tasks) {
    for (const auto& [name, path] : spec.archives_of(task)) {
      if (jobfile::is_cluster_url(path)) continue;
      GANGRUN_TRY(check_file(base::format("archives.{}", name), path, folder));
    }
  }
  return {};
}

Result<net::ChosenAddress> host_for_tasks(const job::JobSpec& spec,
                                          const std::optional<std::string>& wanted,
                                          base::Instant deadline) {
  // For hosts it is their own interface, which check_hosts_of() checks.
  const bool by_interface = !spec.interface.empty() && spec.hosts.empty();
  if (by_interface && wanted) {
    return base::invalid_argument(
        base::format("--host: {} and interface {} are both given; allowed: one of them",
                     job::in_quotes(*wanted), job::in_quotes(spec.interface)));
  }
  if (by_interface) {
    auto chosen = net::choose_address(net::interface_addresses(), spec.interface);
    if (!chosen.ok()) return as_bad_input(chosen.error().context("interface"));
    return chosen;
  }
  if (!wanted) {
    return net::ChosenAddress{std::string(kOwnAddress), std::string(host::kDefaultAddressReason)};
  }
  const auto addresses = net::resolve(*wanted, deadline);
  if (!addresses.ok()) {
    return base::invalid_argument(base::format("--host: {}", addresses.error().message));
  }
  const std::vector<std::string> own = net::local_addresses();
  const bool is_ours = std::any_of(addresses->begin(), addresses->end(), [&](const auto& address) {
    return net::is_loopback_address(address) ||
           std::find(own.begin(), own.end(), address) != own.end();
  });
  if (is_ours) return net::ChosenAddress{*wanted, "as --host says"};
  return base::invalid_argument(
      base::format("--host: {} is {}, which is not this machine; allowed: a name or address of "
                   "this machine ({})",
                   job::in_quotes(*wanted), addresses->front(), base::join(own, ", ")));
}

}  // namespace gangrun::client
