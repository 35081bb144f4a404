#pragma once

#include <map>
#include <vector>

#include "base/json.h"
#include "job/status.h"
#include "kubernetes/pods/manifests.h"
#include "kubernetes/pods/pod_facts.h"

// The state of a job that no client leads: its pods alone tell.
namespace gangrun::kubernetes::pods {

using PodsByTask = std::map<job::TaskId, PodFacts>;

// Picks the pods of the job's tasks from those that the API server lists.
PodsByTask pods_by_task(const Manifests& manifests, const std::vector<base::Json>& pods);

// The job before any of its pods was seen.
job::JobStatus unseen_status(const Manifests& manifests);

// The job by its pods, which all have been made: a task without one has lost it. Nothing is
// answered: the first failure decides, unless the job had succeeded before. What runs on in spite
// of a verdict is told in `notes`.
job::JobStatus detached_status(const Manifests& manifests, const PodsByTask& pods);

// The job after somebody had decided its end: the verdict of `decided`, with what has become of its
// tasks since.
job::JobStatus after_verdict(job::JobStatus decided, const Manifests& manifests,
                             const PodsByTask& pods);

// The job after somebody asked for its end: stopping as long as there are pods, then killed. `last`
// is what it was before.
job::JobStatus after_stop(job::JobStatus last, const std::string& by, const Manifests& manifests,
                          const PodsByTask& pods);

// Whether no task of it runs or is still to run.
bool has_settled(const job::JobStatus& status);

}  // namespace gangrun::kubernetes::pods
