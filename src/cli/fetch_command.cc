#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/json.h"
#include "base/strings.h"
#include "base/terminal_text.h"
#include "cli/command_builder.h"
#include "cli/commands.h"
#include "cli/fetched_outputs.h"
#include "client/place.h"
#include "client/prepare.h"
#include "cluster/kept/job_folder.h"

namespace gangrun::cli {

namespace {

struct FetchOptions {
  std::string job;
  std::optional<std::string> to;
  std::string task;
  bool json = false;
};

base::Result<std::string> output_folder(const std::string& job, const client::Context& context) {
  if (const client::Place* place = context.places.with_job(job)) {
    const auto others = context.places.names([](const client::Place& one) {
      const auto features = one.rules().features;
      return std::find(features.begin(), features.end(), job::Feature::kOutputs) != features.end();
    });
    return base::invalid_argument(base::format("JOB: '{}' {}; allowed: a job with `on: {}`", job,
                                               place->own_jobs()->why_no_outputs(),
                                               base::join(others, ", ")));
  }
  GANGRUN_ASSIGN(const std::string home, client::home_of(context));
  GANGRUN_ASSIGN(const auto ids, cluster::job_ids(home));
  GANGRUN_ASSIGN(const std::string id, cluster::resolve_job(ids, job));
  return cluster::paths_of(home, id).outputs();
}

base::Result<std::vector<FetchedOutput>> chosen_outputs(const std::string& folder,
                                                        const FetchOptions& options) {
  GANGRUN_ASSIGN(auto outputs, fetched_outputs(folder));
  if (options.task.empty()) return outputs;
  std::string wanted = options.task;
  const auto is_wanted = [&](const FetchedOutput& output) { return output.task == wanted; };
  // The files of hosts that ssh reaches have no task.
  if (std::none_of(outputs.begin(), outputs.end(), is_wanted)) {
    GANGRUN_ASSIGN(const job::TaskId task, job::parse_task_id(options.task));
    wanted = base::format("{}-{}", task.type, task.index);
  }
  std::erase_if(outputs, [&](const FetchedOutput& output) { return output.task != wanted; });
  return outputs;
}

base::Result<> fetch(const FetchOptions& options, client::Context& context) {
  GANGRUN_ASSIGN(const std::string folder, output_folder(options.job, context));
  GANGRUN_ASSIGN(const auto outputs, chosen_outputs(folder, options));
  const std::string to = options.to ? client::in_folder(context.folder, *options.to) : folder;
  for (const FetchedOutput& output : outputs) {
    if (options.to) GANGRUN_TRY(copy_output(folder, output, to));
    if (options.json) continue;
    // Names that tasks have given.
    context.console.out(base::harmless(base::format("{}/{}/{}  {} files, {} bytes", to, output.task,
                                                    output.name, output.files, output.bytes)) +
                        "\n");
  }
  if (options.json) {
    base::Json json = to_json(outputs);
    json["folder"] = to;
    context.console.out(base::dump_json(json) + "\n");
  } else if (outputs.empty()) {
    context.console.out("No outputs of this job have been fetched yet.\n");
  }
  return {};
}

}  // namespace

void add_fetch(CLI::App& app, Request& request) {
  CLI::App* command =
      add_command(app, "fetch", "List the fetched outputs of a job's tasks, or copy them.");
  const auto options = std::make_shared<FetchOptions>();
  add_positional(*command, "JOB", options->job, true);
  add_positional(*command, "TASK", options->task, false);
  add_value(*command, "--to", options->to, "FOLDER",
            "Copy to this folder, one folder for each task; existing files are not overwritten");
  add_flag(*command, "--json", options->json, "Print the list as one JSON object");
  add_footer(
      *command,
      "Outputs are files that tasks have written where they are removed with the job: in pods, "
      "and on\nhosts that ssh reaches. They are fetched before that. JOB is an id, the "
      "unambiguous beginning of\none, or last; TASK is like worker:0, or a host.\n\n"
      "Example:\n  gangrun fetch last worker:0 --to results\n");
  on_chosen(*command, [&request, options] {
    request.action = [options](client::Context& context) {
      const auto done = fetch(*options, context);
      return done.ok() ? client::ExitStatus::kSuccess : fail(context, done.error());
    };
  });
}

}  // namespace gangrun::cli
