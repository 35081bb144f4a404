#include "cli/local_master.h"

#include <filesystem>
#include <random>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/strings.h"
#include "base/variable.h"
#include "cli/own_user.h"
#include "cli/unpacking.h"
#include "cluster/joined/joined_cluster.h"
#include "cluster/joined/spark_rules.h"
#include "cluster/kubernetes/kubernetes_rules.h"
#include "cluster/local/gpu_locks.h"
#include "cluster/local/local_cluster.h"
#include "master/past.h"
#include "net/hosts.h"
#include "process/engine.h"

namespace gangrun::cli {

namespace {

using base::Result;

// Tasks that outlive their master, or have a network between them and it, go on alone for so long
// where the job does not say.
constexpr std::chrono::seconds kDefaultMasterLost(60);
// For the files of one task.
constexpr std::chrono::minutes kUnpackLimit(10);
constexpr std::size_t kMaxToolWords = 400;
// Those that came by themselves: nobody comes after their master.
constexpr std::chrono::seconds kMasterLostOnSpark(10);

// GPUs are given out once on a machine, whoever runs jobs on it: all must be able to lock them.
Result<std::string> gpu_lock_folder(bool needed) {
  // Not below TMPDIR, which users have of their own; the Python package knows it too (gpu_info.py).
  std::string folder = base::variable("GANGRUN_GPU_LOCKS");
  if (folder.empty()) folder = "/tmp/gangrun-gpus";
  if (!needed) return folder;
  GANGRUN_TRY(cluster::make_gpu_lock_folder(folder));
  return folder;
}

std::chrono::milliseconds master_lost(const job::JobSpec& spec, const LocalMasterOptions& options) {
  if (spec.on == cluster::kSpark) return spec.timeouts.master_lost.value_or(kMasterLostOnSpark);
  const auto by_default = options.tasks_outlive_us || !spec.hosts.empty()
                              ? kDefaultMasterLost
                              : std::chrono::milliseconds(0);
  return spec.timeouts.master_lost.value_or(by_default);
}

Result<cluster::LocalCluster::Options> cluster_options(const cluster::JobFolder& folder,
                                                       const job::JobSpec& spec,
                                                       const LocalMasterOptions& options) {
  cluster::LocalCluster::Options result;
  result.agent_program = options.launch.agent_program;
  result.host = options.launch.host;
  result.gpus = options.launch.gpus;
  GANGRUN_ASSIGN(result.gpu_lock_folder, gpu_lock_folder(!options.launch.gpus.list.empty()));
  result.agent_log = folder.paths().master_log();
  result.job_id = folder.id();
  result.containment = options.launch.containment;
  result.agents_outlive_us = options.tasks_outlive_us;
  result.hosts = spec.hosts;
  result.interface = spec.interface;
  const std::string& host = options.launch.host;
  if (!net::is_loopback_address(host)) result.master_address = host;
  return result;
}

// Of an earlier master, whose agents look for it there; 0 for the first one.
Result<std::uint16_t> known_port(const cluster::JobPaths& paths) {
  const auto text = base::read_file(paths.tls_port(), 16);
  if (!text.ok() && text.error().code == base::Code::kNotFound) return std::uint16_t{0};
  if (!text.ok()) return text.error();
  return static_cast<std::uint16_t>(base::parse_integer(*text).value_or(0));
}

Result<master::Settings> master_settings(const cluster::JobFolder& folder, job::JobSpec spec,
                                         const LocalMasterOptions& options) {
  const cluster::JobPaths& paths = folder.paths();
  master::Settings settings;
  settings.master_lost = master_lost(spec, options);
  settings.can_be_followed = options.tasks_outlive_us;
  settings.agents_come_by_tls = !spec.hosts.empty() || spec.on == cluster::kSpark;
  settings.writes_lines = spec.on == cluster::kSpark || spec.on == cluster::kKubernetes;
  const bool serves_tls = options.launch.serve_tls || settings.agents_come_by_tls;
  settings.spec = std::move(spec);
  settings.job_id = folder.id();
  settings.folder = paths.folder;
  settings.socket_path = paths.socket();
  settings.result_folder = paths.results();
  settings.log_folder = paths.logs();
  settings.working_folder = options.launch.working_folder;
  settings.user = own_user_name();
  settings.host = options.launch.host;
  settings.host_reason = options.launch.host_reason;
  settings.secret = folder.secret();
  settings.containment = options.launch.containment;
  settings.commanded_at = options.commanded_at;
  if (serves_tls) {
    settings.certificate = std::make_unique<net::JobCertificate>(folder.certificate());
    GANGRUN_ASSIGN(settings.tls_port, known_port(paths));
    if (settings.tls_port == 0) settings.tls_port = options.ports.first;
    settings.last_tls_port = options.ports.last;
    settings.tls_port_file = paths.tls_port();
  }
  return settings;
}

double random_share() {
  thread_local std::mt19937_64 engine{std::random_device{}()};
  return std::uniform_real_distribution<double>(0, 1)(engine);
}

// By the system's tar, which leaves out whatever would be outside of the folder.
Result<> unpack(const std::string& archive, const std::string& folder) {
  const std::vector<std::string> argv = {"tar", "-x",  "--no-same-owner", "-f", archive,
                                         "-C",  folder};
  GANGRUN_ASSIGN(const auto answer,
                 process::ask(argv, std::chrono::steady_clock::now() + kUnpackLimit));
  if (answer.status == 0) return {};
  return base::Error{base::Code::kDataLoss,
                     base::format("tar ended with status {}: {}", answer.status,
                                  base::shorten(answer.output, kMaxToolWords))};
}

Result<std::unique_ptr<cluster::KubernetesCluster>> pods_cluster(net::EventLoop& loop,
                                                                 base::Logger& logger,
                                                                 const cluster::JobFolder& folder,
                                                                 const PodsPlace& place) {
  cluster::ManifestInput input = *place.manifests;
  input.job_id = folder.id();
  GANGRUN_ASSIGN(auto manifests, cluster::Manifests::make(std::move(input)));
  return std::make_unique<cluster::KubernetesCluster>(
      loop, logger, *place.client, std::move(manifests),
      cluster::KubernetesCluster::Options{
          .output_folder = folder.paths().outputs(), .unpack = unpack, .random = random_share});
}

}  // namespace

Result<std::unique_ptr<LocalMaster>> LocalMaster::create(
    net::EventLoop& loop, const base::Clock& clock, const cluster::JobFolder& folder,
    const job::JobSpec& spec, const LocalMasterOptions& options, master::Listener& listener) {
  const cluster::JobPaths& paths = folder.paths();
  auto made = std::make_unique<LocalMaster>(Private{});
  const auto level = options.launch.verbose ? base::LogLevel::kDebug : base::LogLevel::kInfo;
  GANGRUN_ASSIGN(made->logger_, base::file_logger(paths.master_log(), level));
  GANGRUN_ASSIGN(master::Settings settings, master_settings(folder, spec, options));
  GANGRUN_ASSIGN(master::Past past, master::past_of(paths.journal(), settings.master_lost, clock));
  if (past.replayed) {
    made->has_verdict_ = past.replayed->verdict.has_value();
    settings.commanded_at = clock.now() - (clock.wall_now() - past.replayed->submitted);
  }
  settings.past = std::move(past.replayed);
  settings.attempt = past.segments + 1;
  const journal::Opening opening{.job_id = folder.id(),
                                 .attempt = settings.attempt,
                                 .started = clock.wall_now(),
                                 .origin = clock.now()};
  GANGRUN_ASSIGN(made->journal_, journal::Writer::create(paths.journal(), opening));
  if (spec.on == cluster::kSpark) {
    auto joined = std::make_unique<cluster::JoinedCluster>(loop, options.launch.host);
    settings.joining = joined.get();
    made->cluster_ = std::move(joined);
  } else if (options.pods.client != nullptr) {
    GANGRUN_ASSIGN(auto pods, pods_cluster(loop, *made->logger_, folder, options.pods));
    made->pods_ = pods.get();
    settings.direct = pods.get();
    made->cluster_ = std::move(pods);
  } else {
    GANGRUN_ASSIGN(auto for_cluster, cluster_options(folder, spec, options));
    made->cluster_ = std::make_unique<cluster::LocalCluster>(loop, std::move(for_cluster));
  }
  made->master_ = std::make_unique<master::Master>(loop, clock, *made->logger_, *made->cluster_,
                                                   *made->journal_, listener, std::move(settings));
  return made;
}

Result<> LocalMaster::start() {
  if (pods_ != nullptr) pods_->begin();
  return master_->start();
}

void LocalMaster::clear(std::function<void(base::Result<>)> done) {
  if (pods_ == nullptr) return done({});
  pods_->clear(std::move(done));
}

}  // namespace gangrun::cli
