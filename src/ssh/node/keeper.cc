#include "ssh/node/keeper.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <optional>
#include <utility>
#include <vector>

#include "base/overloaded.h"
#include "cluster/place_part.h"
#include "local/gpu_locks.h"
#include "ssh/node/host_facts.h"
#include "ssh/node/keeper_internal.h"

namespace gangrun::ssh::node {

namespace {

using base::Result;

// The part of the logs that is told before an agent's own word, so that a task's last lines come
// before its end.
constexpr std::size_t kLogsFirst = std::size_t{64} << 10U;
constexpr std::chrono::milliseconds kLogInterval(100);
// A look at all logs that takes longer is followed by a pause of so many times as long.
constexpr std::chrono::microseconds kQuickLook(500);
constexpr int kPauseOfLooks = 8;
// How often a keeper that hears nothing looks whether an agent lives.
constexpr std::chrono::seconds kDoubtInterval(1);
constexpr std::size_t kReadAtOnce = std::size_t{256} << 10U;
// An older keeper, whose client is gone, gives the job up within so long.
constexpr std::chrono::seconds kTakeOverLimit(5);
// Between the ends of standard input and of standard output where the link is cut.
constexpr int kCutMs = 100;
// Agents that live on without their client end with their lease.
constexpr std::chrono::hours kLongestLease(24);

}  // namespace

Result<> Keeper::start() {
  ::signal(SIGHUP, SIG_IGN);
  GANGRUN_ASSIGN(signals_, loop_.watch_signals({SIGTERM}, [this](int /*number*/) {
    // A newer keeper has the job, and soon its lock: we look for that with the next look at logs.
    // Or somebody else wants us gone: then our client is told to come again. To it the link would
    // stay whole as long as we wait for our agents.
    if (has_client_) say_last(ssh::LeavingMessage{});
    let_go();
    if (launcher_ == nullptr) leave_if_done();
  }));
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO}) {
    if (::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK) != 0) {
      return base::from_errno(errno, "fcntl");
    }
  }
  readable_ = loop_.watch_readable(STDIN_FILENO, [this] { on_input(); });
  auto able = check_place(options_);
  if (able.ok()) able = check_limits();
  auto own = able.ok() ? hello_of(options_) : able.error();
  if (!own.ok()) {
    refuse(own.error().message);
    return {};
  }
  hello_ = std::move(*own);
  tell(*hello_);
  RunFolder::sweep(options_.folder, clock_.wall_now());
  return {};
}

int Keeper::run() {
  (void)loop_.run_until([] { return false; }, clock_.now() + kLongestLease * 365);
  return status_;
}

// The messages to the client.

void Keeper::send(const ssh::Frame& frame) {
  if (!has_client_) return;
  out_ += ssh::to_bytes(frame);
  if (!writable_.active()) {
    writable_ = loop_.watch_writable(STDOUT_FILENO, [this] { write(); });
  }
}

void Keeper::write() {
  const ssize_t put = ::write(STDOUT_FILENO, out_.data(), out_.size());
  if (put < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (put < 0) return lose_client(false);
  out_.erase(0, static_cast<std::size_t>(put));
  if (!out_.empty()) return;
  writable_.reset();
  if (is_refused_) return (void)end(ssh::Kept::kWritten);
  tell_logs();
  if (outputs_) outputs_->send(kMaxWaiting);
}

void Keeper::refuse(std::string detail) {
  status_ = 1;
  is_refused_ = true;
  readable_.reset();
  tell(ssh::RefusedMessage{std::move(detail)});
}

// The messages of the client.

void Keeper::on_input() {
  std::string bytes(kReadAtOnce, '\0');
  const ssize_t got = ::read(STDIN_FILENO, bytes.data(), bytes.size());
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    // If the link is cut, standard output goes too: sshd closes one right after the other.
    pollfd output = {STDOUT_FILENO, 0, 0};
    const bool is_cut = got < 0 || (::poll(&output, 1, kCutMs) > 0 &&
                                    (output.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0);
    return lose_client(!is_cut);
  }
  hear();
  bytes.resize(static_cast<std::size_t>(got));
  frames_.add(bytes);
  const auto understood = on_frames();
  if (!understood.ok()) refuse(understood.error().message);
}

// ssh does not see that a link is cut before something is sent that nobody answers.
void Keeper::hear() {
  silent_until_.reset();
  silence_ = loop_.after(ssh::kKeeperSilence, [this] { doubt(); });
}

// The link may be cut, or the client stopped (Ctrl-Z) and about to go on: nobody can tell. As long
// as an agent lives, nothing is lost by waiting for either: a newer keeper says that it has the
// job. What has ended meanwhile is on its way to the client, which finds it there.
void Keeper::doubt() {
  const bool is_one_alive = std::any_of(agents_.begin(), agents_.end(), [](const auto& entry) {
    return entry.second.is_allocated && !entry.second.has_ended;
  });
  if (is_one_alive || !silent_until_) silent_until_ = clock_.now() + kLinesKept;
  if (clock_.now() >= *silent_until_) {
    let_go();
    return forget_told();
  }
  silence_ = loop_.after(kDoubtInterval, [this] { doubt(); });
}

Result<> Keeper::on_frames() {
  while (has_client_ && !is_refused_) {
    GANGRUN_ASSIGN(const auto frame, frames_.next());
    if (!frame) return {};
    GANGRUN_TRY(std::visit(
        base::Overloaded{
            [this](const ssh::MessageFrame& message) { return on(message); },
            [this](const ssh::FileFrame& file) -> Result<> {
              if (!work_) return base::invalid_argument("no job has begun");
              return work_->add(file.content);
            },
            [this](const ssh::StreamFrame& stream) -> Result<> {
              if (relay_ == nullptr) {
                return base::invalid_argument("no connection is open");
              }
              relay_->on_frame(stream);
              return {};
            },
            [](const base::OneOf<ssh::OpenFrame, ssh::LogFrame> auto&) -> Result<> {
              return base::invalid_argument("only a host opens connections, and has logs");
            },
        },
        *frame));
  }
  return {};
}

Result<> Keeper::on(const ssh::MessageFrame& frame) {
  GANGRUN_ASSIGN(const auto message, ssh::keeper_message_from_json(frame.message));
  const bool is_end =
      std::visit(base::Overloaded{[](const ssh::EndMessage& /*each*/) { return true; },
                                  [](const auto& /*other*/) { return false; }},
                 message);
  if (!job_ && !(is_of_the_past_ && is_end) && ssh::is_of_a_job(message)) {
    return base::invalid_argument("the first message must be begin");
  }
  const auto done = [](const auto& what) -> Result<> {
    what();
    return {};
  };
  return std::visit(
      base::Overloaded{
          [&](const ssh::BeginMessage& each) { return begin(each); },
          [&](const ssh::FileMessage& each) { return work_->begin_file(each); },
          [&](const ssh::StartMessage& each) { return start_agent(each); },
          [&](const ssh::AdoptMessage& each) { return done([&] { adopt(each); }); },
          [&](const ssh::ReleaseOthersMessage& /*each*/) {
            return done([&] { launcher_->release_others(); });
          },
          [&](const ssh::StopMessage& each) { return done([&] { stop(each.agent, each.grace); }); },
          [&](const ssh::LogsTakenMessage& each) {
            return done([&] {
              window_.taken(each.bytes, clock_.now());
              tell_logs_soon();
            });
          },
          [&](const ssh::PingMessage& /*each*/) { return done([&] { tell(ssh::PongMessage{}); }); },
          [&](const ssh::BringMessage& each) { return bring(each); },
          [&](const ssh::EndMessage& each) {
            return done(
                [&] { say_last(ssh::RemovedMessage{.folders = 0, .left = end(each.kept)}); });
          },
          [&](const ssh::RemoveMessage& each) { return remove(each); },
          [&](const ssh::MessageOfAHost auto& /*each*/) -> Result<> {
            return base::invalid_argument("such a message is a host's to send");
          },
      },
      message);
}

Result<> Keeper::begin(const ssh::BeginMessage& message) {
  if (job_ || folder_) return base::invalid_argument("the job has begun already");
  GANGRUN_TRY(check_place(options_));
  job_ = message;
  const auto take_care_of = [this](const std::string& path) -> Result<> {
    GANGRUN_ASSIGN(caretakers_, start_caretakers(options_.program, path, STDOUT_FILENO));
    return {};
  };
  GANGRUN_ASSIGN(folder_,
                 RunFolder::open(options_.folder, message.job_id, options_.host, message.run_folder,
                                 clock_.now() + kTakeOverLimit, take_care_of));
  work_.emplace(folder_->path());
  set_environment(message.environment);
  GANGRUN_TRY(make_launcher(message));
  relay_ = std::make_unique<net::Relay>(loop_, [this](const net::RelayFrame& frame) {
    tell_lines_first();
    send(ssh::to_frame(frame));
  });
  relay_entrance_ = std::make_unique<net::SocketListener>(
      loop_, [this](base::UniqueFd socket) { relay_->take(std::move(socket)); });
  GANGRUN_TRY(relay_entrance_->listen_at_path(folder_->socket()));
  logs_.add_file(folder_->agent_log());
  tell(ssh::BegunMessage{folder_->name()});
  log_timer_ = loop_.after(kLogInterval, [this] { tell_logs(); });
  return {};
}

Result<> Keeper::make_launcher(const ssh::BeginMessage& message) {
  local::LocalLauncher::Options options;
  options.agent_program = options_.program;
  options.host = message.address;
  options.gpus = hello_->gpus;
  if (!options.gpus.list.empty()) {
    GANGRUN_ASSIGN(options.gpu_lock_folder, local::gpu_lock_folder());
  }
  options.agent_log = folder_->agent_log();
  options.job_id = job_id_on_host(message.job_id, options_.host);
  options.containment = hello_->containment;
  options.agents_outlive_us = true;
  options.starter_socket = folder_->starter_socket();
  launcher_ = std::make_unique<local::LocalLauncher>(loop_, std::move(options));
  launcher_->on_event([this](const cluster::LaunchEvent& event) { on_event(event); });
  return {};
}

// Agents.

std::optional<std::uint32_t> Keeper::number_of(const job::TaskId& task, int attempt) const {
  for (const auto& [number, agent] : agents_) {
    if (agent.task == task && agent.attempt == attempt) return number;
  }
  return std::nullopt;
}

std::vector<std::uint32_t> Keeper::agent_numbers() const {
  std::vector<std::uint32_t> numbers;
  for (const auto& [number, agent] : agents_) numbers.push_back(number);
  return numbers;
}

Result<> Keeper::start_agent(const ssh::StartMessage& message) {
  GANGRUN_TRY(check_place(options_));
  agents_[message.agent] = {message.task, message.attempt};
  const std::string prefix = folder_->log_prefix(message.task, message.attempt);
  logs_.add(message.agent, prefix, 0, 0);
  cluster::Launch launch;
  launch.resources.gpus = message.gpus;
  if (message.wanted_port) launch.wanted = job::Address{job_->address, *message.wanted_port};
  launch.containers = message.containers;
  launch.agent_config = message.agent_config;
  cluster::set({.host = job_->address,
                .host_reason = job_->address_reason,
                .working_folder = job_->works_here ? options_.working_folder : work_->path(),
                .log_prefix = prefix,
                .socket_path = folder_->socket()},
               launch.agent_config);
  launcher_->start(message.task, message.attempt, std::move(launch));
  return {};
}

void Keeper::adopt(const ssh::AdoptMessage& message) {
  agents_[message.agent] = {message.task, message.attempt, true};
  logs_.add(message.agent, folder_->log_prefix(message.task, message.attempt), message.out_offset,
            message.error_offset);
  launcher_->adopt(message.task, message.attempt, message.handle);
}

void Keeper::stop(std::uint32_t agent, std::chrono::milliseconds grace) {
  const auto found = agents_.find(agent);
  if (found != agents_.end()) launcher_->stop(found->second.task, found->second.attempt, grace);
}

void Keeper::on_event(const cluster::LaunchEvent& event) {
  std::visit(
      base::Overloaded{
          [this](const gang::ClusterWaiting& each) { tell(ssh::WaitingMessage{each.reason}); },
          [this](const cluster::AgentAllocated& each) {
            const auto number = number_of(each.task, each.attempt);
            if (!number) return;
            agents_[*number].is_allocated = true;
            tell(ssh::AllocatedMessage{*number, each.handle});
          },
          // This machine takes nothing away, and answers itself.
          [](const base::OneOf<cluster::PreemptionNotice, cluster::LossesTold, gang::ClusterGone,
                               gang::HostSilent, cluster::Remark,
                               cluster::TasksWarning> auto& /*each*/) {},
          [this](const job::AgentEnded& each) {
            const auto number = number_of(each.task, each.attempt);
            if (!number) return;
            // The last lines come before it, as far as that is quick.
            if (may_tell_logs()) (void)logs_.tell_of(*number, bytes_of_logs(kLogsFirst));
            look_for_gone_logs({*number});
            agents_[*number].has_ended = true;
            const auto [out, error] = logs_.sizes(*number);
            tell(ssh::EndedMessage{*number, each.why, out, error, each.run});
            tell_logs_soon();
          },
      },
      event);
}

// Logs, to the client that takes them.
void Keeper::tell_logs() {
  if (launcher_ == nullptr) return;
  if (out_.size() < kMaxWaiting) tell_some_logs(kMaxWaiting);
  look_for_gone_logs(agent_numbers());
  forget_told();
  log_timer_ = loop_.after(kLogInterval, [this] { tell_logs(); });
}

// Once for all that happens in one turn of the loop: each look is one at every log.
void Keeper::tell_logs_soon() {
  log_timer_ = loop_.after(base::Duration::zero(), [this] { tell_logs(); });
}

bool Keeper::may_tell_logs() const { return has_client_ && window_.room() > 0; }

std::size_t Keeper::bytes_of_logs(std::size_t most) const {
  return static_cast<std::size_t>(std::min<std::uint64_t>(most, window_.room()));
}

void Keeper::tell_some_logs(std::size_t bytes) {
  if (may_tell_logs()) (void)logs_.tell(bytes_of_logs(bytes));
}

// A task's lines come before its agent's words, but for those of hosts with so many
// tasks that the looks would take the host's time.
void Keeper::tell_lines_first() {
  const base::Instant start = clock_.now();
  if (start < next_look_) return;
  tell_some_logs(kLogsFirst);
  const base::Instant end = clock_.now();
  if (end - start > kQuickLook) next_look_ = end + kPauseOfLooks * (end - start);
}

// Somebody may clean up here.
void Keeper::look_for_gone_logs(const std::vector<std::uint32_t>& numbers) {
  if (!has_client_) return;
  const bool is_gone =
      !is_folder_gone_ && ::access(folder_->path().c_str(), F_OK) != 0 && errno == ENOENT;
  ssh::LogsGoneMessage gone{{}, is_gone};
  for (const std::uint32_t number : is_gone ? agent_numbers() : numbers) {
    Agent& agent = agents_.at(number);
    if (agent.has_ended || agent.are_logs_gone || (!is_gone && !logs_.is_gone(number))) continue;
    agent.are_logs_gone = true;
    gone.agents.push_back(number);
  }
  is_folder_gone_ = is_folder_gone_ || is_gone;
  if (is_gone || !gone.agents.empty()) tell(gone);
}

// Those that have ended and of which all lines were told, or are kept no longer.
void Keeper::forget_told() {
  const bool keeps = has_client_ || (lines_kept_until_ && clock_.now() < *lines_kept_until_);
  std::vector<std::uint32_t> over;
  for (const auto& [number, agent] : agents_) {
    if (agent.has_ended && (!keeps || logs_.is_told(number))) over.push_back(number);
  }
  for (const std::uint32_t number : over) {
    logs_.remove(number);
    agents_.erase(number);
  }
  if (!has_client_) leave_if_done();
}

int run_keeper(const KeeperOptions& options, const base::Clock& clock, base::Logger& logger) {
  Keeper keeper(options, clock);
  const auto started = keeper.start();
  if (started.ok()) return keeper.run();
  logger.error("{}", started.error().message);
  return 1;
}

}  // namespace gangrun::ssh::node
