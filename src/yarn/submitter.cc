#include "yarn/submitter.h"

#include <future>
#include <utility>

#include "base/format.h"
#include "base/json.h"
#include "base/pause.h"
#include "hadoop/token_source.h"
#include "job/described.h"
#include "yarn/submission.h"
#include "yarn/task_container.h"
#include "yarn/yarn_options.h"

namespace gangrun::yarn {

namespace {

using base::Result;

constexpr std::chrono::hours kCertificateValidity(24 * 366);
// One question to the cluster.
constexpr std::chrono::seconds kAnswerTimeout(20);
// Passable, so that the nodes find what is public below it; what else is there is the user's own.
constexpr std::uint32_t kRootFolder = 0711;

}  // namespace

YarnSubmitter::YarnSubmitter(const hadoop::Configuration& configuration,
                             hadoop::FileSystem file_system, hadoop::Account account,
                             const base::Clock& clock, std::string digests,
                             Uploads::Progress progress)
    : configuration_(configuration),
      clock_(clock),
      account_(std::move(account)),
      digests_(std::move(digests)),
      progress_(std::move(progress)),
      resource_manager_(configuration, account_),
      files_(std::move(file_system), hadoop::web_hdfs_options(account_)) {}

base::Instant YarnSubmitter::soon() const { return clock_.now() + kAnswerTimeout; }

// All are asked at the same time: none needs another's answer.
Result<> YarnSubmitter::check(const job::JobSpec& spec) {
  auto release = std::async(std::launch::async, [this] {
    const auto login = hadoop::web_login_of(account_);
    return hadoop::find_release(configuration_, login.get(),
                                clock_.now() + hadoop::kReleaseTimeout);
  });
  auto prepared = std::async(std::launch::async, [this] { return prepare_root(); });
  auto facts = ask_resource_manager(spec);
  auto is_prepared = prepared.get();
  const auto found = release.get();
  GANGRUN_TRY(check_release(found));
  if (!facts.ok()) return facts.error();
  facts->release = found;
  GANGRUN_TRY(check_against(*facts, spec));
  return is_prepared;
}

Result<> YarnSubmitter::prepare_root() {
  GANGRUN_ASSIGN(paths_.home, files_.home_folder(soon()));
  return files_.make_folders(paths_.root(), kRootFolder, soon())
      .context(base::format("{} must be able to make {} on the cluster's file system",
                            account_.user, paths_.root()));
}

Result<ClusterFacts> YarnSubmitter::ask_resource_manager(const job::JobSpec& spec) {
  ClusterFacts facts;
  facts.user = account_.user;
  GANGRUN_ASSIGN(application_, resource_manager_.new_application(soon()));
  facts.largest = application_.largest;
  GANGRUN_ASSIGN(facts.resource_types, resource_manager_.resource_types(soon()));
  GANGRUN_ASSIGN(facts.labels, resource_manager_.node_labels(soon()));
  GANGRUN_ASSIGN(facts.own_queues, resource_manager_.own_queues(soon()));
  const std::string name = queue_of(yarn_of(spec).queue);
  GANGRUN_ASSIGN(facts.queue,
                 existing_queue(resource_manager_.queue(name, soon()), name, facts.own_queues));
  const std::string handler =
      configuration_.get_or("yarn.resourcemanager.placement-constraints.handler", "disabled");
  facts.places_by_constraints = handler != "disabled";
  facts.runs_images = yarn_of(spec).container_runtime == ContainerRuntime::kDocker;
  GANGRUN_ASSIGN(nodes_, resource_manager_.running_nodes(soon()));
  return facts;
}

// The credentials that the master and the tasks need.
Result<> YarnSubmitter::add_tokens(const Submitting& job, Uploads& uploads,
                                   YarnMasterConfig& config, hadoop::LaunchContext& master) {
  if (account_.identity == nullptr) return {};
  GANGRUN_ASSIGN(master.credentials,
                 hadoop::fetch_tokens(configuration_, account_,
                                      {.file_systems = yarn_of(job.spec).file_systems}, soon()));
  GANGRUN_ASSIGN(config.token_service,
                 hadoop::token_service(configuration_, files_.file_system(), hadoop::addresses_of));
  if (job.keytab.empty()) return {};
  config.principal = to_string(account_.identity->principal());
  config.krb5_config = job.krb5_config;
  const base::Instant deadline = clock_.now() + kUploadTimeout;
  GANGRUN_ASSIGN(master.local_resources[kClientLink],
                 uploads.put_program(job.client_program, kClientLink, deadline));
  GANGRUN_ASSIGN(master.local_resources[kKeytabLink],
                 uploads.put_own(job.keytab, config.staging_folder, kKeytabLink, deadline));
  return {};
}

Result<hadoop::Submission> YarnSubmitter::prepare_submission(const Submitting& job,
                                                             const hadoop::ApplicationId& id) {
  const base::Instant deadline = clock_.now() + kUploadTimeout;
  Uploads uploads(configuration_, files_, paths_, account_, clock_, digests_, progress_);
  YarnMasterConfig config;
  GANGRUN_ASSIGN(config.files, uploads.put(job.agent_program, job.files, deadline));
  GANGRUN_ASSIGN(config.archives, uploads.put_archives(job.files.archives, deadline));
  config.spec = job.spec;
  config.secret = base::Secret::generate();
  GANGRUN_ASSIGN(config.certificate,
                 net::make_job_certificate(hadoop::to_string(id), kCertificateValidity));
  config.zookeeper_files = job.zookeeper_files;
  config.submitted = job.submitted;
  config.hadoop = for_master(configuration_);
  config.user = account_.user;
  config.staging_folder = paths_.staging(id);
  config.history_folder = paths_.history(id);
  config.nodes = nodes_;
  const JobAccess access{config.secret, config.certificate.fingerprint, job.spec};
  GANGRUN_TRY(files_.make_folders(config.staging_folder, kOwnFolder, soon()));
  GANGRUN_TRY(files_.replace(config.staging_folder + kAccessFile,
                             base::dump_json(base::to_json(access)), kOwnFile, soon()));
  hadoop::LaunchContext master;
  GANGRUN_TRY(add_tokens(job, uploads, config, master));
  // An https cluster's nodes may know nothing of its authority.
  const auto& addresses = files_.file_system().addresses;
  const bool by_https = !addresses.empty() && addresses.front().starts_with("https:");
  if (by_https && !job.authorities.empty()) {
    GANGRUN_ASSIGN(
        master.local_resources[kAuthoritiesLink],
        uploads.put_own(job.authorities, config.staging_folder, kAuthoritiesLink, deadline)
            .context("SSL_CERT_FILE"));
    // The agents of tasks that have outputs go there, too.
    if (has_outputs(job.spec)) {
      config.files[kAuthoritiesLink] = master.local_resources.at(kAuthoritiesLink);
    }
  }
  return make_submission(job.spec, id, config, std::move(master));
}

Result<hadoop::ApplicationId> YarnSubmitter::submit(
    const Submitting& job, const std::function<void(const hadoop::ApplicationId&)>& on_asked) {
  auto submission = prepare_submission(job, application_.id);
  if (submission.ok()) on_asked(application_.id);
  Result<> done = submission.ok() ? resource_manager_.submit(*submission, soon())
                                  : Result<>(submission.error());
  if (done.ok()) done = wait_until_recorded(*submission);
  if (done.ok()) return application_.id;
  // Its files would belong to nobody.
  (void)files_.remove(paths_.staging(application_.id), true, soon());
  return done.error();
}

// YARN records an application before it says so; a ResourceManager that fails before that has
// forgotten it (hadoop.yarn.client.api.YarnClient does the same).
Result<> YarnSubmitter::wait_until_recorded(const hadoop::Submission& submission) {
  const base::Instant deadline = clock_.now() + kSubmitTimeout;
  base::Pause pause(std::chrono::milliseconds(5), std::chrono::milliseconds(200));
  while (clock_.now() < deadline) {
    GANGRUN_ASSIGN(const Recording recording,
                   recording_of(resource_manager_.report(submission.id, soon())));
    if (recording == Recording::kIsRecorded) return {};
    if (recording == Recording::kForgotten) {
      GANGRUN_TRY(resource_manager_.submit(submission, soon()));
    }
    base::pause_for(pause.next());
  }
  return base::deadline_exceeded(base::format("YARN has not recorded {} within {}",
                                              hadoop::to_string(submission.id),
                                              base::to_words(kSubmitTimeout)));
}

}  // namespace gangrun::yarn
