#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "client/context.h"
#include "client/exit_status.h"
#include "client/run_options.h"
#include "cluster/kubernetes/manifests.h"
#include "job/spec.h"

namespace gangrun::client {

// A job for Kubernetes, with what is not in its spec.
struct KubernetesLaunch {
  job::JobSpec spec;
  std::vector<cluster::CarriedFile> files{};
  cluster::ManifestNames names{};
  // Makes an error speak of the options with which the job was made; none: of fields of job files.
  std::function<base::Error(base::Error)> reworded{};
};

// The files of this machine that the job's tasks are to find, read.
base::Result<std::vector<cluster::CarriedFile>> carried_files(const job::JobSpec& spec,
                                                              const Context& context);

// Starts the job as pods with its master in this very process, shows it and waits for its end; with
// `dry_run` prints the manifests instead.
ExitStatus run_on_kubernetes(KubernetesLaunch launch, const RunOptions& options, Context& context);

}  // namespace gangrun::client
