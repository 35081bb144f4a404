#include "yarn/yarn_doctor.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "base/hex.h"
#include "hadoop/release.h"
#include "hadoop/resource_manager.h"
#include "hadoop/rpc_round.h"
#include "hadoop/token_source.h"
#include "hadoop/web_hdfs.h"
#include "net/digests.h"
#include "yarn/cluster_checks.h"
#include "yarn/job_access.h"
#include "yarn/submission.h"
#include "yarn/tensorflow_trial.h"
#include "yarn/trial_job.h"

namespace gangrun::yarn {

namespace {

using base::Result;

// One question to the cluster.
constexpr std::chrono::seconds kCheckTimeout{20};
constexpr std::size_t kNameBytes = 16;
constexpr int kDefaultPort = 8032;
constexpr const char* kTensorflowFile = "tensorflow.txt";

// As UUIDs are written.
std::string random_name() {
  const std::string hex = base::to_hex(net::random_bytes(kNameBytes));
  return base::format("{}-{}-{}-{}-{}", hex.substr(0, 8), hex.substr(8, 4), hex.substr(12, 4),
                      hex.substr(16, 4), hex.substr(20));
}

Result<ClusterView> ask(hadoop::ResourceManagerClient& manager,
                        const hadoop::Configuration& configuration, const hadoop::Account& account,
                        const std::string& queue, const base::Clock& clock) {
  const auto soon = [&clock] { return clock.now() + kCheckTimeout; };
  ClusterView view;
  GANGRUN_ASSIGN(const auto application, manager.new_application(soon()));
  view.facts.largest = application.largest;
  GANGRUN_ASSIGN(view.facts.labels, manager.node_labels(soon()));
  GANGRUN_ASSIGN(view.facts.own_queues, manager.own_queues(soon()));
  GANGRUN_ASSIGN(view.nodes, manager.running_nodes(soon()));
  auto found = manager.queue(queue, soon());
  if (!found.ok() && found.error().code != base::Code::kNotFound) return found.error();
  if (found.ok()) view.facts.queue = *std::move(found);
  view.address = manager.address();
  GANGRUN_ASSIGN(const auto addresses,
                 hadoop::resource_manager_addresses(configuration, "yarn.resourcemanager.address",
                                                    kDefaultPort));
  view.resource_managers = addresses.size();
  const auto login = hadoop::web_login_of(account);
  view.release =
      hadoop::find_release(configuration, login.get(), clock.now() + hadoop::kReleaseTimeout);
  return view;
}

}  // namespace

YarnDoctor::YarnDoctor(const hadoop::Configuration& configuration, hadoop::FileSystem file_system,
                       hadoop::Account account, const base::Clock& clock, Options options)
    : configuration_(configuration),
      file_system_(std::move(file_system)),
      account_(std::move(account)),
      clock_(clock),
      options_(std::move(options)),
      folder_name_(random_name()) {}

base::Instant YarnDoctor::soon() const { return clock_.now() + kCheckTimeout; }

Result<TrialPlace> YarnDoctor::make_place(const hadoop::FileSystem& file_system) {
  hadoop::WebHdfs files(file_system, hadoop::web_hdfs_options(account_));
  TrialPlace place{file_system, base::format("{}/{}", options_.base_folder, folder_name_)};
  if (account_.identity != nullptr) {
    GANGRUN_ASSIGN(place.token_service,
                   hadoop::token_service(configuration_, file_system, hadoop::addresses_of));
  }
  if (options_.base_folder.empty()) {
    GANGRUN_ASSIGN(const std::string home, files.home_folder(soon()));
    place.folder = base::format("{}/gangrun-doctor-{}", home, folder_name_);
    const auto status = files.status(home, soon());
    const bool is_missing = !status.ok() && status.error().code == base::Code::kNotFound;
    if (is_missing) made_homes_.push_back({file_system, home});
  }
  places_.push_back(place);
  options_.makes(hadoop::to_string(file_system) + place.folder);
  GANGRUN_TRY(files.make_folders(place.folder, kOwnFolder, soon()));
  return place;
}

cluster::Check YarnDoctor::try_file_system(
    const Result<hadoop::FileSystem>& file_system, const std::string& url,
    const std::function<void(const std::string& url)>& writes) {
  if (!file_system.ok()) {
    return {url, cluster::Verdict::kFailed, file_system.error().message,
            "name it as the cluster's configuration does: hdfs://nameservice or hdfs://host:port"};
  }
  const auto place = make_place(*file_system);
  if (!place.ok()) {
    return {hadoop::to_string(*file_system), cluster::Verdict::kFailed, place.error().message,
            to_do_about_hdfs(place.error(), account_.user)};
  }
  writes(url_of(*place, options_.file));
  cluster::Check check =
      try_file(*place, hadoop::web_hdfs_options(account_), options_.file, "", clock_);
  if (check.verdict == cluster::Verdict::kOk) usable_.push_back(*place);
  return check;
}

std::vector<cluster::Check> YarnDoctor::try_files(
    const std::function<void(const std::string& url)>& writes) {
  std::vector<cluster::Check> checks{try_file_system(file_system_, "", writes)};
  files_work_ = checks.front().verdict == cluster::Verdict::kOk;
  for (const std::string& url : options_.file_systems) {
    if (is_over()) break;
    checks.push_back(try_file_system(hadoop::find_file_system(configuration_, url), url, writes));
  }
  return checks;
}

std::vector<std::string> YarnDoctor::tensorflow_urls() const {
  std::vector<std::string> urls;
  for (const TrialPlace& place : usable_) {
    if (place.file_system.scheme == "hdfs") urls.push_back(url_of(place, kTensorflowFile));
  }
  return urls;
}

std::vector<cluster::Check> YarnDoctor::ask_cluster() {
  const std::string queue = queue_of(options_.queue);
  hadoop::ResourceManagerClient manager(configuration_, account_);
  auto view = ask(manager, configuration_, account_, queue, clock_);
  if (!view.ok()) return checks_without_answer(view.error(), queue);
  view->facts.user = account_.user;
  largest_mib_ = view->facts.largest.memory_mib;
  std::vector<cluster::Check> checks = checks_of(*view, queue);
  cluster_works_ = !cluster::any_failed(checks);
  return checks;
}

std::vector<cluster::Check> YarnDoctor::try_from_node(const FromNode& options) {
  if (!files_work_ || !cluster_works_) {
    return {{"container", cluster::Verdict::kNotChecked,
             "no job can be submitted until the rest is well"}};
  }
  return run_trial_job(configuration_, file_system_, account_, clock_,
                       {.trial = {.places = usable_,
                                  .user = account_.user,
                                  .python = options.python,
                                  .python_is_named = options.python_is_named},
                        .queue = options_.queue,
                        .agent_program = options.agent_program,
                        .largest_mib = largest_mib_,
                        .environment = options.environment,
                        .is_over = options_.is_over,
                        .submits = options_.submits});
}

std::vector<cluster::Check> YarnDoctor::clear_away() {
  std::vector<cluster::Check> left;
  for (const TrialPlace& place : std::exchange(places_, {})) {
    hadoop::WebHdfs files(place.file_system, hadoop::web_hdfs_options(account_));
    const auto removed = files.remove(place.folder, true, soon());
    // An earlier failure is told already, and most likely nothing is there.
    const bool was_made = std::find(usable_.begin(), usable_.end(), place) != usable_.end();
    if (removed.ok() || !was_made) continue;
    left.push_back({"clearing away", cluster::Verdict::kWarning,
                    base::format("{}{}: {}", hadoop::to_string(place.file_system), place.folder,
                                 removed.error().message),
                    "remove that folder, where it is there"});
  }
  // Stays where a job has been meanwhile: then it is not empty.
  for (const TrialPlace& home : std::exchange(made_homes_, {})) {
    (void)hadoop::WebHdfs(home.file_system, hadoop::web_hdfs_options(account_))
        .remove(home.folder, false, soon());
  }
  return left;
}

}  // namespace gangrun::yarn
