#include "host/local_master.h"

#include <utility>

#include "base/files.h"
#include "base/strings.h"
#include "host/own_user.h"

namespace gangrun::host {

namespace {

using base::Result;

// Nobody tells whoever has a folder open of its removal.
constexpr std::chrono::seconds kLookAtFolder(5);

// Also when its file was replaced.
constexpr const char* kOwnProgram = "/proc/self/exe";

// The port of an earlier master, whose agents look for it there; 0 for the first one.
Result<std::uint16_t> known_port(const JobPaths& paths) {
  const auto text = base::read_file(paths.tls_port(), 16);
  if (!text.ok() && text.error().code == base::Code::kNotFound) return std::uint16_t{0};
  if (!text.ok()) return text.error();
  return static_cast<std::uint16_t>(base::parse_integer(*text).value_or(0));
}

Result<Listening> listening(const JobFolder& folder, const job::JobSpec& spec,
                            const LocalMasterOptions& options) {
  const JobPaths& paths = folder.paths();
  Listening at;
  at.socket_path = paths.socket();
  at.certificate = folder.certificate();
  at.by_tls = options.launch.serve_tls;
  at.address = listen_address_of(options.launch, !spec.hosts.empty());
  GANGRUN_ASSIGN(at.first_port, known_port(paths));
  if (at.first_port == 0) at.first_port = options.ports.first;
  at.last_port = options.ports.last;
  at.port_file = paths.tls_port();
  return at;
}

}  // namespace

Result<std::unique_ptr<LocalMaster>> LocalMaster::create(
    net::EventLoop& loop, const base::Clock& clock, const JobFolder& folder,
    const job::JobSpec& spec, const LocalMasterOptions& options, Backend& backend,
    master::Listener& listener) {
  const JobPaths& paths = folder.paths();
  auto made = std::make_unique<LocalMaster>(Private{});
  const auto level = options.launch.verbose ? base::LogLevel::kDebug : base::LogLevel::kInfo;
  GANGRUN_ASSIGN(made->logger_, base::file_logger(paths.master_log(), level));
  JobMasterInput input;
  input.spec = spec;
  input.job_id = folder.id();
  input.folder = paths.folder;
  input.user = own_user_name();
  input.secret = folder.secret();
  input.commanded_at = options.commanded_at;
  input.master_lost =
      spec.timeouts.master_lost.value_or(backend.master_lost(spec, options.tasks_outlive_us));
  input.can_be_followed = options.tasks_outlive_us;
  GANGRUN_ASSIGN(input.listening, listening(folder, spec, options));
  input.records = {.journal_folder = paths.journal(),
                   .log_folder = paths.logs(),
                   .tasks = {.result_folder = paths.results(), .key_folder = paths.keys()}};
  input.zookeeper_access = {.files = options.zookeeper_files, .kerberos = {.path = kOwnProgram}};
  input.make_tasks = [&](const Ground& ground) {
    return backend.make_tasks({.ground = ground,
                               .folder = folder,
                               .spec = spec,
                               .launch = options.launch,
                               .tasks_outlive_us = options.tasks_outlive_us});
  };
  GANGRUN_ASSIGN(made->master_,
                 JobMaster::create(loop, clock, *made->logger_, std::move(input), listener));
  made->loop_ = &loop;
  made->folder_ = &folder;
  return made;
}

Result<> LocalMaster::start() {
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
