#pragma once

#include <map>
#include <string>
#include <utility>

#include "kubernetes/pods/kubernetes_rules.h"
#include "kubernetes/pods/manifests.h"

// Jobs for the tests of this room.
namespace gangrun::kubernetes::pods::test {

inline job::TaskSpec tasks_of(const std::string& type, int instances) {
  job::TaskSpec task;
  task.type = type;
  task.instances = instances;
  task.policy = job::default_policy(type);
  return task;
}

// A job of two workers that runs "python train.py" in an image.
inline ManifestInput wine_job() {
  ManifestInput input;
  input.spec.name = "wine";
  input.spec.on = kKubernetes;
  input.spec.image = "tf:2.15";
  input.spec.command.words = {"python", "train.py"};
  input.spec.tasks = {tasks_of("worker", 2)};
  input.spec.success = "all";
  input.job_id = "wine-20260131-120000-3fa1";
  input.name_space = "lab";
  return input;
}

inline PodRun run_with(std::map<std::string, std::string> environment) {
  PodRun run;
  run.attempt = 3;
  run.environment = [variables = std::move(environment)] { return variables; };
  return run;
}

inline Owner wine_owner() { return {"wine-20260131-120000-3fa1-owner", "u-1"}; }

}  // namespace gangrun::kubernetes::pods::test
