#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "cli/commands.h"
#include "client/place.h"
#include "client/start_job.h"
#include "job/spec_names.h"
#include "jobfile/task_fields.h"

namespace gangrun::cli {

namespace {

using Paths = std::initializer_list<std::string_view>;

// The flags of a job, in the order in which help shows them: those of its fields, which are made
// from the fields' rows, and others.
class RunFlags {
 public:
  RunFlags(jobfile::Flags& flags, const jobfile::RulesOfPlaces& places)
      : flags_(flags), places_(places) {}

  // Those that are added from now on stand below this title.
  void begin(std::string title) { title_ = std::move(title); }
  void add(std::initializer_list<client::Flag> flags) {
    for (const client::Flag& flag : flags) {
      list_.push_back(flag);
      list_.back().group = title_;
    }
  }
  // By the paths of fields of task types ("memory"), or of the job ("timeouts.stop").
  void add_fields(Paths paths);
  void add_job_fields(Paths paths);
  // All that were not added before.
  void add_other_fields();
  [[nodiscard]] std::vector<client::Flag> take() { return std::move(list_); }

 private:
  void add_if_any(const std::optional<client::Flag>& flag) {
    if (flag) add({*flag});
  }

  jobfile::Flags& flags_;
  const jobfile::RulesOfPlaces& places_;
  std::string title_;
  std::vector<client::Flag> list_;
};

void RunFlags::add_fields(Paths paths) {
  for (const std::string_view path : paths) {
    for (const jobfile::TaskField& field : jobfile::plain_task_fields()) {
      if (field.path == path) add_if_any(client::flag_of(field, flags_));
    }
  }
}

void RunFlags::add_job_fields(Paths paths) {
  for (client::Flag& flag : client::flags_of(std::span(paths), flags_, places_)) {
    add({std::move(flag)});
  }
}

void RunFlags::add_other_fields() {
  for (const jobfile::TaskField& field : jobfile::plain_task_fields()) {
    if (!flags_.fields.contains(field.path)) add_if_any(client::flag_of(field, flags_));
  }
  for (const jobfile::JobField& field : places_.job_fields()) {
    const std::string_view path = field.path;
    const std::size_t dot = path.find('.');
    if (dot != std::string_view::npos && places_.find(path.substr(0, dot)) != nullptr) {
      begin(base::format("With --on {}", path.substr(0, dot)));
    }
    const bool is_there = flags_.job_fields.contains(field.path) ||
                          flags_.job_lists.contains(field.path) ||
                          flags_.job_switches.contains(field.path);
    if (!is_there) add_if_any(client::flag_of(field, flags_, places_));
  }
}

// Flags that say what each task is.
void add_task_flags(RunFlags& list, client::RunOptions& options) {
  jobfile::Flags& flags = options.flags;
  list.begin("The tasks");
  list.add({{"-r,--roles", &flags.roles, "TYPE:N,...", "Number of tasks of each type"}});
  list.add_fields({"memory", "vcores", "gpus"});
  list.add({{"--resource", &flags.resources, "[TASK:]NAME=N",
             "Other resources of a cluster (yarn.io/fpga=1), in the same three forms"}});
  list.add_fields({"processes"});
  list.add({{"--ports", &flags.ports, "[TYPE:]N",
             "Number of ports of each task, or their names (web:http+grpc)"}});
  list.add_fields({"ports.hold"});
  list.add({{"-e,--env", &flags.env, "[TYPE:]NAME[=VALUE]",
             "Environment variable of all tasks, or of one type; without VALUE, as it is here"},
            {"--env-file", &options.env_files, "FILE",
             "Environment variables of all tasks: a file with a line NAME=VALUE or NAME for each"},
            {"--framework", &flags.framework,
             base::format("{}", base::join(job::framework_names(), "|")),
             "Framework whose variables the tasks get; several with commas between them"}});
  list.add_job_fields({"image", "mounts"});
  list.add({{"--tensorboard", &flags.tensorboard, "FOLDER",
             "Run TensorBoard beside the job, on this folder"}});
  list.add_fields({"expose"});
}

void add_end_flags(RunFlags& list, jobfile::Flags& flags) {
  list.begin("Their end, and restarts");
  list.add_job_fields({"success"});
  list.add_fields({"policy", "grace"});
  list.add(
      {{"--restarts", &flags.restarts, "N[:SCOPE]", "Restarts after failures; scope task or gang"},
       {"--restart-pause", &flags.restart_pause, "TIME[:LONGEST]",
        "Pause before a restart, doubled each time up to a maximum (1s:1min)"}});
  list.add_fields({"min_instances", "spares"});
  list.add({{"--timeout", &flags.timeouts, "KEY=TIME,...",
             "Time limits: allocation, hold, roll_call, job, stop, shrink, master_lost"}});
  list.add_job_fields({"containment", "stop_signal", "stop_signal_to"});
}

void add_place_flags(RunFlags& list, client::RunOptions& options, const client::Places& places) {
  jobfile::Flags& flags = options.flags;
  list.begin("Where they run");
  list.add_job_fields({"on"});
  list.add({{"--hosts", &flags.hosts, "NAME[:SLOTS],...",
             "Network namespaces that the tasks run in, and how many tasks in each"}});
  list.add_job_fields({"interface"});
  for (client::Flag& flag : places.own_flags(options)) list.add({std::move(flag)});
  list.add({{"--zookeeper", &flags.zookeeper, "HOST[:PORT],...",
             "Publish the tasks' addresses in this ZooKeeper, in the layout of YARN's service "
             "registry"}});
  list.add_fields({"label", "one_per_node"});
  list.add({{"--queue", &flags.queue, "NAME", "The queue on YARN, or of Kueue or Volcano"}});
  list.add_other_fields();
}

}  // namespace

std::vector<client::Flag> run_flags(client::RunOptions& options, const client::Places& places) {
  RunFlags list(options.flags, places.rules());
  add_task_flags(list, options);
  list.begin("Their files");
  list.add_job_fields({"files", "outputs", "outputs_limit", "keep_folders", "log_limit"});
  add_end_flags(list, options.flags);
  list.begin("This command");
  list.add_job_fields({"name"});
  list.add({{"--no-defaults", &options.no_defaults, "",
             "Leave out /etc/gangrun.yaml and ~/.config/gangrun.yaml"},
            {"--dry-run", &options.dry_run, "", "Print the complete plan and start nothing"},
            {"-d,--detach", &options.detach, "", "Return as soon as the job has been submitted"}});
  for (client::Flag& flag : client::display_flags(options.display)) list.add({std::move(flag)});
  add_place_flags(list, options, places);
  return list.take();
}

client::Command run_command(const client::Places& places) {
  const auto options = std::make_shared<client::RunOptions>();
  return {.name = "run",
          .summary = "Start a job, show it, and wait for its end.",
          .words = {{"JOB.yaml", &options->spec_path}},
          .rest = &options->flags.command,
          .flags = run_flags(*options, places),
          .footer =
              "The words after -- are the command of the tasks. Flags win over the file. The "
              "command runs\n"
              "in the folder where gangrun was called; `files` in a job file are relative to that "
              "file.\n\n"
              "Examples:\n"
              "  gangrun run -r ps:2,worker:4 -m 2g -m ps:4g -- python3 train.py --steps 1000\n"
              "  gangrun run job.yaml --timeout job=2h\n"
              "  gangrun run --detach job.yaml && gangrun attach last\n"
              "  gangrun run job.yaml --dry-run\n",
          .action = [options](client::Context& context) {
            return client::start_job(*options, context);
          }};
}

}  // namespace gangrun::cli
