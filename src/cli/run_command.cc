#include "cli/run_command.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "base/format.h"
#include "base/json.h"
#include "cli/agent_program.h"
#include "cli/commands.h"
#include "cli/detached.h"
#include "cli/display_flags.h"
#include "cli/flags.h"
#include "cli/kubernetes_run.h"
#include "cli/login_flags.h"
#include "cli/plan.h"
#include "cli/prepare.h"
#include "cli/run_session.h"
#include "cli/yarn_run.h"
#include "job/places.h"
#include "master/open_files.h"
#include "process/levels.h"

namespace gangrun::cli {

namespace {

constexpr std::chrono::seconds kResolveTimeout(5);
// What the container engine may take to tell which images it has.
constexpr std::chrono::seconds kEngineTimeout(20);

// The level that the job wants, or the best that this host permits.
base::Result<job::Containment> containment_of(job::Containment wanted) {
  const process::Abilities abilities = process::probe_levels();
  process::Level level = process::best(abilities);
  if (wanted != job::Containment::kAuto) {
    level = *process::level_from_string(job::to_string(wanted));
  }
  const process::Ability& ability = abilities.of(level);
  if (!ability.possible) {
    return base::Error{base::Code::kFailedPrecondition,
                       base::format("containment {} is not possible on this host: {}",
                                    process::to_string(level), ability.reason)};
  }
  switch (level) {
    case process::Level::kPidNamespace: return job::Containment::kPidNamespace;
    case process::Level::kCgroup: return job::Containment::kCgroup;
    case process::Level::kSubreaper: break;
  }
  return job::Containment::kSubreaper;
}

ExitStatus show_plan(const RunPlan& run, const RunOptions& options, Context& context) {
  const Plan plan{.spec = run.spec,
                  .working_folder = context.folder,
                  .job_folder = base::format("{}/jobs/{}-<time>", run.home, run.spec.name),
                  .host = run.launch.host,
                  .containment = run.launch.containment};
  if (options.display.json) {
    const auto json = plan_json(plan);
    if (!json.ok()) return fail(context, json.error(), ExitStatus::kBadInput);
    context.console.out(base::dump_json_indented(*json) + "\n");
    return ExitStatus::kSuccess;
  }
  const auto lines = plan_lines(plan);
  if (!lines.ok()) return fail(context, lines.error(), ExitStatus::kBadInput);
  context.console.out(*lines);
  return ExitStatus::kSuccess;
}

base::Result<RunPlan> settle_input(const RunOptions& options, const Context& context) {
  RunPlan plan;
  GANGRUN_TRY(check(options.display));
  if (context.folder.empty()) {
    return base::Error{base::Code::kFailedPrecondition,
                       "the current folder, in which the tasks would run, is gone or cannot be "
                       "read; cd to another one"};
  }
  GANGRUN_ASSIGN(plan.spec, read_job(options, context.folder));
  GANGRUN_TRY(check_options_of_place(options, plan.spec));
  GANGRUN_TRY(check_files(plan.spec, context.folder));
  // On YARN the master is elsewhere.
  if (plan.spec.on != job::kYarn) GANGRUN_TRY(master::check_open_files(plan.spec));
  if (plan.spec.on == job::kYarn || plan.spec.on == job::kKubernetes) return plan;
  GANGRUN_ASSIGN(plan.home, home_of(context));
  if (plan.spec.on != job::kSpark) {
    // The driver is asked only where it matters: that may take it seconds.
    if (job::asks_for_gpus(plan.spec)) plan.launch.gpus = gpus_of_this_machine(context);
    GANGRUN_TRY(check_on_this_machine(plan.spec, this_machine(plan.launch.gpus),
                                      context.environment, context.folder));
    GANGRUN_TRY(check_images_of(plan.spec, context.environment, {context.folder, plan.home},
                                context.clock.now() + kEngineTimeout));
    GANGRUN_TRY(check_hosts_of(plan.spec, options.host));
  }
  GANGRUN_ASSIGN(auto host,
                 host_for_tasks(plan.spec, options.host, context.clock.now() + kResolveTimeout));
  plan.launch.host = std::move(host.address);
  plan.launch.host_reason = std::move(host.reason);
  plan.launch.working_folder = context.folder;
  plan.launch.serve_tls = options.serve_tls;
  if (options.port) {
    GANGRUN_ASSIGN(plan.ports, port_range_from(*options.port).context("--port"));
  }
  plan.launch.verbose = options.display.verbose;
  return plan;
}

void add_job_flags(CLI::App& command, job::Flags& flags) {
  add_list(command, "-r,--roles", flags.roles, "TYPE:N,...", "Number of tasks of each type");
  add_list(command, "-m,--memory", flags.memory, "[TASK:]SIZE",
           "Memory of each task, of each task of a type (ps:2g) or of one task (worker[0]:8g)");
  add_list(command, "-c,--vcores", flags.vcores, "[TASK:]N", "Cores, in the same three forms");
  add_list(command, "--gpus", flags.gpus, "[TASK:]N", "GPUs, in the same three forms");
  add_list(command, "--resource", flags.resources, "[TASK:]NAME=N",
           "Other resources of a cluster (yarn.io/fpga=1), in the same three forms");
  add_list(command, "--processes", flags.processes, "[TYPE:]N", "Processes (ranks) in each task");
  add_list(command, "--ports", flags.ports, "[TYPE:]N",
           "Number of ports of each task, or their names (web:http+grpc)");
  add_list(command, "--hold", flags.holds, "until-bind|until-exec",
           "How long ports are held, also for one type (web:until-exec); until-exec is for "
           "programs that set neither SO_REUSEADDR nor SO_REUSEPORT");
  add_list(command, "--min-instances", flags.min_instances, "TYPE:N",
           "Minimum number of tasks of a type needed to keep the job running");
  add_list(command, "--spares", flags.spares, "TYPE:N",
           "Idle tasks of a type that replace lost ones at once");
  add_list(command, "-e,--env", flags.env, "[TYPE:]NAME=VALUE",
           "Environment variable of all tasks, or of one type");
  add_value(command, "--framework", flags.framework, "NAME,...",
            "Framework whose variables the tasks get: tensorflow, pytorch, jax, horovod, none");
  add_value(command, "--success", flags.success, "all|TYPE", "Whose success is the job's success");
  add_list(command, "--policy", flags.policies, "TYPE:POLICY",
           "tracked, service, observer or sidecar");
  add_list(
      command, "--grace", flags.graces, "TYPE:TIME",
      "How long an observer may be idle, or a sidecar may keep running, after the other tasks");
  add_value(command, "--restarts", flags.restarts, "N[:SCOPE]",
            "Restarts after failures; scope task or gang");
  add_value(command, "--restart-pause", flags.restart_pause, "TIME[:LONGEST]",
            "Pause before a restart, doubled each time up to a maximum (1s:1min)");
  add_list(command, "--timeout", flags.timeouts, "KEY=TIME,...",
           "Time limits: allocation, hold, roll_call, job, stop, shrink, master_lost");
  add_list(command, "-f,--files", flags.files, "FILE", "A file or folder that the job needs");
  add_value(command, "--tensorboard", flags.tensorboard, "FOLDER",
            "Run TensorBoard beside the job, on this folder");
  add_list(command, "--expose", flags.exposes, "TYPE:loopback|host",
           "Who can reach TensorBoard: its own host only, or everyone who can reach that host");
  add_value(command, "--image", flags.image, "IMAGE", "The container image that the tasks run in");
  add_list(command, "--mount", flags.mounts, "PATH[:ro]",
           "Host path that containers see under the same path");
  add_list(
      command, "--zookeeper", flags.zookeeper, "HOST[:PORT],...",
      "Publish the tasks' addresses in this ZooKeeper, in the layout of YARN's service registry");
  add_value(command, "--name", flags.name, "NAME", "The job's name");
  add_value(command, "--on", flags.on, "local|yarn|kubernetes|spark",
            "Where the tasks run: this machine, the YARN cluster of HADOOP_CONF_DIR, the "
            "Kubernetes cluster of the kubeconfig (also: k8s), or Spark executors (only through "
            "the Python package)");
  add_list(command, "--hosts", flags.hosts, "NAME[:SLOTS],...",
           "Network namespaces that the tasks run in, and how many tasks in each");
  add_value(command, "--interface", flags.interface, "NAME",
            "The interface (eth0) or network (10.0.0.0/8, fd00::/8) of the tasks' addresses");
  add_value(command, "--containment", flags.containment, "auto|pid_namespace|cgroup|subreaper",
            "How a task's processes are contained, so that none outlives it");
  add_value(command, "--stop-signal", flags.stop_signal, "SIGNAL",
            "Signal that asks tasks to stop: TERM, INT, HUP, QUIT, USR1, USR2");
  add_value(command, "--stop-signal-to", flags.stop_signal_to, "process|group",
            "Who gets that signal: the command, or everything that it started too");
}

void add_cluster_flags(CLI::App& command, job::Flags& flags) {
  add_list(command, "--label", flags.labels, "[TYPE:]LABEL", "Node label to run on, on a cluster");
  add_list(command, "--one-per-node", flags.one_per_node, "TYPE,...",
           "At most one task of a type on each node of a cluster");
  add_value(command, "--queue", flags.queue, "NAME", "The queue on YARN, or of Kueue or Volcano");
  add_value(command, "--priority", flags.priority, "N", "Priority on YARN; higher ones run first");
  add_list(command, "--tag", flags.tags, "TAG,...", "Tag of the application on YARN");
  add_login_flags(command, flags.file_systems, flags.principal, flags.keytab, flags.as);
  add_value(command, "--master-memory", flags.master_memory, "SIZE",
            "Memory of the job's master on YARN (256m)");
  add_value(command, "--master-vcores", flags.master_vcores, "N",
            "Cores of the job's master on YARN (1)");
}

void add_kubernetes_flags(CLI::App& command, job::Flags& flags) {
  add_value(command, "-n,--namespace", flags.name_space, "NAME",
            "Namespace on Kubernetes (default: the context's)");
  add_value(command, "--context", flags.context, "NAME",
            "Context of the kubeconfig (default: the current one)");
  add_value(command, "--kubeconfig", flags.kubeconfig, "FILE",
            "Kubeconfig file, instead of KUBECONFIG or ~/.kube/config");
  add_flag(command, "--insecure", flags.insecure,
           "Accept a kubeconfig that turns off the verification of the API server");
  add_value(command, "--service-account", flags.service_account, "NAME",
            "Service account of the pods");
  add_list(command, "--node-selector", flags.node_selectors, "KEY=VALUE,...",
           "Labels that a node must have for the pods to run on it");
  add_list(command, "--image-pull-secret", flags.image_pull_secrets, "NAME,...",
           "Secret with which images are pulled");
  add_value(command, "--priority-class", flags.priority_class, "NAME",
            "Priority class of the pods");
  add_value(command, "--gang-scheduling", flags.gang_scheduling, "auto|kueue|volcano|workload|hold",
            "Gang scheduler of the pods; hold: gangrun holds them until all fit");
  add_list(command, "--output", flags.outputs, "PATH",
           "Files and folders of the tasks to keep; gangrun fetch copies them");
}

void add_run_flags(CLI::App& command, RunOptions& options) {
  add_value(command, "--host", options.host, "NAME",
            "Name or address of this machine for the tasks (default: 127.0.0.1); with --hosts, its "
            "address on their network");
  add_value(command, "--port", options.port, "N[-M]",
            "With --on spark: the port, or range of ports, on which the job waits for its tasks");
  add_flag(command, "--serve-tls", options.serve_tls,
           "Serve the job's registry to other hosts too, by TLS");
  add_flag(command, "--dry-run", options.dry_run, "Print the complete plan and start nothing");
  add_flag(command, "-d,--detach", options.detach, "Return as soon as the job has been submitted");
  add_display_flags(command, options.display);
}

}  // namespace

ExitStatus run(const RunOptions& options, Context& context) {
  auto plan = settle_input(options, context);
  if (!plan.ok()) return fail(context, plan.error(), ExitStatus::kBadInput);
  if (plan->spec.on == job::kYarn) return run_on_yarn(plan->spec, options, context);
  if (plan->spec.on == job::kKubernetes) {
    return run_on_kubernetes({.spec = std::move(plan->spec)}, options, context);
  }
  // On Spark each task's own host decides.
  const auto containment = plan->spec.on == job::kSpark
                               ? base::Result<job::Containment>(plan->spec.containment)
                               : containment_of(plan->spec.containment);
  if (!containment.ok()) return fail(context, containment.error(), ExitStatus::kCouldNotStart);
  plan->launch.containment = *containment;
  if (options.dry_run) return show_plan(*plan, options, context);
  if (plan->spec.on == job::kSpark) return run_job(std::move(*plan), options, context);
  auto agent = find_agent_of_this_version(context);
  if (!agent.ok()) return fail(context, agent.error(), ExitStatus::kCouldNotStart);
  plan->launch.agent_program = std::move(*agent);
  if (options.detach) return run_detached(*plan, options, context);
  return run_job(std::move(*plan), options, context);
}

void add_run(CLI::App& app, Request& request) {
  CLI::App* command = add_command(app, "run", "Start a job, show it, and wait for its end.");
  const auto options = std::make_shared<RunOptions>();
  add_positional(*command, "JOB.yaml", options->spec_path, false);
  add_job_flags(*command, options->flags);
  add_cluster_flags(*command, options->flags);
  add_kubernetes_flags(*command, options->flags);
  add_run_flags(*command, *options);
  add_footer(
      *command,
      "The words after -- are the command of the tasks. Flags win over the file. The command runs\n"
      "in the folder where gangrun was called; `files` in a job file are relative to that file.\n\n"
      "Examples:\n"
      "  gangrun run -r ps:2,worker:4 -m 2g -m ps:4g -- python train.py --steps 1000\n"
      "  gangrun run job.yaml --timeout job=2h\n"
      "  gangrun run --detach job.yaml && gangrun attach last\n"
      "  gangrun run job.yaml --dry-run\n");
  on_chosen(*command, [&request, options] {
    options->flags.command = request.command;
    request.action = [options](Context& context) { return run(*options, context); };
  });
}

}  // namespace gangrun::cli
