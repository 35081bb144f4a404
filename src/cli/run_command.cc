#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "cli/command_builder.h"
#include "cli/commands.h"
#include "cli/field_flags.h"
#include "cli/run_flags.h"
#include "client/command.h"
#include "client/place.h"
#include "client/start_job.h"
#include "job/spec_names.h"

namespace gangrun::cli {

namespace {

// Flags that say what each task is.
void add_task_flags(CLI::App& command, client::RunOptions& options, FieldFlags& fields) {
  jobfile::Flags& flags = options.flags;
  begin_group(command, "The tasks");
  add_list(command, "-r,--roles", flags.roles, "TYPE:N,...", "Number of tasks of each type");
  fields.add("memory");
  fields.add("vcores");
  fields.add("gpus");
  add_list(command, "--resource", flags.resources, "[TASK:]NAME=N",
           "Other resources of a cluster (yarn.io/fpga=1), in the same three forms");
  fields.add("processes");
  add_list(command, "--ports", flags.ports, "[TYPE:]N",
           "Number of ports of each task, or their names (web:http+grpc)");
  fields.add("ports.hold");
  add_list(command, "-e,--env", flags.env, "[TYPE:]NAME[=VALUE]",
           "Environment variable of all tasks, or of one type; without VALUE, as it is here");
  add_list(command, "--env-file", options.env_files, "FILE",
           "Environment variables of all tasks: a file with a line NAME=VALUE or NAME for each");
  add_value(command, "--framework", flags.framework,
            base::format("{}", base::join(job::framework_names(), "|")),
            "Framework whose variables the tasks get; several with commas between them");
  fields.add_job("image");
  fields.add_job("mounts");
  add_value(command, "--tensorboard", flags.tensorboard, "FOLDER",
            "Run TensorBoard beside the job, on this folder");
  fields.add("expose");
}

void add_file_flags(CLI::App& command, FieldFlags& fields) {
  begin_group(command, "Their files");
  fields.add_job("files");
  fields.add_job("outputs");
  fields.add_job("outputs_limit");
  fields.add_job("keep_folders");
  fields.add_job("log_limit");
}

void add_end_flags(CLI::App& command, jobfile::Flags& flags, FieldFlags& fields) {
  begin_group(command, "Their end, and restarts");
  fields.add_job("success");
  fields.add("policy");
  fields.add("grace");
  add_value(command, "--restarts", flags.restarts, "N[:SCOPE]",
            "Restarts after failures; scope task or gang");
  add_value(command, "--restart-pause", flags.restart_pause, "TIME[:LONGEST]",
            "Pause before a restart, doubled each time up to a maximum (1s:1min)");
  fields.add("min_instances");
  fields.add("spares");
  add_list(command, "--timeout", flags.timeouts, "KEY=TIME,...",
           "Time limits: allocation, hold, roll_call, job, stop, shrink, master_lost");
  fields.add_job("containment");
  fields.add_job("stop_signal");
  fields.add_job("stop_signal_to");
}

void add_place_flags(CLI::App& command, client::RunOptions& options, FieldFlags& fields,
                     const client::Places& places) {
  jobfile::Flags& flags = options.flags;
  begin_group(command, "Where they run");
  fields.add_job("on");
  add_list(command, "--hosts", flags.hosts, "NAME[:SLOTS],...",
           "Network namespaces that the tasks run in, and how many tasks in each");
  fields.add_job("interface");
  add_value(command, "--host", options.host, "NAME",
            "Name or address of this machine for the tasks (default: 127.0.0.1); with --hosts, its "
            "address on their network");
  for (const client::Place& place : places.all()) {
    for (const client::OwnFlag& flag : place.launch.own_flags) {
      const std::string name(flag.name);
      add_value(command, name, options.of_place[name], std::string(flag.value),
                std::string(flag.help));
    }
  }
  add_flag(command, "--serve-tls", options.serve_tls,
           "Serve the job's registry to other hosts too, by TLS");
  add_list(
      command, "--zookeeper", flags.zookeeper, "HOST[:PORT],...",
      "Publish the tasks' addresses in this ZooKeeper, in the layout of YARN's service registry");
  fields.add("label");
  fields.add("one_per_node");
  add_value(command, "--queue", flags.queue, "NAME", "The queue on YARN, or of Kueue or Volcano");
  fields.add_others();
}

void add_command_flags(CLI::App& command, client::RunOptions& options, FieldFlags& fields) {
  begin_group(command, "This command");
  fields.add_job("name");
  add_flag(command, "--no-defaults", options.no_defaults,
           "Leave out /etc/gangrun.yaml and ~/.config/gangrun.yaml");
  add_flag(command, "--dry-run", options.dry_run, "Print the complete plan and start nothing");
  add_flag(command, "-d,--detach", options.detach, "Return as soon as the job has been submitted");
  add_flags(command, client::display_flags(options.display));
}

}  // namespace

void add_run_flags(CLI::App& command, client::RunOptions& options, const client::Places& places) {
  FieldFlags fields(command, options.flags, places.rules());
  add_task_flags(command, options, fields);
  add_file_flags(command, fields);
  add_end_flags(command, options.flags, fields);
  add_command_flags(command, options, fields);
  add_place_flags(command, options, fields, places);
}

void add_run(CLI::App& app, Request& request) {
  CLI::App* command = add_command(app, "run", "Start a job, show it, and wait for its end.");
  const auto options = std::make_shared<client::RunOptions>();
  add_positional(*command, "JOB.yaml", options->spec_path, false);
  add_run_flags(*command, *options, request.places);
  add_footer(
      *command,
      "The words after -- are the command of the tasks. Flags win over the file. The command runs\n"
      "in the folder where gangrun was called; `files` in a job file are relative to that file.\n\n"
      "Examples:\n"
      "  gangrun run -r ps:2,worker:4 -m 2g -m ps:4g -- python3 train.py --steps 1000\n"
      "  gangrun run job.yaml --timeout job=2h\n"
      "  gangrun run --detach job.yaml && gangrun attach last\n"
      "  gangrun run job.yaml --dry-run\n");
  on_chosen(*command, [&request, options] {
    options->flags.command = request.command;
    request.action = [options](client::Context& context) {
      return client::start_job(*options, context);
    };
  });
}

}  // namespace gangrun::cli
