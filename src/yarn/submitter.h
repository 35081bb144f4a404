#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "hadoop/account.h"
#include "hadoop/configuration.h"
#include "hadoop/records.h"
#include "hadoop/resource_manager.h"
#include "hadoop/web_hdfs.h"
#include "job/spec.h"
#include "yarn/job_access.h"
#include "yarn/master_config.h"
#include "yarn/submission_checks.h"
#include "yarn/uploads.h"

namespace gangrun::yarn {

// One upload may take so long; everything else is a question to the cluster.
inline constexpr std::chrono::hours kUploadTimeout{2};
// From the submission until YARN has recorded it.
inline constexpr std::chrono::minutes kSubmitTimeout{1};

struct Submitting {
  job::JobSpec spec;
  jobfile::ShippedFiles files;
  std::string agent_program;
  base::WallTime submitted;
  // Set if the job brings a keytab, by which its tokens are replaced.
  std::string client_program{};  // gangrun itself
  std::string keytab{};
  std::string krb5_config{};  // KRB5_CONFIG
  mirror::ZooKeeperFiles zookeeper_files{};
  // A file with the authorities that sign the servers' certificates, in PEM form; empty: those that
  // a node trusts.
  std::string authorities{};
};

// Brings a job to YARN: looks whether it can run there, uploads what the cluster does not have yet,
// and submits it. Every call is bounded in time.
class YarnSubmitter {
 public:
  // `configuration` outlives it. `digests`: see hadoop::DigestCache.
  YarnSubmitter(const hadoop::Configuration& configuration, hadoop::FileSystem file_system,
                hadoop::Account account, const base::Clock& clock, std::string digests,
                Uploads::Progress progress);

  // The checks of the job there; kInvalidArgument if it can never run. Comes before submit().
  base::Result<> check(const job::JobSpec& spec);
  // Returns when YARN has recorded the job. On an error nothing of it is left on the cluster but
  // what other jobs can use too. From the call of `on_asked` on YARN may have it.
  base::Result<hadoop::ApplicationId> submit(
      const Submitting& job, const std::function<void(const hadoop::ApplicationId&)>& on_asked);

 private:
  base::Result<ClusterFacts> ask_resource_manager(const job::JobSpec& spec);
  base::Result<> prepare_root();
  base::Result<> add_tokens(const Submitting& job, Uploads& uploads, YarnMasterConfig& config,
                            hadoop::LaunchContext& master);
  base::Result<hadoop::Submission> prepare_submission(const Submitting& job,
                                                      const hadoop::ApplicationId& id);
  base::Result<> wait_until_recorded(const hadoop::Submission& submission);
  [[nodiscard]] base::Instant soon() const;

  const hadoop::Configuration& configuration_;
  const base::Clock& clock_;
  const hadoop::Account account_;
  const std::string digests_;
  const Uploads::Progress progress_;
  hadoop::ResourceManagerClient resource_manager_;
  hadoop::WebHdfs files_;
  // Further answers to the check: submit() needs not ask again.
  YarnPaths paths_;
  hadoop::NewApplication application_;
  std::vector<hadoop::NodeReport> nodes_;
};

}  // namespace gangrun::yarn
