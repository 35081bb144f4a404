#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/format.h"
#include "cli/commands.h"
#include "client/place.h"
#include "client/prepare.h"
#include "client/run_record.h"
#include "client/start_job.h"

namespace gangrun::cli {

namespace {

struct RerunOptions {
  std::string job;
  client::RunOptions more;
};

// The job runs in the folder in which the first one was started.
base::Result<> enter(const std::string& id, const std::string& folder, client::Context& context) {
  std::error_code failed;
  std::filesystem::current_path(folder, failed);
  if (failed) {
    return base::invalid_argument(
        base::format("{} was started in {}: {}", id, folder,
                     base::from_errno(failed.value(), "it cannot be entered").message));
  }
  context.folder = folder;
  if (const auto found = context.environment.find("PWD"); found != context.environment.end()) {
    found->second = folder;
  }
  return {};
}

// Runs of the Python package have files beside their job file, which go at their end.
base::Result<> check_beside(const std::string& home, const std::string& id,
                            const client::RunRecord& record) {
  if (record.spec_path.empty() || !record.text) return {};
  const std::string path = client::in_folder(record.folder, record.spec_path);
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (record.text->find(folder) == std::string::npos) return {};
  const bool is_there = client::kind_of(folder) != jobfile::FileKind::kNone;
  // While that run goes on they are there, and would be taken from the next one.
  if (is_there && !folder.starts_with(home + "/python/")) return {};
  return base::invalid_argument(base::format(
      "{} needs files of {}, which {}; a run of the Python package removes them at its end: run "
      "again the program that called gangrun.run",
      id, folder, is_there ? "go with it" : "is gone"));
}

// Files that are gone are an error of the start itself.
void tell_changes(const std::string& id, const client::RunRecord& record,
                  const std::vector<client::RecordedFile>& now, client::Context& context) {
  for (const client::RecordedFile& file : now) {
    for (const client::RecordedFile& then : record.files) {
      if (then.path != file.path || then == file) continue;
      context.console.error(base::format(
          "{} has changed since {} was submitted; it is used as it is now", file.path, id));
    }
  }
  for (const jobfile::DefaultFile& file : record.defaults) {
    const auto text = base::read_file(file.path, job::kMaxSpecBytes);
    if (text.ok() && *text != file.text) {
      context.console.error(base::format(
          "{} has changed since {} was submitted; defaults are as they were then", file.path, id));
    }
  }
  if (record.spec_path.empty() || !record.text) return;
  const auto text =
      base::read_file(client::in_folder(record.folder, record.spec_path), job::kMaxSpecBytes);
  if (text.ok() && *text != *record.text) {
    context.console.error(base::format(
        "{} has changed since {} was submitted; the job is as it was then", record.spec_path, id));
  }
}

base::Result<client::ExitStatus> rerun(const RerunOptions& options, client::Context& context) {
  GANGRUN_ASSIGN(const auto job, client::find_job(context, options.job));
  GANGRUN_ASSIGN(const auto status, job->status());
  const std::string& id = status.id;
  GANGRUN_ASSIGN(const std::string home, client::home_of(context));
  GANGRUN_ASSIGN(const auto record, client::kept_run(home, id));
  client::RunOptions run = client::run_options_of(record);
  client::add_options(options.more, run);
  GANGRUN_TRY(enter(id, record.folder, context));
  GANGRUN_TRY(check_beside(home, id, record));
  std::vector<client::RecordedFile> now;
  if (const auto spec = client::read_job(run, context.folder, context.places.rules()); spec.ok()) {
    now = client::files_of(*spec, context.folder);
  }
  tell_changes(id, record, now, context);
  return client::start_job(std::move(run), context);
}

}  // namespace

client::Command rerun_command(const client::Places& places) {
  const auto options = std::make_shared<RerunOptions>();
  return {
      .name = "rerun",
      .summary = "Submit a past job again, as a new job.",
      .words = {job_word(options->job)},
      .rest = &options->more.flags.command,
      .flags = run_flags(options->more, places),
      .footer =
          "The new job has the job file, the defaults, the flags, the command, the folder and the "
          "files\n"
          "of JOB; flags and words after -- win over them. A file that has changed is used as it "
          "is\n"
          "now, and that is said; one that is gone is an error. JOB is an id, the unambiguous "
          "beginning\n"
          "of one, or last; without it, the last one.\n\n"
          "Examples:\n  gangrun rerun\n  gangrun rerun wine-2026 -m 8g --dry-run\n",
      .action = acts(options, rerun)};
}

}  // namespace gangrun::cli
