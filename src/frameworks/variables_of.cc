#include "frameworks/variables_of.h"

#include <algorithm>
#include <map>
#include <string>

#include "base/format.h"
#include "base/json.h"
#include "job/cluster_spec.h"
#include "job/units.h"

namespace gangrun::frameworks {

namespace {

constexpr auto number = [](auto value) { return std::to_string(value); };

std::string hosts_variable(const std::string& type) {
  return base::format("DTF_{}_HOSTS", job::in_variable(type));
}

// The process's part of the task's GPUs, as indexes among them; empty where they do not suffice.
std::string device_ids(int gpus, int process, int processes) {
  if (gpus < processes) return {};
  const int each = gpus / processes;
  std::string ids;
  for (int id = process * each; id < (process + 1) * each; ++id) {
    ids += base::format("{}{}", ids.empty() ? "" : ",", id);
  }
  return ids;
}

// Horovod's own limit for ranks that come late is 30 s, less than a cold import may take on a busy
// machine. Whether a task is still alive is our affair.
constexpr int kTimeoutSeconds = 300;

}  // namespace

Variables tensorflow_variables(const ProcessInGang& own) {
  if (own.policy == job::Policy::kSidecar) return {};
  const auto& tasks = own.inputs.job.tasks;
  const bool trains = std::any_of(tasks.begin(), tasks.end(), [](const job::TaskSpec& task) {
    return task.policy == job::Policy::kTracked;
  });
  const bool one_process_each = std::all_of(own.visible.begin(), own.visible.end(),
                                            [](const Group& g) { return g.spec->processes == 1; });
  if (!trains || !one_process_each) return {};
  // No "environment": with the value "google", Estimator would not start its server.
  const base::Json task{{"type", own.task.type}, {"index", own.task.index}};
  return {{"TF_CONFIG", base::format(R"({{"cluster":{},"task":{}}})", json_of(own.visible),
                                     base::dump_json(task))}};
}

Variables ytf_submit_variables(const ProcessInGang& own) {
  Variables variables{{"DTF_TASK_JOB_NAME", own.task.type},
                      {"DTF_TASK_INDEX", number(own.task.index)}};
  std::map<std::string, int> uses;
  for (const Group& group : own.visible) ++uses[hosts_variable(group.spec->type)];
  for (const Group& group : own.visible) {
    const std::string name = hosts_variable(group.spec->type);
    // Two types that differ in case or in '-' only: better no list than one of the wrong tasks.
    if (uses[name] == 1) variables[name] = job::comma_separated(*group.addresses);
  }
  return variables;
}

Variables tf_spawner_variables(const ProcessInGang& own) {
  if (own.task.type != "worker") return {};
  for (const Group& group : own.visible) {
    if (group.spec->type != "worker") continue;
    return {{"WORKER_NUMBER", number(own.task.index)},
            {"TOT_WORKERS", number(group.addresses->size())}};
  }
  return {};
}

Variables pytorch_variables(const ProcessInGang& own) {
  if (!own.ranks) return {};
  const Ranks& ranks = *own.ranks;
  Variables variables{
      {"MASTER_ADDR", ranks.first.host},
      {"MASTER_PORT", number(ranks.first.port)},
      {"RANK", number(ranks.rank)},
      {"WORLD_SIZE", number(ranks.world_size)},
      {"LOCAL_RANK", number(ranks.local_rank)},
      {"LOCAL_WORLD_SIZE", number(ranks.local_world_size)},
      {"GROUP_RANK", number(ranks.group_rank)},
      {"GROUP_WORLD_SIZE", number(ranks.group_world_size)},
      {"ROLE_NAME", own.task.type},
      {"ROLE_RANK", number(ranks.role_rank)},
      {"ROLE_WORLD_SIZE", number(ranks.role_world_size)},
      {"TORCHELASTIC_RESTART_COUNT", number(own.inputs.restarts)},
      {"TORCHELASTIC_MAX_RESTARTS", number(own.inputs.job.restarts.max)},
      {"TORCHELASTIC_RUN_ID", own.inputs.job_id},
      // With "True", rank 0 would look for a store at MASTER_ADDR instead of serving it there
      // itself.
      {"TORCHELASTIC_USE_AGENT_STORE", "False"},
  };
  // Several processes that each take all cores are slower than one thread each.
  if (ranks.local_world_size > 1 && !own.inputs.inherits_omp_num_threads) {
    variables.emplace("OMP_NUM_THREADS", "1");
  }
  return variables;
}

Variables jax_variables(const ProcessInGang& own) {
  if (!own.ranks) return {};
  return {{"JAX_COORDINATOR_ADDRESS", job::to_string(own.ranks->first)},
          {"JAX_NUM_PROCESSES", number(own.ranks->world_size)},
          {"JAX_PROCESS_ID", number(own.ranks->rank)}};
}

// Open MPI comes before Slurm in JAX's list, so that gangrun's ranks count in an allocation of
// Slurm too. JAX looks whether the URI is there, and takes the address from
// JAX_COORDINATOR_ADDRESS.
Variables jax_detected_variables(const ProcessInGang& own) {
  if (!own.ranks) return {};
  const Ranks& ranks = *own.ranks;
  Variables variables{
      {"OMPI_MCA_orte_hnp_uri", base::format("0.0;tcp://{}", job::to_string(ranks.first))},
      {"OMPI_COMM_WORLD_SIZE", number(ranks.world_size)},
      {"OMPI_COMM_WORLD_RANK", number(ranks.rank)},
      {"OMPI_COMM_WORLD_LOCAL_SIZE", number(ranks.local_world_size)},
      {"OMPI_COMM_WORLD_LOCAL_RANK", number(ranks.local_rank)},
  };
  // Without it a process would use the one GPU that has its local rank's number.
  const std::string ids = device_ids(own.gpus, ranks.local_rank, ranks.local_world_size);
  if (!ids.empty()) variables["JAX_LOCAL_DEVICE_IDS"] = ids;
  return variables;
}

Variables horovod_variables(const ProcessInGang& own) {
  if (!own.ranks || !own.inputs.rendezvous_port) return {};
  const Ranks& ranks = *own.ranks;
  const HostRanks hosts = host_ranks_of(ranks.rank, own.groups);
  Variables variables{{"HOROVOD_RANK", number(ranks.rank)},
                      {"HOROVOD_SIZE", number(ranks.world_size)},
                      {"HOROVOD_LOCAL_RANK", number(hosts.local_rank)},
                      {"HOROVOD_LOCAL_SIZE", number(hosts.local_size)},
                      {"HOROVOD_CROSS_RANK", number(hosts.cross_rank)},
                      {"HOROVOD_CROSS_SIZE", number(hosts.cross_size)},
                      {"HOROVOD_HOSTNAME", own.address.host},
                      {"HOROVOD_CONTROLLER", "gloo"},
                      {"HOROVOD_CPU_OPERATIONS", "gloo"},
                      {"HOROVOD_GLOO_RENDEZVOUS_ADDR", "127.0.0.1"},
                      {"HOROVOD_GLOO_RENDEZVOUS_PORT", number(*own.inputs.rendezvous_port)},
                      {"HOROVOD_GLOO_TIMEOUT_SECONDS", number(kTimeoutSeconds)}};
  if (!own.inputs.interface.empty()) {
    variables.emplace("HOROVOD_GLOO_IFACE", own.inputs.interface);
  }
  return variables;
}

}  // namespace gangrun::frameworks
