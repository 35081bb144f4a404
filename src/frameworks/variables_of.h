#pragma once

#include <optional>
#include <vector>

#include "frameworks/environment.h"
#include "frameworks/places.h"
#include "job/spec.h"
#include "job/task_id.h"

// One function for each family of variables. None of them knows of the others.
namespace gangrun::frameworks {

// A process of a task, as one generation of the job has it: all variables are computed from it.
struct ProcessInGang {
  const Inputs& inputs;
  job::TaskId task;  // its index is the place of the task in the cluster spec
  const job::TaskSpec& spec;
  job::Address address;
  job::Policy policy = job::Policy::kTracked;  // the effective one
  int process = 0;
  int gpus = 0;  // of the task, for all its processes
  std::vector<Group> visible;
  std::optional<Ranks> ranks;
  std::vector<Group> groups;  // all of them
};

// TF_CONFIG; nothing for a sidecar, for a job that trains nothing (observers only), and for a gang
// with several processes in a task, which would all have to listen at the one address of the task.
Variables tensorflow_variables(const ProcessInGang& own);

// DTF_{TYPE}_HOSTS, DTF_TASK_JOB_NAME and DTF_TASK_INDEX, as ytf-submit sets them.
Variables ytf_submit_variables(const ProcessInGang& own);

// WORKER_NUMBER and TOT_WORKERS of a worker, as tf-spawner sets them.
Variables tf_spawner_variables(const ProcessInGang& own);

// As torchrun sets them; nothing for a task without a rank.
Variables pytorch_variables(const ProcessInGang& own);

// The coordinator's address and the ranks, by names that say so; nothing for a task without a rank.
Variables jax_variables(const ProcessInGang& own);
// The variables for which jax.distributed.initialize() looks when it is called without arguments:
// it knows only other launchers, so these are the names of one of them. Programs that use MPI would
// take them for real. Nothing for a task without a rank.
Variables jax_detected_variables(const ProcessInGang& own);

// As `horovodrun --gloo` sets them; nothing for a task without a rank.
Variables horovod_variables(const ProcessInGang& own);

}  // namespace gangrun::frameworks
