#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "cluster/far_file.h"
#include "cluster/site.h"
#include "job/spec.h"
#include "job/status.h"
#include "kubernetes/commands/cluster_records.h"
#include "kubernetes/commands/cluster_way.h"
#include "kubernetes/records/head.h"
#include "wire/rest_bodies.h"

namespace gangrun::kubernetes::commands {

// How long a job whose master does not answer has for the next one, before it is ended without.
inline constexpr base::Duration kNextMaster = base::seconds(10);

// The things that the jobs of one command share.
struct JobsHere {
  std::string home;  // of the records
  const base::Clock& clock;
  // A way to the cluster of a record.
  std::function<base::Result<std::shared_ptr<ClusterWay>>(const ClusterRecord&)> way;
  base::Duration next_master = kNextMaster;
};

// A detached job whose master is a pod. For one thread at a time; it outlives its readers.
class PodMasterJob final : public cluster::Job {
 public:
  PodMasterJob(JobsHere here, ClusterRecord record)
      : here_(std::move(here)), record_(std::move(record)) {}

  [[nodiscard]] std::string id() const override { return record_.id; }
  base::Result<job::JobStatus> status() override;
  std::optional<job::JobStatus> recorded_status() override { return record_.last_seen; }
  base::Result<std::unique_ptr<cluster::LogReader>> logs(
      const cluster::LogRequest& request) override;
  base::Result<job::ClusterSpec> cluster_spec(int generation, base::Instant deadline) override;
  base::Result<> stop(bool at_once, const std::string& by) override;
  base::Result<cluster::Answer> ask(const cluster::Question& question) override;
  base::Result<std::vector<cluster::TaskResult>> results() override;
  base::Result<> read_result(const job::TaskId& task, const cluster::ResultSink& sink) override;
  base::Result<> wait_for_change(base::Instant deadline) override;

  // The further questions of its commands.

  // As status() would have it, by a head that was just listed.
  base::Result<job::JobStatus> status_by(const records::Head& head);
  // As it was seen last, where the cluster cannot be asked.
  [[nodiscard]] job::JobStatus as_of_last() const;
  // The job's description, with the way to its cluster.
  base::Result<job::JobSpec> spec();
  // kFailedPrecondition where it has not ended.
  base::Result<> check_has_ended();
  // The outputs that its master keeps, of all tasks or of one ("worker-0"). kUnavailable: no master
  // answers.
  base::Result<wire::OutputList> outputs(const std::string& task);
  base::Result<> read_output(const cluster::FarFile& file, const cluster::ResultSink& sink);
  base::Result<> remove_outputs(const std::string& task);
  // Takes away all that the cluster has of a job that has ended, and its record here.
  base::Result<> remove();

 private:
  [[nodiscard]] job::JobStatus last_seen() const;
  template <typename T>
  using Question = std::function<base::Result<T>(const net::Endpoint&, const base::Secret&)>;

  struct Looked {
    job::JobStatus status;
    bool is_settled = false;  // it will not change any more
  };

  // The record may have been written by others.
  base::Result<> read_again();
  void keep(const Looked& looked);
  base::Result<ClusterWay*> way();
  base::Result<> know_secret();
  base::Result<records::ReadHead> head();
  // kUnavailable: no master answers now. `limit`: for the answer.
  template <typename T>
  base::Result<T> ask_master(base::Duration limit, Question<T> question);
  base::Result<Looked> look(const records::Head& head);
  base::Result<Looked> without_master(const records::Head& head, const base::Error& why);
  base::Result<Looked> left(const records::Head& head);
  base::Result<job::JobStatus> when_gone();
  base::Result<> wish_stop(bool at_once, const std::string& by);
  base::Result<> end_without_master(const records::Head& head, const std::string& by);
  base::Result<wire::KeptLines> next_lines(std::int64_t from, base::Instant wait_until);
  void pause(base::Instant until);

  const JobsHere here_;
  ClusterRecord record_;
  bool is_recorded_ = false;
  std::shared_ptr<ClusterWay> way_;
  std::string pod_;                     // of the master that has answered; empty: the head tells
  std::optional<job::JobStatus> last_;  // that a master has told
};

}  // namespace gangrun::kubernetes::commands
