#include <memory>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "cli/client_task.h"
#include "cli/command_builder.h"
#include "cli/commands.h"
#include "cli/field_flags.h"
#include "cli/input_path.h"
#include "cli/run_command.h"
#include "cli/ytf_submit.h"
#include "client/place.h"
#include "client/prepare.h"
#include "job/shipped_files.h"

namespace gangrun::cli {

namespace {

std::string script_here(const YtfOptions& options, const client::Context& context) {
  return options.script ? client::in_folder(context.folder, *options.script) : std::string();
}

base::Result<> check_paths(const YtfOptions& options, client::Context& context) {
  if (options.script) {
    const std::string path = script_here(options, context);
    GANGRUN_TRY(check_local_file("-s", *options.script, path));
  }
  if (!options.input || options.unchecked_input) return {};
  return check_input("-i", *options.input, context);
}

client::ExitStatus run_client(const YtfOptions& options, const std::string& id,
                              const job::JobSpec& spec, client::Context& context) {
  const ClientTask task{.job = id,
                        .spec = spec,
                        .script = script_here(options, context),
                        .ends_job = options.client_ends_job};
  return run_client_task(
      task, [&context, &id] { return client::site_of(context, id); }, context);
}

client::ExitStatus submit(const YtfOptions& options, client::Context& context) {
  auto run_options = run_options_of(options, context.folder);
  if (!run_options.ok()) return fail(context, run_options.error());
  const auto good = check_paths(options, context);
  if (!good.ok()) return fail(context, good.error(), client::ExitStatus::kBadInput);
  if (options.client) {
    run_options->when_submitted = [&](const std::string& id, const job::JobSpec& spec) {
      return run_client(options, id, spec, context);
    };
  }
  return run(*run_options, context);
}

void add_design_flags(CLI::App& command, YtfOptions& options) {
  add_list(command, "-r,--cluster_requirement", options.cluster_requirement, "JOB:N,...",
           "The jobs of the cluster and how many tasks each has: \"ps:2,worker:4\"");
  add_list(command, "-c,--task_vcores", options.vcores, "[JOB:]N",
           "Cores of each task (1), of those of a job (ps:2), or of one task (worker[0]:4)");
  add_list(command, "-m,--task_memory", options.memory, "[JOB:]MB",
           "Memory of each task in MB (8192), in the same three forms");
  add_value(command, "-i,--input", options.input, "PATH", "DTF_INPUT_PATH of the tasks");
  add_value(command, "-o,--output", options.output, "PATH",
            "DTF_OUTPUT_PATH of the tasks; what TensorBoard shows");
  add_value(command, "-s,--script", options.script, "FILE",
            "A file that is copied to the tasks; DTF_TASK_SCRIPT has its name");
  add_flag(command, "-t,--tensorboard", options.tensorboard,
           "Start TensorBoard on the output path, in a container of its own");
  add_value(command, "--docker_image", options.docker_image, "IMAGE",
            "Run the tasks in containers of this image");
  add_value(command, "-q,--queue", options.queue, "NAME", "The queue on YARN (default)");
  add_value(command, "-n,--name", options.name, "NAME", "The application's name (TensorFlow)");
  add_flag(command, "--client", options.client,
           "Start a task client:0 on this terminal too, outside of the cluster");
}

void add_own_flags(CLI::App& command, YtfOptions& options, const job::Places& places) {
  add_flag(command, "--client_ends_job", options.client_ends_job,
           "The end of client:0 ends the job");
  add_flag(command, "--wait", options.wait, "Show the job and wait for its end");
  add_list(command, "--file", options.files, "FILE", "A file or folder that the tasks need");
  add_list(command, "-e,--env", options.env, "[JOB:]NAME=VALUE",
           "Environment variable of all tasks, or of one job's tasks");
  add_list(command, "--mount", options.mounts, "PATH[:ro]",
           "Host paths that containers see besides input and output");
  add_list(command, "--gpus", options.gpus, "[JOB:]N", "GPUs, in the three forms of -c");
  add_list(command, "--label", options.labels, "[JOB:]LABEL", "Node label to run on");
  add_value(command, "--restarts", options.restarts, "N[:SCOPE]",
            "Restarts after failures; scope task or gang");
  add_value(command, "--registry", options.registry, "rest|zookeeper",
            "Where the cluster spec is published: by the master, or in ZooKeeper too");
  add_flag(command, "--expose_tensorboard", options.expose_tensorboard,
           "Let everyone who can reach its node reach TensorBoard");
  add_flag(command, "--unchecked_input", options.unchecked_input,
           "Do not check whether the input path can be read from here");
  FieldFlags fields(command, options.flags, places);
  for (const std::string_view path : kLoginFields) fields.add_job(path);
  add_value(command, "--on", options.on, "local|yarn", "Where the tasks run (yarn)");
  add_flag(command, "--dry-run", options.dry_run, "Print the complete plan and start nothing");
  add_flag(command, "--json", options.json, "Print JSON");
}

}  // namespace

void add_ytf_submit(CLI::App& app, Request& request) {
  CLI::App* command = add_command(app, std::string(kYtfSubmit),
                                  "Submit a TensorFlow session to YARN, as ytf-submit does.");
  const auto options = std::make_shared<YtfOptions>();
  add_positional(*command, "TASK_COMMAND", options->command, true);
  add_design_flags(*command, *options);
  add_own_flags(*command, *options, request.places.rules());
  add_footer(*command,
             "TASK_COMMAND is one word, a line for the shell of each task. The tasks find their\n"
             "place in DTF_TASK_JOB_NAME, DTF_TASK_INDEX and, for each job, DTF_{JOB}_HOSTS.\n"
             "The id of the job is printed; it runs on without this terminal.\n\n"
             "Examples:\n"
             "  ytf-submit -r \"ps:1,worker:4\" 'python3 train.py --task_index ${DTF_TASK_INDEX}'\n"
             "  ytf-submit -t -i hdfs://nn/in -o hdfs://nn/out -r ps:1,worker:2 -s train.py \\\n"
             "    'python ${DTF_TASK_SCRIPT} --data_dir ${DTF_INPUT_PATH}'\n"
             "  ytf-submit --client -r ps:1,worker:2 -s train.py 'python ${DTF_TASK_SCRIPT}'\n");
  on_chosen(*command, [&request, options] {
    request.action = [options](client::Context& context) { return submit(*options, context); };
  });
}

}  // namespace gangrun::cli
