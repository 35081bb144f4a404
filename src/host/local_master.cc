#include "host/local_master.h"

#include <filesystem>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/strings.h"
#include "host/own_user.h"
#include "master/past.h"

namespace gangrun::host {

namespace {

using base::Result;

// Nobody tells whoever has a folder open of its removal.
constexpr std::chrono::seconds kLookAtFolder(5);

// Also when its file was replaced.
constexpr const char* kOwnProgram = "/proc/self/exe";

// Of an earlier master, whose agents look for it there; 0 for the first one.
Result<std::uint16_t> known_port(const cluster::JobPaths& paths) {
  const auto text = base::read_file(paths.tls_port(), 16);
  if (!text.ok() && text.error().code == base::Code::kNotFound) return std::uint16_t{0};
  if (!text.ok()) return text.error();
  return static_cast<std::uint16_t>(base::parse_integer(*text).value_or(0));
}

Result<master::Settings> master_settings(const cluster::JobFolder& folder, job::JobSpec spec,
                                         const LocalMasterOptions& options,
                                         const Backend& backend) {
  const cluster::JobPaths& paths = folder.paths();
  master::Settings settings;
  settings.master_lost =
      spec.timeouts.master_lost.value_or(backend.master_lost(spec, options.tasks_outlive_us));
  settings.can_be_followed = options.tasks_outlive_us;
  backend.settle(spec, settings);
  const bool other_hosts = !spec.hosts.empty();
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
  settings.zookeeper_access = {.files = options.zookeeper_files, .kerberos = {.path = kOwnProgram}};
  settings.containment = options.launch.containment;
  settings.commanded_at = options.commanded_at;
  if (!options.launch.remark.empty()) settings.remarks.push_back(options.launch.remark);
  if (serves_tls) {
    settings.listen_address = listen_address_of(options.launch, other_hosts);
    settings.certificate = std::make_unique<net::JobCertificate>(folder.certificate());
    GANGRUN_ASSIGN(settings.tls_port, known_port(paths));
    if (settings.tls_port == 0) settings.tls_port = options.ports.first;
    settings.last_tls_port = options.ports.last;
    settings.tls_port_file = paths.tls_port();
  }
  return settings;
}

}  // namespace

Result<std::unique_ptr<LocalMaster>> LocalMaster::create(
    net::EventLoop& loop, const base::Clock& clock, const cluster::JobFolder& folder,
    const job::JobSpec& spec, const LocalMasterOptions& options, Backend& backend,
    master::Listener& listener) {
  const cluster::JobPaths& paths = folder.paths();
  auto made = std::make_unique<LocalMaster>(Private{});
  const auto level = options.launch.verbose ? base::LogLevel::kDebug : base::LogLevel::kInfo;
  GANGRUN_ASSIGN(made->logger_, base::file_logger(paths.master_log(), level));
  GANGRUN_ASSIGN(master::Settings settings, master_settings(folder, spec, options, backend));
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
  made->backend_ = &backend;
  made->loop_ = &loop;
  made->folder_ = &folder;
  const BackendInput input{.loop = loop,
                           .logger = *made->logger_,
                           .folder = folder,
                           .spec = spec,
                           .launch = options.launch,
                           .tasks_outlive_us = options.tasks_outlive_us};
  GANGRUN_ASSIGN(made->cluster_, backend.make_cluster(input, settings));
  made->is_joined_ = settings.joining != nullptr;
  made->master_ = std::make_unique<master::Master>(loop, clock, *made->logger_, *made->cluster_,
                                                   *made->journal_, listener, std::move(settings));
  return made;
}

Result<> LocalMaster::start() {
  backend_->begin();
  GANGRUN_TRY(master_->start());
  look_at_folder();
  return {};
}

// By its folder a job is listed, asked and ended: without it, it would go on unseen.
void LocalMaster::look_at_folder() {
  if (folder_->is_gone()) {
    logger_->error("the job's folder was removed: it ends");
    return master_->request_stop("the removal of its folder", false);
  }
  folder_look_ = loop_->after(kLookAtFolder, [this] { look_at_folder(); });
}

}  // namespace gangrun::host
