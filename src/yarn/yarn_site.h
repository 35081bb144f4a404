#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "cluster/far_file.h"
#include "cluster/site.h"
#include "hadoop/account.h"
#include "hadoop/configuration.h"
#include "hadoop/records.h"
#include "hadoop/resource_manager.h"
#include "hadoop/web_hdfs.h"
#include "net/client.h"
#include "yarn/job_access.h"

namespace gangrun::yarn {

// How long one question to the cluster, or to a job's master, may take.
inline constexpr std::chrono::seconds kQuestionTimeout{10};
// YARN tells nobody of a change: so often it is asked.
inline constexpr std::chrono::milliseconds kLookAtYarn{300};

// A cluster as its clients see it, from any machine with its configuration.
class ClusterClients {
 public:
  ClusterClients(hadoop::Configuration of_cluster, hadoop::FileSystem file_system,
                 hadoop::Account of_user, const base::Clock& time);

  base::Result<YarnPaths> paths();
  [[nodiscard]] base::Instant now() const { return clock.now(); }
  // By then one question to the cluster is answered.
  [[nodiscard]] base::Instant soon() const { return clock.now() + kQuestionTimeout; }

  const hadoop::Configuration configuration;
  const base::Clock& clock;
  const hadoop::Account account;
  hadoop::ResourceManagerClient resource_manager;
  hadoop::WebHdfs files;

 private:
  std::string home_;
};

// A job on a YARN cluster.
class YarnJob final : public cluster::Job {
 public:
  YarnJob(hadoop::ApplicationId id, std::shared_ptr<ClusterClients> cluster)
      : id_(id), cluster_(std::move(cluster)) {}

  [[nodiscard]] std::string id() const override { return hadoop::to_string(id_); }
  base::Result<job::JobStatus> status() override;
  base::Result<std::unique_ptr<cluster::LogReader>> logs(
      const cluster::LogRequest& request) override;
  base::Result<job::ClusterSpec> cluster_spec(int generation, base::Instant deadline) override;
  base::Result<> stop(bool at_once, const std::string& by) override;
  base::Result<cluster::Answer> ask(const cluster::Question& question) override;
  base::Result<std::vector<cluster::TaskResult>> results() override;
  base::Result<> read_result(const job::TaskId& task, const cluster::ResultSink& sink) override;
  base::Result<> wait_for_change(base::Instant deadline) override;
  base::Result<> wait_for_cluster(base::Instant deadline) override;

  // The further questions of its commands.

  // The status of one that has ended.
  base::Result<job::JobStatus> ended_status(const hadoop::ApplicationReport& report);
  // kPermissionDenied where the job is another user's: of a running one, YARN alone is heard.
  base::Result<> check_is_own();
  // kFailedPrecondition where it has not ended, kPermissionDenied where it is another user's.
  base::Result<> check_has_ended();
  // All files that tasks have left as their outputs, or those of one task ("worker-0").
  base::Result<std::vector<cluster::FarFile>> outputs(const std::string& task);
  // One of them, piece by piece. An error of the sink is passed on.
  base::Result<> read_output(const cluster::FarFile& output, const cluster::ResultSink& sink);
  // Takes away all that the file system has of a job that has ended.
  base::Result<> remove();

 private:
  // The address at which a running job's master answers.
  struct Master {
    net::Endpoint endpoint;
    base::Secret secret;
  };

  base::Result<hadoop::ApplicationReport> report();
  // kUnavailable where it has none now.
  base::Result<Master> master();
  // The secret of a job of this user; kept, since it never changes.
  base::Result<const JobAccess*> access(const hadoop::ApplicationReport& report);
  // Empty where no task has left any yet.
  base::Result<std::string> results_folder();
  void clear_away(const YarnPaths& paths);
  base::Result<job::JobStatus> waiting_status(const hadoop::ApplicationReport& report);
  // "; label gpu has …" for each label that the job names; empty: none, or nobody can say.
  std::string label_words_of(const job::JobSpec& spec);
  base::Result<> wait_for_logs(hadoop::ApplicationReport report);

  const hadoop::ApplicationId id_;
  const std::shared_ptr<ClusterClients> cluster_;
  std::optional<JobAccess> access_;
  std::vector<hadoop::NodeReport> nodes_;
  std::optional<base::Instant> nodes_seen_;
};

// The jobs on a YARN cluster. A job is "application_1700000000000_0001", or "last": the user's
// newest.
class YarnSite final : public cluster::Site {
 public:
  YarnSite(hadoop::Configuration configuration, hadoop::FileSystem file_system,
           hadoop::Account account, const base::Clock& clock);

  base::Result<std::vector<cluster::ListedJob>> list() override;
  base::Result<std::unique_ptr<cluster::Job>> find(std::string_view name) override;
  // The same, with the further questions; one that is named by its id is not looked for.
  base::Result<std::unique_ptr<YarnJob>> find_job(std::string_view name);

 private:
  const std::shared_ptr<ClusterClients> cluster_;
};

// The state of a job as far as YARN itself knows it.
job::JobState state_of(const hadoop::ApplicationReport& report);
// The address at which the job's master serves commands; none: it has not registered yet.
std::optional<net::Endpoint> endpoint_of(const hadoop::ApplicationReport& report,
                                         const std::string& fingerprint);

}  // namespace gangrun::yarn
