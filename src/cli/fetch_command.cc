#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/json.h"
#include "base/terminal_text.h"
#include "cli/command_builder.h"
#include "cli/commands.h"
#include "cli/fetched_outputs.h"
#include "client/place.h"
#include "client/prepare.h"
#include "client/removal.h"
#include "client/sites.h"
#include "client/transfer_progress.h"
#include "cluster/kept/job_folder.h"

namespace gangrun::cli {

namespace {

struct FetchOptions {
  std::string job;
  std::optional<std::string> to;
  std::string task;
  bool json = false;
};

// "worker-0", of a task by either of its names.
std::string folder_of_task(const std::string& task) {
  const auto id = job::parse_task_id(task);
  return id.ok() ? base::format("{}-{}", id->type, id->index) : task;
}

// Where the outputs are, once those that were elsewhere have been brought.
base::Result<std::string> output_folder(const FetchOptions& options, client::Context& context) {
  GANGRUN_ASSIGN(const std::string home, client::home_of(context));
  using client::TransferProgress;
  TransferProgress progress(context.console, "bring",
                            TransferProgress::form_for(context.console, options.json));
  if (const client::Place* place = context.places.with_job(options.job)) {
    GANGRUN_ASSIGN(const std::string id, place->own_jobs()->id_of(options.job, context));
    std::string folder = client::brought_folder(home, id);
    GANGRUN_TRY(
        place->own_jobs()->fetch(id, folder_of_task(options.task), folder, progress, context));
    return folder;
  }
  GANGRUN_ASSIGN(const auto ids, cluster::job_ids(home));
  GANGRUN_ASSIGN(const std::string id, cluster::resolve_job(ids, options.job));
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
  GANGRUN_ASSIGN(const std::string folder, output_folder(options, context));
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
      "on hosts\nthat ssh reaches, and in containers of YARN. They are fetched before that, or "
      "are on HDFS and are\nbrought now. JOB is an id, the unambiguous beginning of one, or last; "
      "TASK is like worker:0, or a\nhost.\n\n"
      "Example:\n  gangrun fetch last worker:0 --to results\n");
  on_chosen(*command, [&request, options] {
    request.action = [options](client::Context& context) {
      const auto done = fetch(*options, context);
      return done.ok() ? client::ExitStatus::kSuccess : fail(context, done.error());
    };
  });
}

}  // namespace gangrun::cli
