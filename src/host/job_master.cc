#include "host/job_master.h"

#include <utility>

#include "base/files.h"
#include "frameworks/environment.h"
#include "master/past.h"
#include "process/open_files.h"

namespace gangrun::host {

namespace {

using base::Result;

// The files that a master has open: its own, and those of commands that ask it.
constexpr std::size_t kOfTheMaster = 64;
// For each task its connection, its process, what that says at its end; and one to start it with.
constexpr std::size_t kOfATask = 4;

agents::DeskOptions desk_options(const JobMasterInput& input) {
  const auto sessions = static_cast<int>(input.spec.task_ids().size());
  return {.heartbeat = agents::heartbeat_of(sessions, input.master_lost),
          .master_lost = input.master_lost};
}

}  // namespace

base::Result<> check_open_files(const job::JobSpec& spec) {
  return process::check_open_files(kOfTheMaster + kOfATask * spec.task_ids().size());
}

Result<std::unique_ptr<JobMaster>> JobMaster::create(net::EventLoop& loop, const base::Clock& clock,
                                                     base::Logger& logger, JobMasterInput input,
                                                     master::Listener& listener) {
  auto made = std::make_unique<JobMaster>(Private{});
  GANGRUN_ASSIGN(master::Past past,
                 master::past_of(input.records.journal_folder, input.master_lost, clock));
  const int attempt = past.segments + 1;
  GANGRUN_ASSIGN(made->journal_,
                 journal::Writer::create(input.records.journal_folder, {.job_id = input.job_id,
                                                                        .attempt = attempt,
                                                                        .started = clock.wall_now(),
                                                                        .origin = clock.now()}));
  if (input.records.far_copy) made->far_copy_ = input.records.far_copy(attempt);
  const std::size_t outline_above = frameworks::is_content_with_outline(input.spec)
                                        ? frameworks::kMaxClusterSpecInEnvironment
                                        : agents::kNoOutline;
  if (input.records.gives_outputs) made->outputs_.emplace(input.records.tasks.output_folder);
  made->server_ = std::make_unique<agents::Server>(loop, input.secret, desk_options(input),
                                                   made->callbacks(), logger);
  GANGRUN_ASSIGN(MadeTasks tasks, input.make_tasks({.loop = loop,
                                                    .clock = clock,
                                                    .logger = logger,
                                                    .server = *made->server_,
                                                    .attempt = attempt,
                                                    .is_first = !past.replayed,
                                                    .master_lost = input.master_lost,
                                                    .task_records = input.records.tasks}));
  made->tasks_ = std::move(tasks.tasks);
  made->come_by_themselves_ = tasks.come_by_themselves;
  made->listening_ = std::move(input.listening);
  made->listening_.by_tls |= tasks.come_by_tls;

  master::Settings settings;
  settings.job = {.spec = std::move(input.spec),
                  .id = input.job_id,
                  .folder = std::move(input.folder),
                  .commanded_at = input.commanded_at,
                  .past = std::move(past.replayed),
                  .remarks = std::move(tasks.remarks),
                  .zookeeper = {.job_id = std::move(input.job_id),
                                .user = std::move(input.user),
                                .secret = std::move(input.secret),
                                .administrators = std::move(input.zookeeper_administrators),
                                .access = std::move(input.zookeeper_access)}};
  if (const auto& replayed = settings.job.past) {
    made->has_verdict_ = replayed->verdict.has_value();
    if (!input.later_masters_know) {
      settings.job.commanded_at = clock.now() - (clock.wall_now() - replayed->submitted);
    }
  }
  settings.records = {.log_folder = std::move(input.records.log_folder),
                      .can_be_followed = input.can_be_followed,
                      .far_copy = made->far_copy_.get()};
  settings.waits = {.master_lost = input.master_lost,
                    .tells_cause_early = tasks.come_by_themselves};
  settings.on_published = [&server = *made->server_, outline_above](const job::ClusterSpec& spec) {
    server.publish(spec, outline_above);
  };
  made->master_ = std::make_unique<master::Master>(loop, clock, logger, *made->tasks_,
                                                   *made->journal_, listener, std::move(settings));
  return made;
}

agents::ServerCallbacks JobMaster::callbacks() {
  agents::ServerCallbacks callbacks;
  callbacks.status = [this] { return master_->status(); };
  callbacks.stop = [this](bool at_once, std::string by) {
    master_->request_stop(std::move(by), at_once);
  };
  callbacks.ask = [this](const cluster::Question& question, cluster::OnAnswer on_answer) {
    master_->ask(question, std::move(on_answer));
  };
  callbacks.over = [this] { return master_->over(); };
  callbacks.outputs = outputs_ ? &*outputs_ : nullptr;
  return callbacks;
}

Result<> JobMaster::start() {
  GANGRUN_TRY(listen());
  return master_->start();
}

Result<> JobMaster::listen() {
  const Listening& at = listening_;
  if (!at.socket_path.empty()) GANGRUN_TRY(server_->listen_unix(at.socket_path));
  if (!at.by_tls) return {};
  std::uint16_t port = at.first_port;
  while (true) {
    const auto listening = at.address.empty()
                               ? server_->listen_tls_everywhere(port, at.certificate)
                               : server_->listen_tls(at.address, port, at.certificate);
    if (listening.ok()) break;
    if (port >= at.last_port) return listening.error();
    ++port;
  }
  if (at.port_file.empty()) return {};
  return base::write_file_atomically(at.port_file, std::to_string(tls_port()), 0600);
}

}  // namespace gangrun::host
