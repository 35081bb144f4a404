#pragma once

#include <optional>
#include <vector>

#include "frameworks/environment.h"
#include "frameworks/places.h"
#include "job/spec.h"
#include "job/task_id.h"

// One function for each family of variables. None of them knows of the others.
namespace gangrun::frameworks {

// The input from which they are all computed.
struct Place {
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
Variables tensorflow_variables(const Place& place);

// DTF_{TYPE}_HOSTS, DTF_TASK_JOB_NAME and DTF_TASK_INDEX, as ytf-submit sets them.
Variables ytf_submit_variables(const Place& place);

// WORKER_NUMBER and TOT_WORKERS of a worker, as tf-spawner sets them.
Variables tf_spawner_variables(const Place& place);

// As torchrun sets them; nothing for a task without a rank.
Variables pytorch_variables(const Place& place);

// The coordinator's address and the ranks, by names that say so; nothing for a task without a rank.
Variables jax_variables(const Place& place);
// The variables for which jax.distributed.initialize() looks when it is called without arguments:
// it knows only other launchers, so these are the names of one of them. Programs that use MPI would
// take them for real. Nothing for a task without a rank.
Variables jax_detected_variables(const Place& place);

// As `horovodrun --gloo` sets them; nothing for a task without a rank.
Variables horovod_variables(const Place& place);

}  // namespace gangrun::frameworks
