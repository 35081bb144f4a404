#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/result.h"
#include "client/context.h"
#include "client/exit_status.h"
#include "client/run_options.h"
#include "cluster/fetched_files.h"
#include "job/spec.h"
#include "kubernetes/pods/manifests.h"

namespace gangrun::kubernetes::commands {

// A job for Kubernetes, with what is not in its spec.
struct KubernetesLaunch {
  job::JobSpec spec;
  std::vector<pods::CarriedFile> files{};
  std::shared_ptr<const cluster::FetchedFiles> fetched{};  // beside them; null: nothing
  pods::ManifestNames names{};
  // Makes an error speak of the options with which the job was made; none: of fields of job files.
  std::function<base::Error(base::Error)> reworded{};
};

// The files of this machine that the job's tasks are to find: all are carried, and have been read;
// or all are fetched by agents, as they are too many or too large, and have no digests yet.
struct JobFiles {
  std::vector<pods::CarriedFile> carried{};
  std::shared_ptr<const cluster::FetchedFiles> fetched{};
};
base::Result<JobFiles> job_files(const job::JobSpec& spec, const client::Context& context);

// The agents of a job that has them, as far as this machine knows them: the parts of those beside
// this very program, which are of its version, or the image that brings them.
base::Result<pods::AgentPods> agent_pods(const job::JobSpec& spec, const client::Context& context);

// Starts the job as pods with its master in this very process, shows it and waits for its end; or
// hands it to the cluster. With `dry_run` prints the manifests instead.
client::ExitStatus run_on_kubernetes(KubernetesLaunch launch, const client::RunOptions& options,
                                     client::Context& context);

}  // namespace gangrun::kubernetes::commands
