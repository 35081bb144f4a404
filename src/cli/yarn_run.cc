#include "cli/yarn_run.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/format.h"
#include "base/json.h"
#include "cli/agent_program.h"
#include "cli/commands.h"
#include "cli/hadoop_access.h"
#include "cli/plan.h"
#include "cli/yarn_session.h"
#include "cluster/yarn/submitter.h"
#include "job/shipped_files.h"

namespace gangrun::cli {

namespace {

using base::Result;

job::FileKind kind_of(const std::string& path) {
  std::error_code failed;
  const auto status = std::filesystem::status(path, failed);
  if (std::filesystem::is_directory(status)) return job::FileKind::kFolder;
  return std::filesystem::is_regular_file(status) ? job::FileKind::kFile : job::FileKind::kNone;
}

// On a terminal one line that grows, elsewhere a line for each file that is uploaded.
class UploadProgress {
 public:
  UploadProgress(Console& console, const DisplayOptions& options)
      : console_(console), shown_(!options.quiet && !options.json) {}

  void show(const std::string& name, std::uint64_t sent, std::uint64_t size) {
    if (!shown_ || size == 0) return;
    const int percent = static_cast<int>(sent * 100 / size);
    if (console_.err_is_terminal()) {
      if (percent == std::exchange(percent_, percent) && name == name_) return;
      console_.err(base::format("\rgangrun: uploads {}: {} % of {:.1f} MiB{}", name, percent,
                                static_cast<double>(size) / (1 << 20), sent >= size ? "\n" : ""));
    } else if (name != name_) {
      console_.err(base::format("gangrun: uploads {} ({:.1f} MiB)\n", name,
                                static_cast<double>(size) / (1 << 20)));
    }
    name_ = name;
  }

 private:
  Console& console_;
  bool shown_;
  std::string name_;
  int percent_ = -1;
};

Result<> show_plan(const job::JobSpec& spec, const job::ShippedFiles& files,
                   const HadoopAccess& access, const RunOptions& options, Context& context) {
  const Plan plan{.spec = spec,
                  .working_folder = "the container's",
                  .job_folder = base::format("~/.gangrun/jobs/<application> on {}",
                                             hadoop::to_string(access.file_system)),
                  .host = "as YARN calls each node",
                  .containment = job::Containment::kAuto};
  if (options.display.json) {
    GANGRUN_ASSIGN(base::Json json, plan_json(plan));
    base::Json shipped = base::Json::array();
    for (const auto& file : files.local) {
      shipped.push_back({{"name", file.name}, {"path", file.path}});
    }
    for (const auto& file : files.there)
      shipped.push_back({{"name", file.name}, {"url", file.url}});
    json["shipped"] = std::move(shipped);
    context.console.out(base::dump_json_indented(json) + "\n");
    return {};
  }
  GANGRUN_ASSIGN(Lines lines, plan_lines(plan));
  if (!files.local.empty() || !files.there.empty()) {
    lines.emplace_back("");
    lines.emplace_back("files in each task's folder");
  }
  for (const auto& file : files.local) {
    lines.emplace_back(base::format("  {}  from {}", file.name, file.path));
  }
  for (const auto& file : files.there) {
    lines.emplace_back(base::format("  {}  from {}", file.name, file.url));
  }
  context.console.out(lines);
  return {};
}

void tell_submitted(const std::string& id, const RunOptions& options, Context& context) {
  if (options.display.json) {
    return context.console.out(base::dump_json(base::Json{{"job", id}}) + "\n");
  }
  context.console.out(id + "\n");
  if (options.display.quiet) return;
  context.console.err(
      base::format("gangrun: runs on without this terminal; gangrun attach {} shows it\n", id));
}

}  // namespace

ExitStatus run_on_yarn(const job::JobSpec& spec, const RunOptions& options, Context& context) {
  auto files = job::shipped_files(spec, context.folder, kind_of);
  if (!files.ok()) return fail(context, files.error(), ExitStatus::kBadInput);
  const auto access = hadoop_access(context);
  if (!access.ok()) return fail(context, access.error(), ExitStatus::kBadInput);
  if (options.dry_run) {
    const auto shown = show_plan(spec, *files, **access, options, context);
    return shown.ok() ? ExitStatus::kSuccess : fail(context, shown.error(), ExitStatus::kBadInput);
  }
  auto agent = find_agent(context);
  if (!agent.ok()) return fail(context, agent.error(), ExitStatus::kCouldNotStart);
  UploadProgress progress(context.console, options.display);
  cluster::YarnSubmitter submitter(
      (*access)->configuration, (*access)->file_system, (*access)->user, context.clock,
      [&progress](const std::string& name, std::uint64_t sent, std::uint64_t size) {
        progress.show(name, sent, size);
      });
  const auto checked = submitter.check(spec);
  if (!checked.ok()) {
    const bool is_input = checked.error().code == base::Code::kInvalidArgument;
    return fail(context, checked.error(),
                is_input ? ExitStatus::kBadInput : ExitStatus::kCouldNotStart);
  }
  const auto id = submitter.submit({.spec = spec,
                                    .files = std::move(*files),
                                    .agent_program = std::move(*agent),
                                    .submitted = context.clock.wall_now()});
  if (!id.ok()) return fail(context, id.error(), ExitStatus::kCouldNotStart);
  const std::string text = hadoop::to_string(*id);
  if (options.detach) {
    tell_submitted(text, options, context);
    return ExitStatus::kSuccess;
  }
  return show_yarn_job(**access, text, {.ours = true, .allocation_limit = spec.timeouts.allocation},
                       options.display, context);
}

}  // namespace gangrun::cli
