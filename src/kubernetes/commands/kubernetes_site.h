#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/context.h"
#include "cluster/site.h"
#include "kubernetes/commands/pods_record.h"

namespace gangrun::kubernetes::commands {

// The jobs of this machine, those on Kubernetes among them that no client leads: their pods are
// asked, and what was seen last is kept in the job's folder. All others are left to `others`. For
// one thread; `context` outlives it.
class KubernetesSite final : public cluster::Site {
 public:
  KubernetesSite(std::string home, const client::Context& context,
                 std::unique_ptr<cluster::Site> others)
      : home_(std::move(home)), context_(context), others_(std::move(others)) {}

  base::Result<std::vector<cluster::ListedJob>> list() override;
  base::Result<job::JobStatus> status(std::string_view job) override;
  base::Result<std::unique_ptr<cluster::LogReader>> logs(
      std::string_view job, const cluster::LogRequest& request) override;
  base::Result<job::ClusterSpec> cluster_spec(std::string_view job, int generation,
                                              base::Instant deadline) override;
  base::Result<> stop(std::string_view job, bool at_once, const std::string& by) override;
  base::Result<cluster::Answer> ask(std::string_view job,
                                    const cluster::Question& question) override;
  base::Result<std::vector<cluster::TaskResult>> results(std::string_view job) override;
  base::Result<> read_result(std::string_view job, const job::TaskId& task,
                             const cluster::ResultSink& sink) override;
  base::Result<> wait_for_change(std::string_view job, base::Instant deadline) override;

 private:
  struct Found {
    host::JobPaths paths;
    PodsRecord record;
  };
  // None: the job is none of those.
  base::Result<std::optional<Found>> find(std::string_view job);
  base::Result<PodsWay*> way_to(const Found& found);
  base::Result<job::JobStatus> look(Found& found);
  job::JobStatus as_of_last(const Found& found, const std::string& trouble) const;

  std::string home_;
  const client::Context& context_;
  std::unique_ptr<cluster::Site> others_;
  // The way to the job of the last request.
  std::string way_folder_;
  std::unique_ptr<PodsWay> way_;
};

}  // namespace gangrun::kubernetes::commands
