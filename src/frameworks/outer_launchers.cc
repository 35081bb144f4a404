#include "frameworks/outer_launchers.h"

#include <algorithm>

namespace gangrun::frameworks {

namespace {

bool is_meant(std::string_view pattern, std::string_view variable) {
  if (!pattern.ends_with('*')) return pattern == variable;
  return variable.starts_with(pattern.substr(0, pattern.size() - 1));
}

}  // namespace

const std::vector<OuterLauncher>& outer_launchers() {
  static const std::vector<OuterLauncher> launchers = {
      {"TensorFlow's, ytf-submit, tf-spawner",
       {"TF_CONFIG", "DTF_*", "WORKER_NUMBER", "TOT_WORKERS"}},
      {"torchrun, DeepSpeed, Kubeflow's operators",
       {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "LOCAL_SIZE", "CROSS_RANK",
        "CROSS_SIZE", "NODE_RANK", "GROUP_RANK", "GROUP_WORLD_SIZE", "ROLE_RANK", "ROLE_WORLD_SIZE",
        "ROLE_NAME", "MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_*", "PET_*"}},
      {"JAX's",
       {"JAX_COORDINATOR_ADDRESS", "JAX_COORDINATOR_BIND_ADDRESS", "JAX_NUM_PROCESSES",
        "JAX_PROCESS_ID", "JAX_LOCAL_DEVICE_IDS", "MEGASCALE_*"}},
      {"horovodrun",
       {"HOROVOD_RANK", "HOROVOD_SIZE", "HOROVOD_LOCAL_RANK", "HOROVOD_LOCAL_SIZE",
        "HOROVOD_CROSS_RANK", "HOROVOD_CROSS_SIZE", "HOROVOD_HOSTNAME",
        "HOROVOD_GLOO_RENDEZVOUS_ADDR", "HOROVOD_GLOO_RENDEZVOUS_PORT", "HOROVOD_GLOO_IFACE",
        "HOROVOD_ELASTIC"}},
      {"mpirun, mpiexec",
       {"OMPI_COMM_WORLD_*",
        "OMPI_UNIVERSE_SIZE",
        "OMPI_APP_CTX_NUM_PROCS",
        "OMPI_FIRST_RANKS",
        "OMPI_MCA_orte_*",
        "OMPI_MCA_ess_*",
        "PRTE_*",
        "PMIX_RANK",
        "PMIX_NAMESPACE",
        "PMIX_HOSTNAME",
        "PMIX_SERVER_*",
        "PMI_RANK",
        "PMI_SIZE",
        "PMI_ID",
        "PMI_FD",
        "PMI_PORT",
        "PMI_SPAWNED",
        "PMI_LOCAL_RANK",
        "PMI_LOCAL_SIZE",
        "PMI_UNIVERSE_SIZE",
        "MPI_LOCALRANKID",
        "MPI_LOCALNRANKS",
        "MV2_COMM_WORLD_*"}},
      {"srun",
       {"SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID", "SLURM_GTIDS", "SLURM_TASK_PID",
        "SLURM_NTASKS", "SLURM_NPROCS", "SLURM_NTASKS_PER_NODE", "SLURM_TASKS_PER_NODE",
        "SLURM_STEP_*", "SLURM_STEPID", "SLURM_SRUN_COMM_*", "SLURM_LAUNCH_NODE_IPADDR"}},
      {"jsrun, flux, PALS, ALPS",
       {"JSM_NAMESPACE_*", "FLUX_TASK_RANK", "FLUX_TASK_LOCAL_ID", "PALS_RANKID",
        "PALS_LOCAL_RANKID", "PALS_NODEID", "PALS_LOCAL_SIZE", "ALPS_APP_PE"}},
      {"MXNet, XGBoost, BytePS, PaddlePaddle",
       {"DMLC_*", "BYTEPS_LOCAL_RANK", "BYTEPS_LOCAL_SIZE", "PADDLE_TRAINER*",
        "PADDLE_CURRENT_ENDPOINT", "PADDLE_MASTER", "PADDLE_NNODES", "PADDLE_RANK_IN_NODE",
        "PADDLE_LOCAL_SIZE", "PADDLE_GLOBAL_SIZE"}},
      {"TonY",
       {"CLUSTER_SPEC", "TASK_INDEX", "TASK_NUM"},
       {"JOB_NAME", "JOB_ID", "SESSION_ID", "IS_CHIEF", "DISTRIBUTED_MODE", "TB_PORT"}},
      {"Volcano", {"VC_*", "VK_TASK_INDEX"}},
  };
  return launchers;
}

bool is_of_outer_launcher(std::string_view variable,
                          const std::function<bool(std::string_view)>& is_set) {
  const auto means_it = [&](std::string_view pattern) { return is_meant(pattern, variable); };
  return std::ranges::any_of(outer_launchers(), [&](const OuterLauncher& each) {
    return std::ranges::any_of(each.variables, means_it) ||
           (std::ranges::any_of(each.beside, means_it) &&
            std::ranges::any_of(each.variables, is_set));
  });
}

}  // namespace gangrun::frameworks
