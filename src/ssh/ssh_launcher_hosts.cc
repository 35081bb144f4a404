#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/described_json.h"
#include "base/files.h"
#include "base/format.h"
#include "base/overloaded.h"
#include "base/strings.h"
#include "base/terminal_text.h"
#include "net/hosts.h"
#include "ssh/host_addresses.h"
#include "ssh/ssh_launcher_internal.h"
#include "ssh/where_tasks_work.h"

// The news of the links and the keepers of the hosts.
namespace gangrun::ssh {

namespace {

// Beyond the lease of its agents a host has so long to end them, and our clocks to differ.
constexpr std::chrono::seconds kLeaseAllowance(5);
// How often a host may say, on one connection, what it waits for.
constexpr int kMaxWaits = 1000;
// A host that has nothing to say for so long, once it is asked whether it lives, is not waited for
// where the end is wanted at once.
constexpr std::chrono::milliseconds kHurrySilence(600);
// The handle that comes back to a keeper with adopt, and is journalled.
constexpr std::size_t kMaxHandle = std::size_t{16} << 10U;
constexpr std::size_t kMaxFolderName = 200;
// A keeper that has answered before, and says nothing for so many pings while ssh lives, is gone.
// ssh itself gives a host that is silent up before that.
constexpr int kMaxSilentPings = 5;
// While so much waits to be sent, no more of a file is read.
constexpr std::size_t kMaxUnsent = std::size_t{256} << 10U;

}  // namespace

void SshLauncher::on_up(Host& host) {
  const net::ChosenAddress address = address_of(host);
  logger_.info("host {} is up, at {} ({})", host.name(), address.address, address.reason);
  host.state = Host::State::kBeginning;
  host.waits_told = 0;
  host.pings = 0;
  host.is_prompt = false;
  host.silent_pings = 0;
  host.log_bytes = 0;
  host.was_up = true;
  host.has_begun = false;
  host.pause.reset();
  host.lease.reset();
  begin_known();
}

// None before all were reached for the first time: which addresses they have for each other depends
// on all of them.
void SshLauncher::begin_known() {
  if (!released_) return;
  if (options_.is_first_master) {
    for (const auto& host : hosts_) {
      if (!host->was_up) return;
    }
    if (const auto chosen = choose_addresses_of_all(); !chosen.ok()) {
      return emit(gang::ClusterGone{chosen.error().message});
    }
  }
  for (const auto& host : hosts_) {
    if (host->state != Host::State::kBeginning || host->has_begun) continue;
    choose_address_of(*host);
    begin(*host);
  }
}

base::Result<> SshLauncher::choose_addresses_of_all() {
  if (has_addresses_) return {};
  std::vector<SeenHost> seen;
  for (const auto& host : hosts_) seen.push_back(seen_host(host->name(), host->link->hello()));
  GANGRUN_ASSIGN(const HostAddresses chosen, choose_addresses(seen, options_.interface));
  has_addresses_ = true;
  for (const auto& host : hosts_) host->address = chosen.of_hosts[host->index];
  for (const std::string& remark : chosen.remarks) emit(cluster::Remark{remark});
  return {};
}

// For a later master, which does not wait for hosts that may be gone: one with tasks keeps what it
// had, another gets what all others can reach.
void SshLauncher::choose_address_of(Host& host) {
  if (host.address) return;
  std::vector<SeenHost> seen = {seen_host(host.name(), host.link->hello())};
  bool is_one_unknown = false;
  for (const auto& other : hosts_) {
    if (other.get() == &host) continue;
    if (other->was_up) {
      seen.push_back(seen_host(other->name(), other->link->hello()));
    } else if (!std::exchange(is_one_unknown, true)) {
      seen.push_back({.name = other->name(), .address = {}, .own_addresses = {}, .network = {}});
    }
  }
  const auto chosen = choose_addresses(seen, options_.interface);
  if (chosen.ok()) {
    host.address = chosen->of_hosts.front();
  } else {
    logger_.warning("{}", chosen.error().message);
  }
}

void SshLauncher::ping() {
  tell_silent();
  lose_silent_keepers();
  ping_all();
  ping_timer_ = loop_.after(kPingInterval, [this] { ping(); });
}

// By pings and not by time: we may have been stopped, and what has come is read after this.
void SshLauncher::lose_silent_keepers() {
  for (const auto& host : hosts_) {
    if (!host->link->is_up() || !host->is_prompt) continue;
    const base::Instant heard = host->link->heard_at();
    host->silent_pings = heard == host->last_heard ? host->silent_pings + 1 : 0;
    host->last_heard = heard;
    if (host->silent_pings >= kMaxSilentPings) {
      host->link->lose_keeper("has lost its keeper, which does not answer though ssh does");
    }
  }
}

void SshLauncher::ping_all() {
  for (const auto& host : hosts_) {
    if (!host->link->is_up()) continue;
    ++host->pings;
    host->link->send(PingMessage{});
  }
}

// Whoever lives answers a ping, and whatever it sends beside is an answer too. ssh tells only of
// links that are cut, and of a frozen host later.
bool SshLauncher::is_silent(const Host& host) const {
  const base::Instant heard = std::max(begun_at_, host.link->heard_at());
  const base::Instant now = loop_.now();
  const bool is_late = hurried_at_ && heard < *hurried_at_ && now - *hurried_at_ >= kHurrySilence;
  return is_late || now - heard >= kHostSilence;
}

void SshLauncher::tell_silent() {
  for (const auto& host : hosts_) {
    if (!is_silent(*host)) continue;
    gang::HostSilent silent{.host = host->name(), .tasks = {}};
    for (const auto& [key, agent] : agents_) {
      if (agent->host == host.get()) silent.tasks.push_back(agent->task);
    }
    if (!silent.tasks.empty()) emit(std::move(silent));
  }
}

void SshLauncher::hurry() {
  if (hurried_at_) return;
  hurried_at_ = loop_.now();
  ping_all();
  hurry_limit_ = loop_.after(kHurrySilence, [this] { tell_silent(); });
}

void SshLauncher::begin(Host& host) {
  host.has_begun = true;
  const net::ChosenAddress address = address_of(host);
  if (!host.works_here) host.works_here = host.link->hello().shares_folder;
  say_where_tasks_work();
  const bool works_here = *host.works_here;
  host.link->send(BeginMessage{
      .job_id = options_.job_id,
      .run_folder = host.run_folder,
      .address = address.address,
      .address_reason = address.reason,
      .works_here = works_here,
      .outlives_us = options_.agents_outlive_us,
      .environment = works_here ? options_.environment : std::map<std::string, std::string>()});
}

// Once it is known of all: some may have the client's folder, and others not.
void SshLauncher::say_where_tasks_work() {
  std::vector<HostFolder> folders;
  for (const auto& host : hosts_) {
    if (!host->works_here) return;
    folders.push_back({host->name(), *host->works_here});
  }
  if (std::exchange(has_said_where_, true)) return;
  const auto sentence = where_tasks_work(
      {links_->working_folder(), links_->no_mark(), options_.remark, options_.keep_folders},
      folders);
  if (sentence) emit(cluster::Remark{*sentence});
}

// The chosen address stands for a loopback address only: any other may have changed.
net::ChosenAddress SshLauncher::address_of(const Host& host) {
  const HelloMessage& hello = host.link->hello();
  const bool is_known = !hello.address.empty() && !net::is_loopback_address(hello.address);
  if (!is_known && host.address) return *host.address;
  return {hello.address, hello.address_reason};
}

void SshLauncher::on_down(Host& host, const base::Error& why, bool can_pass) {
  logger_.warning("host {} is not reached: {}", host.name(), why.message);
  const bool is_lost = std::exchange(host.state, Host::State::kDown) != Host::State::kDown;
  host.trouble = why.message;
  host.waits_for = why.message;
  host.file.reset();
  host.relay->break_all();
  // Nobody has waited for it yet, as nothing of the job has begun.
  const bool is_hopeless = !can_pass || ++host.tries == kMaxTries;
  if (options_.is_first_master && host.run_folder.empty() && is_hopeless)
    return emit(gang::ClusterGone{why.message});
  host.again = loop_.after(host.pause.next(), [this, &host] { links_->open(host.index); });
  // Tasks that were not sent there go elsewhere; those that run there are over with their lease.
  for (const auto& [key, agent] : agents_) {
    if (agent->host != &host || agent->state != Agent::State::kWaiting) continue;
    slots_.give_back(host.index);
    agent->host = nullptr;
  }
  if (is_lost || !host.lease.pending()) {
    host.lease =
        loop_.after(options_.master_lost + kLeaseAllowance, [this, &host] { give_up(host); });
  }
  look_for_places();
}

void SshLauncher::give_up(Host& host) {
  std::vector<Key> lost;
  for (const auto& [key, agent] : agents_) {
    if (agent->host == &host) lost.push_back(key);
  }
  tell_lost_lines(host, lost);
  for (const Key& key : lost) {
    ended(key, {.reason = job::Reason::kLostNode, .detail = host.trouble});
  }
  if (host.is_to_bring()) fail_bringing(host, host.trouble);
}

void SshLauncher::on_frame(Host& host, const Frame& frame) {
  std::visit(base::Overloaded{
                 [&](const MessageFrame& message) { on_message(host, message.message); },
                 [&](const OpenFrame& open) { host.relay->on_frame(open); },
                 [&](const StreamFrame& stream) { host.relay->on_frame(stream); },
                 [&](const LogFrame& log) { on_log(host, log); },
                 [&](const FileFrame& file) { on(host, file); },
             },
             frame);
}

void SshLauncher::on_message(Host& host, const base::Json& json) {
  const auto message = keeper_message_from_json(json);
  if (!message.ok()) {
    return host.link->give_up(base::format("is not understood: {}", message.error().message));
  }
  std::visit(
      base::Overloaded{
          [&](const BegunMessage& begun) { on(host, begun); },
          [&](const WaitingMessage& waiting) { on(host, waiting); },
          [&](const AllocatedMessage& allocated) { on(host, allocated); },
          [&](const EndedMessage& end) { on(host, end); },
          [&](const OutputMessage& output) { on(host, output); },
          [&](const BroughtMessage& brought) { on(host, brought); },
          [&](const LogsGoneMessage& gone) { on(host, gone); },
          [&](const RefusedMessage& refused) { on(host, refused); },
          [&](const PongMessage& /*pong*/) {
            if (--host.pings < 0) return refuse_message(host, "pong");
            // Files may go before it for long, but have come by now.
            if (host.pings == 0 && host.state == Host::State::kReady) host.is_prompt = true;
          },
          [&](const LeavingMessage& /*leaving*/) { host.link->lose_keeper("has lost its keeper"); },
          [&](const auto& /*other*/) { refuse_message(host, json.at("op").get<std::string>()); },
      },
      *message);
}

// Each message counts once, where it belongs: a host that goes on with one would keep us at work.
void SshLauncher::refuse_message(Host& host, std::string_view op) {
  host.link->give_up(base::format("sends \"{}\", which is not its to send now", op));
}

void SshLauncher::on(Host& host, const BegunMessage& message) {
  if (host.state != Host::State::kBeginning) return refuse_message(host, "begun");
  if (message.run_folder != host.run_folder) lose_folder(host);
  host.run_folder = message.run_folder;
  host.folder_path = base::format("{}/jobs/{}", host.link->hello().folder,
                                  base::shorten(message.run_folder, kMaxFolderName));
  record_hosts();
  if (host.has_files || host.works_here.value_or(false)) return ready(host);
  host.state = Host::State::kCopying;
  host.next_file = 0;
  send_files(host);
}

// The contents of another folder are gone: files, and lines that had not come.
void SshLauncher::lose_folder(Host& host) {
  host.has_files = false;
  host.agent_log_seen = 0;
  host.agent_log_part.clear();
  host.is_agent_log_full = false;
  for (const auto& [key, agent] : agents_) {
    if (agent->host != &host || agent->state != Agent::State::kRuns) continue;
    // Its logs are gone with the folder, which its keeper would tell again.
    if (std::exchange(agent->are_logs_gone, true)) continue;
    emit(cluster::Remark{base::format(
        "lines that {} wrote on host {} while the host was not reached may be lost: its folder "
        "there has been removed meanwhile",
        job::to_string(agent->task), host.name())});
  }
}

// Somebody may have saved it again since the job began: it is copied as it is now, and whole.
base::Result<> SshLauncher::open_file(Host& host, const HostFile& file) {
  GANGRUN_ASSIGN(host.file, base::open_file(file.path, O_RDONLY));
  struct stat info {};
  if (::fstat(host.file.get(), &info) != 0) {
    return base::from_errno(errno, base::format("read {}", file.path));
  }
  host.file_left = static_cast<std::uint64_t>(info.st_size);
  if (host.file_left != file.size && changed_files_.insert(file.path).second) {
    emit(cluster::Remark{
        base::format("{} has changed since the job began: host {} gets it as it is now", file.path,
                     host.name())});
  }
  return {};
}

void SshLauncher::send_files(Host& host) {
  if (host.state != Host::State::kCopying) return;
  while (host.link->unsent_bytes() < kMaxUnsent) {
    if (!host.file.valid()) {
      if (host.next_file == options_.files.size()) {
        host.has_files = true;
        return ready(host);
      }
      const HostFile& next = options_.files[host.next_file++];
      if (next.is_folder) {
        host.link->send(FileMessage{.name = next.name, .is_folder = true});
        continue;
      }
      if (const auto opened = open_file(host, next); !opened.ok()) {
        return emit(gang::ClusterGone{opened.error().message});
      }
      host.link->send(FileMessage{
          .name = next.name, .size = host.file_left, .is_executable = next.is_executable});
    }
    if (host.file_left == 0) {
      host.file.reset();
      continue;
    }
    std::string chunk(std::min<std::uint64_t>(kMaxChunkBytes, host.file_left), '\0');
    const ssize_t got = ::read(host.file.get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      const std::string& path = options_.files[host.next_file - 1].path;
      return emit(gang::ClusterGone{base::format("{} became shorter while it was copied", path)});
    }
    host.file_left -= static_cast<std::uint64_t>(got);
    host.link->send(FileFrame{std::string_view(chunk).substr(0, static_cast<std::size_t>(got))});
  }
}

// Agents that run there are taken over, all others of the job ended, and those started that were
// waited with.
void SshLauncher::ready(Host& host) {
  host.state = Host::State::kReady;
  host.waits_for.clear();
  for (const auto& [key, agent] : agents_) {
    if (agent->host == &host && agent->state == Agent::State::kRuns) send_adopt(*agent);
  }
  for (const auto& [number, tail] : tails_) {
    if (tail->host == &host) send_adopt(*tail);
  }
  host.link->send(ReleaseOthersMessage{});
  std::vector<Key> stopped;
  for (const auto& [key, agent] : agents_) {
    if (agent->host != &host || agent->state == Agent::State::kRuns) continue;
    if (agent->stop_grace) {
      stopped.push_back(key);
    } else {
      send_start(*agent);
    }
  }
  for (const Key& key : stopped) ended(key, job::not_begun());
  if (host.is_to_bring()) ask_for_outputs(host);
  if (std::exchange(host.return_limit, {}).pending()) settle_if_over();
  look_for_places();
}

void SshLauncher::on(Host& host, const WaitingMessage& message) {
  if (++host.waits_told > kMaxWaits) return refuse_message(host, "waiting");
  host.waits_for = base::format("host {}: {}", host.name(), base::their_words(message.reason));
  look_for_places();
}

void SshLauncher::on(Host& host, const AllocatedMessage& message) {
  Agent* agent = find(host, message.agent);
  if (agent == nullptr || agent->state != Agent::State::kStarting) return;
  if (base::dump_json(message.handle).size() > kMaxHandle) return refuse_message(host, "allocated");
  agent->state = Agent::State::kRuns;
  agent->handle = message.handle;
  host.had_tasks = true;
  host.waits_for.clear();
  emit(cluster::AgentAllocated{
      agent->task, agent->attempt, host.name(),
      base::to_json(AgentHandle{.host = host.name(),
                                .run_folder = host.run_folder,
                                .works_here = host.works_here.value_or(false),
                                .address = address_of(host).address,
                                .out_base = agent->logs[0].base,
                                .error_base = agent->logs[1].base,
                                .keeper = agent->handle})});
}

void SshLauncher::on(Host& host, const EndedMessage& message) {
  Agent* agent = find(host, message.agent);
  if (agent == nullptr) return;
  const Key key{agent->task, agent->attempt};
  keep_tail(host, *agent, message);
  job::Why why = message.why;
  for (std::string* said : {&why.detail, &why.told}) {
    if (!said->empty()) *said = base::their_words(*said);
  }
  ended(key, std::move(why), message.run);
}

// It ends by itself then. A host that has no room for the job will have none the next time.
void SshLauncher::on(Host& host, const RefusedMessage& message) {
  if (std::exchange(host.has_refused, true)) return refuse_message(host, "refused");
  emit(gang::ClusterGone{
      base::format("host {} refuses: {}", host.name(), base::their_words(message.detail))});
}

}  // namespace gangrun::ssh
