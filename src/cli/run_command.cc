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
  if (plan.spec.on == job::kYarn || plan.spec.on == job::kKubernetes) return plan;
  GANGRUN_ASSIGN(plan.home, home_of(context));
  if (plan.spec.on != job::kSpark) {
    GANGRUN_TRY(check_on_this_machine(plan.spec, this_machine(context), context.environment,
                                      context.folder));
    GANGRUN_TRY(check_images_of(plan.spec, context.environment, {context.folder, plan.home},
                                context.clock.now() + kEngineTimeout));
    GANGRUN_TRY(check_hosts_of(plan.spec, options.host));
  }
  GANGRUN_ASSIGN(auto host,
                 host_for_tasks(plan.spec, options.host, context.clock.now() + kResolveTimeout));
  plan.launch.host = std::move(host.address);
  plan.launch.host_reason = std::move(host.reason);
  plan.launch.gpus = gpus_of_this_machine(context);
  plan.launch.working_folder = context.folder;
  plan.launch.serve_tls = options.serve_tls;
  if (options.port) {
    GANGRUN_ASSIGN(plan.ports, port_range_from(*options.port).context("--port"));
  }
  plan.launch.verbose = options.display.verbose;
  return plan;
}

void add_job_flags(CLI::App& command, job::Flags& flags) {
  add_list(command, "-r,--roles", flags.roles, "TYPE:N,...", "How many tasks of which types");
  add_list(command, "-m,--memory", flags.memory, "[TASK:]SIZE",
           "Memory of all tasks, of a type (ps:2g) or of one task (worker[0]:8g)");
  add_list(command, "-c,--vcores", flags.vcores, "[TASK:]N", "Cores, in the same three forms");
  add_list(command, "--gpus", flags.gpus, "[TASK:]N", "GPUs, in the same three forms");
  add_list(command, "--resource", flags.resources, "[TASK:]NAME=N",
           "What else a cluster counts (yarn.io/fpga=1), in the same three forms");
  add_list(command, "--processes", flags.processes, "[TYPE:]N", "Processes (ranks) in each task");
  add_list(command, "--ports", flags.ports, "[TYPE:]N",
           "How many ports each task gets, or their names (web:http+grpc)");
  add_list(command, "--hold", flags.holds, "until-bind|until-exec",
           "How long they are held, also of one type (web:until-exec); until-exec is for programs "
           "that bind with neither SO_REUSEADDR nor SO_REUSEPORT");
  add_list(command, "--min-instances", flags.min_instances, "TYPE:N",
           "With how many tasks of a type the job goes on when others are lost");
  add_list(command, "--spares", flags.spares, "TYPE:N",
           "Idle tasks of a type that take the places of lost ones at once");
  add_list(command, "-e,--env", flags.env, "[TYPE:]NAME=VALUE",
           "A variable of all tasks, or of a type");
  add_value(command, "--framework", flags.framework, "NAME,...",
            "Whose variables the tasks get: tensorflow, pytorch, jax, horovod, none");
  add_value(command, "--success", flags.success, "all|TYPE", "Whose success is the job's success");
  add_list(command, "--policy", flags.policies, "TYPE:POLICY",
           "tracked, service, observer or sidecar");
  add_list(command, "--grace", flags.graces, "TYPE:TIME",
           "How long an observer may be idle, or a sidecar may stay, after the others");
  add_value(command, "--restarts", flags.restarts, "N[:SCOPE]",
            "Restarts after failures; scope task or gang");
  add_value(command, "--restart-pause", flags.restart_pause, "TIME[:LONGEST]",
            "Before a restart, twice as long each time (1s:1min)");
  add_list(command, "--timeout", flags.timeouts, "KEY=TIME,...",
           "Time limits: allocation, hold, roll_call, job, stop, shrink, master_lost");
  add_list(command, "-f,--files", flags.files, "FILE", "A file or folder that the job needs");
  add_value(command, "--tensorboard", flags.tensorboard, "FOLDER",
            "Run TensorBoard beside the job, on this folder");
  add_list(command, "--expose", flags.exposes, "TYPE:loopback|host",
           "Who reaches TensorBoard: its own host only, or all who reach that");
  add_value(command, "--image", flags.image, "IMAGE", "The container image that the tasks run in");
  add_list(command, "--mount", flags.mounts, "PATH[:ro]",
           "What a container sees of its host, under the same path");
  add_list(command, "--zookeeper", flags.zookeeper, "HOST[:PORT],...",
           "Mirror the roll call in this ZooKeeper, as YARN's service registry has it");
  add_value(command, "--name", flags.name, "NAME", "The job's name");
  add_value(
      command, "--on", flags.on, "local|yarn|kubernetes|spark",
      "Where the tasks run: this machine, the YARN cluster of HADOOP_CONF_DIR, the Kubernetes "
      "cluster of the kubeconfig (also: k8s), or the executors from which the Python package "
      "brings them");
  add_list(command, "--hosts", flags.hosts, "NAME[:SLOTS],...",
           "Network namespaces that the tasks run in, and how many in each");
  add_value(command, "--interface", flags.interface, "NAME",
            "The interface (eth0) or network (10.0.0.0/8, fd00::/8) of the tasks' addresses");
  add_value(command, "--containment", flags.containment, "auto|pid_namespace|cgroup|subreaper",
            "How surely everything that a task starts ends with it");
  add_value(command, "--stop-signal", flags.stop_signal, "SIGNAL",
            "By which tasks are told to stop: TERM, INT, HUP, QUIT, USR1, USR2");
  add_value(command, "--stop-signal-to", flags.stop_signal_to, "process|group",
            "Who of a task gets it: the command, or all that it started too");
}

void add_cluster_flags(CLI::App& command, job::Flags& flags) {
  add_list(command, "--label", flags.labels, "[TYPE:]LABEL",
           "The label of a cluster's nodes to run on");
  add_list(command, "--one-per-node", flags.one_per_node, "TYPE,...",
           "Never two tasks of a type on one node of a cluster");
  add_value(command, "--queue", flags.queue, "NAME", "The queue on YARN, or of Kueue or Volcano");
  add_value(command, "--priority", flags.priority, "N",
            "The priority on YARN; a larger one goes first");
  add_list(command, "--tag", flags.tags, "TAG,...", "A tag by which the job is found on YARN");
  add_login_flags(command, flags.file_systems, flags.principal, flags.keytab, flags.as);
  add_value(command, "--master-memory", flags.master_memory, "SIZE",
            "Memory of the job's master on YARN (256m)");
  add_value(command, "--master-vcores", flags.master_vcores, "N",
            "Cores of the job's master on YARN (1)");
}

void add_kubernetes_flags(CLI::App& command, job::Flags& flags) {
  add_value(command, "-n,--namespace", flags.name_space, "NAME",
            "The namespace on Kubernetes (that of the context)");
  add_value(command, "--context", flags.context, "NAME",
            "The context of the kubeconfig (the current one)");
  add_value(command, "--kubeconfig", flags.kubeconfig, "FILE",
            "Instead of those of KUBECONFIG, or ~/.kube/config");
  add_flag(command, "--insecure", flags.insecure,
           "Let the kubeconfig say that the API server is not verified");
  add_value(command, "--service-account", flags.service_account, "NAME",
            "As whom the pods come to the API server");
  add_list(command, "--node-selector", flags.node_selectors, "KEY=VALUE,...",
           "Labels of the nodes that the pods may run on");
  add_list(command, "--image-pull-secret", flags.image_pull_secrets, "NAME,...",
           "A secret by which images are pulled");
  add_value(command, "--priority-class", flags.priority_class, "NAME",
            "The priority class of the pods");
  add_value(command, "--gang-scheduling", flags.gang_scheduling, "auto|kueue|volcano|workload|hold",
            "By what the pods are scheduled all or none; hold: by being held until all fit");
  add_list(command, "--output", flags.outputs, "PATH",
           "What is kept of the tasks' files; gangrun fetch brings it");
}

void add_run_flags(CLI::App& command, RunOptions& options) {
  add_value(command, "--host", options.host, "NAME",
            "The name of this machine that tasks tell each other (127.0.0.1); with --hosts its "
            "address as the hosts reach it");
  add_value(command, "--port", options.port, "N[-M]",
            "With --on spark: where the job listens for its tasks, a port or a range of them");
  add_flag(command, "--serve-tls", options.serve_tls,
           "Serve the job's registry to other hosts too, by TLS");
  add_flag(command, "--dry-run", options.dry_run, "Print the complete plan and start nothing");
  add_flag(command, "-d,--detach", options.detach,
           "Give the terminal back as soon as the job has been submitted");
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
  auto agent = find_agent(context);
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
