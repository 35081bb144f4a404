#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cluster/site.h"
#include "kubernetes/commands/cluster_records.h"
#include "kubernetes/commands/pod_master_job.h"

namespace gangrun::kubernetes::commands {

// The detached jobs of the cluster and the namespace to which the kubeconfig leads, whoever has
// submitted them, and those that this machine remembers, wherever they are. For one thread.
class JobsInCluster final : public cluster::Site {
 public:
  explicit JobsInCluster(JobsHere here) : here_(std::move(here)) {}

  // Remembers each of them, so that it is found by its id from now on.
  base::Result<std::vector<cluster::ListedJob>> list() override;
  base::Result<std::unique_ptr<cluster::Job>> find(std::string_view name) override;
  // The same, with the further questions. A job that is not remembered here is NAMESPACE/ID.
  base::Result<std::unique_ptr<PodMasterJob>> find_job(std::string_view name);

 private:
  base::Result<cluster::ListedJob> listed(const base::Json& config_map, const ClusterRecord& at);
  base::Result<ClusterRecord> look_for(const std::string& name_space, const std::string& id);

  const JobsHere here_;
};

// Whether `job` means one of those, and no job that is kept in this machine's folder.
bool is_in_cluster(const std::string& home, std::string_view job);

// The jobs of this machine, with those that were submitted from here to a cluster. For one thread.
class RecordedJobs final : public cluster::Site {
 public:
  RecordedJobs(JobsHere here, std::unique_ptr<cluster::Site> others)
      : here_(std::move(here)), others_(std::move(others)) {}

  base::Result<std::vector<cluster::ListedJob>> list() override;
  base::Result<std::unique_ptr<cluster::Job>> find(std::string_view name) override;

 private:
  const JobsHere here_;
  const std::unique_ptr<cluster::Site> others_;
};

}  // namespace gangrun::kubernetes::commands
