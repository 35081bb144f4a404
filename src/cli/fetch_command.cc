#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/described_json.h"
#include "base/format.h"
#include "base/json.h"
#include "base/sizes.h"
#include "base/strings.h"
#include "base/terminal_text.h"
#include "cli/commands.h"
#include "cli/fetched_outputs.h"
#include "client/place.h"
#include "client/prepare.h"
#include "client/removal.h"
#include "client/sites.h"
#include "client/transfer_progress.h"
#include "host/job_folder.h"
#include "host/local_site.h"

namespace gangrun::cli {

namespace {

struct FetchOptions {
  std::string job;
  std::optional<std::string> to;
  std::string task;
  bool json = false;
};

// All that there is to list, and what came of it just now from hosts that had kept it.
struct Found {
  std::string folder;
  std::optional<job::JobSpec> spec{};  // none: of a job that its place knows, or without a record
  std::vector<client::BroughtRest> rests{};
  base::Result<> record{};  // of the job, if it cannot be read: there may be more than is listed
  bool goes_on = false;     // the job: its end brings what hosts have
};

// The object of --json.
struct Fetched {
  std::vector<FetchedOutput> outputs;
  std::string folder;
  std::vector<client::BroughtRest> hosts;

  GANGRUN_ROWS(Fetched, outputs, folder, hosts);
};

// The folder of the outputs, once those that were elsewhere have been brought.
base::Result<Found> find_outputs(const FetchOptions& options, client::Context& context) {
  GANGRUN_ASSIGN(const std::string home, client::home_of(context));
  using client::TransferProgress;
  TransferProgress progress(context.console, "bring",
                            TransferProgress::form_for(context.console, options.json));
  if (const client::Place* place = context.places.with_job(options.job, context)) {
    GANGRUN_ASSIGN(const auto job, client::find_job(context, options.job));
    std::string folder = client::brought_folder(home, job->id());
    GANGRUN_TRY(place->jobs->fetch({{job->id()}, options.task, folder, progress}, context));
    return Found{std::move(folder)};
  }
  GANGRUN_ASSIGN(const auto job, client::find_job(context, options.job));
  const host::JobPaths paths = host::paths_of(home, job->id());
  const auto status = job->status();
  Found found{paths.outputs()};
  if (!status.ok()) found.record = status.error();
  auto spec = host::stored_spec(paths, context.places.rules().sections());
  if (spec.ok()) {
    found.spec = *std::move(spec);
    GANGRUN_TRY(check_fetched_name(*found.spec, options.task));
  }
  GANGRUN_ASSIGN(found.goes_on, client::goes_on(context, paths, status));
  if (found.goes_on) return found;
  if (!found.spec) return spec.error();
  if (const client::Place* place = context.places.find(found.spec->on)) {
    GANGRUN_ASSIGN(
        found.rests,
        place->jobs->fetch(
            {{job->id(), &*found.spec, &paths}, options.task, found.folder, progress}, context));
  }
  return found;
}

std::string nothing_words(const Found& found) {
  if (found.goes_on) return "No outputs of this job have been fetched yet: it has not ended.\n";
  if (!found.spec) return "No outputs of this job have been fetched yet.\n";
  return "No outputs of this job are here, nor on its hosts: what tasks write in your own folder, "
         "or in one that hosts share with it, stays there.\n";
}

// Says what came, and what did not, which is the error.
base::Result<> tell_rests(const std::vector<client::BroughtRest>& rests, bool json,
                          client::Context& context) {
  std::vector<std::string> failures;
  for (const client::BroughtRest& rest : rests) {
    if (!rest.failure.empty()) failures.push_back(rest.failure);
    if (!json && !rest.remark.empty()) {
      context.console.err(base::harmless_sentence(base::format("gangrun: {}", rest.remark)) + "\n");
    }
    if (json || rest.files == 0) continue;
    context.console.err(
        base::format("gangrun: {} ({}) {} come from host {}, {}\n",
                     base::count_text(static_cast<std::int64_t>(rest.files), "file"),
                     base::size_text(rest.bytes), rest.files == 1 ? "has" : "have", rest.host,
                     rest.failure.empty() ? "which keeps nothing more to bring" : "but not all"));
  }
  if (failures.empty()) return {};
  return base::unavailable(base::format(
      "{}{}", failures.front(),
      failures.size() == 1 ? "" : base::format(" (and {} more hosts)", failures.size() - 1)));
}

base::Result<std::vector<FetchedOutput>> chosen_outputs(const Found& found,
                                                        const FetchOptions& options) {
  GANGRUN_ASSIGN(auto outputs, fetched_outputs(found.folder));
  if (options.task.empty()) return outputs;
  std::string wanted = options.task;
  const auto is_wanted = [&](const FetchedOutput& output) { return output.task == wanted; };
  if (std::none_of(outputs.begin(), outputs.end(), is_wanted)) {
    // The name of a known job was checked before.
    if (!found.spec) GANGRUN_TRY(job::parse_task_id(options.task));
    wanted = client::folder_of_task(options.task);
  }
  std::erase_if(outputs, [&](const FetchedOutput& output) { return output.task != wanted; });
  return outputs;
}

base::Result<client::ExitStatus> fetch(const FetchOptions& options, client::Context& context) {
  GANGRUN_ASSIGN(const Found found, find_outputs(options, context));
  const std::string& folder = found.folder;
  const auto chosen = chosen_outputs(found, options);
  if (!chosen.ok()) {
    // If nothing is there of a host, the reason is in what the host said.
    GANGRUN_TRY(tell_rests(found.rests, options.json, context));
    return chosen.error();
  }
  const std::vector<FetchedOutput>& outputs = *chosen;
  const std::string to = options.to ? client::in_folder(context.folder, *options.to) : folder;
  for (const FetchedOutput& output : outputs) {
    if (options.to) GANGRUN_TRY(copy_output(folder, output, to));
    if (options.json) continue;
    // Names that tasks have given.
    context.console.out(base::harmless_sentence(base::format(
                            "{}/{}/{}  {}, {}", to, output.task, output.name,
                            base::count_text(static_cast<std::int64_t>(output.files), "file"),
                            base::size_text(output.bytes))) +
                        "\n");
  }
  if (options.json) {
    context.console.out(base::dump_json(base::to_json(Fetched{outputs, to, found.rests})) + "\n");
  } else if (outputs.empty()) {
    context.console.out(nothing_words(found));
  } else if (found.goes_on) {
    context.console.err("gangrun: the job has not ended: more outputs may come\n");
  }
  GANGRUN_TRY(tell_rests(found.rests, options.json, context));
  GANGRUN_TRY(found.record);
  return client::ExitStatus::kSuccess;
}

}  // namespace

client::Command fetch_command() {
  const auto options = std::make_shared<FetchOptions>();
  return {
      .name = "fetch",
      .summary = "List the fetched outputs of a job's tasks, or copy them.",
      .words = {job_word(options->job), {"TASK", &options->task}},
      .flags =
          {{"--to", &options->to, "FOLDER",
            "Copy to this folder, one folder for each task; existing files are not overwritten"},
           {"--json", &options->json, "", "Print the list as one JSON object"}},
      .footer =
          "Outputs are files that tasks have written where they are removed with the job: in pods, "
          "on hosts\nthat ssh reaches, and in containers of YARN. They are fetched before that. "
          "What is on HDFS, or was\nleft on a host of ssh because it was over outputs_limit or "
          "could not be brought, is brought now.\nJOB is an id, the unambiguous beginning of one, "
          "or last; without it, the last one. TASK is like\nworker:0, or a host after JOB.\n\n"
          "Example:\n  gangrun fetch worker:0 --to results\n",
      .action = acts(options, fetch)};
}

}  // namespace gangrun::cli
