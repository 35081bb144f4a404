#include "ssh/ssh_launcher.h"

#include <sys/stat.h>

#include <algorithm>

#include "base/described_json.h"
#include "base/format.h"
#include "base/strings.h"
#include "net/socket_listener.h"
#include "ssh/ssh_launcher_internal.h"

namespace gangrun::ssh {

namespace {

// The time that hosts may take at the end to remove what they have.
constexpr std::chrono::seconds kEndLimit(10);
// The time that ssh may take to send that to a host that does not answer: one that is frozen finds
// it when it goes on.
constexpr std::chrono::milliseconds kSilentEndLimit(500);
// The same where the end is wanted at once.
constexpr std::chrono::milliseconds kHurriedEndLimit(100);

std::uint64_t size_of(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
}

}  // namespace

SshLauncher::SshLauncher(net::EventLoop& loop, base::Logger& logger,
                         std::unique_ptr<HostLinks> links, Options options)
    : loop_(loop),
      outbox_(loop),
      logger_(logger),
      options_(std::move(options)),
      links_(std::move(links)),
      slots_(options_.hosts, options_.tasks),
      begun_at_(loop_.now()),
      released_(options_.is_first_master) {
  for (std::size_t i = 0; i < links_->size(); ++i) {
    auto host = std::make_unique<Host>();
    Host* own = host.get();
    own->index = i;
    own->link = &links_->at(i);
    own->relay = std::make_unique<net::Relay>(
        loop_, [own](const net::RelayFrame& frame) { own->link->send(to_frame(frame)); });
    own->relay->connect_to([this] { return net::connect_to_path(options_.master_socket); });
    links_->set_callbacks(i,
                          {.on_up = [this, own] { on_up(*own); },
                           .on_frame = [this, own](const Frame& frame) { on_frame(*own, frame); },
                           .on_down = [this, own](const base::Error& why,
                                                  bool can_pass) { on_down(*own, why, can_pass); },
                           .on_drained = [this, own] { send_files(*own); }});
    hosts_.push_back(std::move(host));
  }
  recall_hosts();
  for (const auto& host : hosts_) {
    if (host->link->is_up()) {
      on_up(*host);
    } else if (links_->trouble(host->index)) {
      on_down(*host, *links_->trouble(host->index), false);
    } else {
      host->trouble = base::format("host {} is being reached", host->name());
      links_->open(host->index);
    }
  }
  ping();
}

SshLauncher::~SshLauncher() { (void)end(); }

base::Result<> SshLauncher::end() {
  if (std::exchange(is_ended_, true)) return {};
  const base::Instant deadline = loop_.now() + kEndLimit;
  const base::Instant silent_deadline =
      loop_.now() + (hurried_at_ ? kHurriedEndLimit : kSilentEndLimit);
  // Whether it answers is known by now, and not asked again.
  std::vector<std::pair<Host*, base::Instant>> told;
  std::vector<std::string> left;
  for (const auto& host : hosts_) {
    if (!host->link->is_up()) continue;
    told.emplace_back(host.get(), is_silent(*host) ? silent_deadline : deadline);
    // If no task was there, nothing can have been written.
    const Kept kept = host->had_tasks ? host->kept : Kept::kNothing;
    host->link->send(EndMessage{kept});
    host->link->finish(told.back().second);
    host->is_clear = kept == Kept::kNothing;
  }
  for (const auto& [host, limit] : told) {
    const auto ended = host->link->wait_for_end(limit);
    if (ended.ok()) continue;
    host->is_clear = false;
    if (host->run_folder.empty()) continue;  // nothing was begun there
    host->left = base::format("host {} may still have {}: {}", host->name(), host->folder_path,
                              ended.error().message);
    logger_.error("{}", host->left);
    left.push_back(host->left);
  }
  record_hosts();
  if (left.empty()) return {};
  return base::unavailable(
      base::format("{}; `gangrun rm {}` removes it", base::join(left, "; "), options_.job_id));
}

std::string SshLauncher::log_path(const job::TaskId& task, bool is_error) const {
  return base::format("{}/{}-{}.{}", options_.log_folder, task.type, task.index,
                      is_error ? "err" : "out");
}

SshLauncher::Host* SshLauncher::host_of(const std::string& name) {
  const auto found =
      std::ranges::find_if(hosts_, [&name](const auto& host) { return host->name() == name; });
  return found == hosts_.end() ? nullptr : found->get();
}

SshLauncher::Agent* SshLauncher::find(const Host& host, std::uint32_t number) {
  const auto found = std::find_if(agents_.begin(), agents_.end(), [&](const auto& entry) {
    return entry.second->number == number && entry.second->host == &host;
  });
  return found == agents_.end() ? nullptr : found->second.get();
}

// Starting, adopting and ending of agents.

void SshLauncher::start(const job::TaskId& task, int attempt, cluster::Launch launch) {
  auto agent = std::make_unique<Agent>();
  agent->number = next_agent_++;
  agent->task = task;
  agent->attempt = attempt;
  agent->launch = std::move(launch);
  agents_[{task, attempt}] = std::move(agent);
  look_for_places();
}

std::set<std::string> SshLauncher::unusable_hosts() const {
  std::set<std::string> names;
  for (const auto& host : hosts_) {
    // One that is being reached for the first time is waited for: or else those that are quick
    // would have all tasks.
    const bool is_awaited = options_.is_first_master && !host->was_up;
    if (host->state == Host::State::kDown && !is_awaited) names.insert(host->name());
  }
  return names;
}

// Why it has no place yet; empty where it has one.
std::string SshLauncher::place(Agent& agent) {
  // Its own lines go behind those.
  if (has_tail(agent.task)) {
    return base::format("the last lines of {} are still coming", job::to_string(agent.task));
  }
  std::string wanted;
  if (agent.launch.wanted) {
    for (const auto& host : hosts_) {
      if (address_of(*host).address == agent.launch.wanted->host) wanted = host->name();
    }
  }
  const std::set<std::string> unusable = unusable_hosts();
  std::set<std::string> passed_over = unusable;
  passed_over.insert(agent.launch.avoided.begin(), agent.launch.avoided.end());
  auto taken = slots_.take(wanted, passed_over);
  // Better one to avoid than none.
  if (!taken) taken = slots_.take(wanted, unusable);
  if (taken) {
    agent.host = hosts_[*taken].get();
    if (agent.host->state == Host::State::kReady) send_start(agent);
    return {};
  }
  for (const auto& host : hosts_) {
    if (host->state == Host::State::kDown) return host->trouble;
  }
  return "all slots of the hosts are taken";
}

void SshLauncher::look_for_places() {
  std::string reason;
  for (const auto& [key, agent] : agents_) {
    if (agent->host != nullptr) continue;
    if (std::string missing = place(*agent); !missing.empty()) reason = std::move(missing);
  }
  for (const auto& host : hosts_) {
    if (!reason.empty()) break;
    reason = host->state == Host::State::kDown && !host->was_up ? host->trouble : host->waits_for;
  }
  if (!reason.empty() && reason != waits_for_) emit(gang::ClusterWaiting{reason});
  waits_for_ = std::move(reason);
}

void SshLauncher::send_start(Agent& agent) {
  if (agent.state == Agent::State::kWaiting) {
    for (const bool is_error : {false, true}) {
      agent.logs[is_error].base = size_of(log_path(agent.task, is_error));
    }
    supersede_earlier(agent);
  }
  agent.state = Agent::State::kStarting;
  agent.host->types.insert(agent.task.type);
  StartMessage message{.agent = agent.number,
                       .task = agent.task,
                       .attempt = agent.attempt,
                       .gpus = agent.launch.resources.gpus,
                       .wanted_port = std::nullopt,
                       .containers = agent.launch.containers,
                       .agent_config = agent.launch.agent_config};
  if (agent.launch.wanted) message.wanted_port = agent.launch.wanted->port;
  agent.host->link->send(message);
}

// Lines of the task's earlier agents that have not come have no place in its log any more:
// the gang has given them up, but their host may be reached again.
void SshLauncher::supersede_earlier(const Agent& agent) {
  const auto own = agents_.find({agent.task, agent.attempt});
  for (auto each = agents_.lower_bound({agent.task, 0}); each != own; ++each) {
    Agent& earlier = *each->second;
    if (std::exchange(earlier.is_superseded, true)) continue;
    for (const bool is_error : {false, true}) {
      Agent::Log& log = earlier.logs[is_error];
      // This is all that is known of an earlier master's agents.
      if (log.told == 0) log.told = beyond(log.base, agent.logs[is_error].base);
    }
  }
}

void SshLauncher::send_adopt(Agent& agent) {
  if (!agent.is_superseded) {
    for (const bool is_error : {false, true}) {
      Agent::Log& log = agent.logs[is_error];
      log.told = beyond(log.base, size_of(log_path(agent.task, is_error)));
    }
  }
  agent.host->link->send(AdoptMessage{.agent = agent.number,
                                      .task = agent.task,
                                      .attempt = agent.attempt,
                                      .handle = agent.handle,
                                      .out_offset = agent.logs[0].told,
                                      .error_offset = agent.logs[1].told});
  if (!agent.stop_grace) return;
  agent.host->link->send(StopMessage{.agent = agent.number, .grace = *agent.stop_grace});
}

void SshLauncher::adopt(const job::TaskId& task, int attempt, const base::Json& handle) {
  auto known = base::from_json<AgentHandle>(handle);
  Host* const host = known.ok() ? host_of(known->host) : nullptr;
  if (host == nullptr) {
    return emit(job::AgentEnded{
        task,
        attempt,
        {.reason = job::Reason::kAgentEnded, .detail = "the new master does not know it"},
        loop_.now()});
  }
  auto agent = std::make_unique<Agent>();
  agent->number = next_agent_++;
  agent->task = task;
  agent->attempt = attempt;
  agent->state = Agent::State::kRuns;
  agent->host = host;
  agent->handle = std::move(known->keeper);
  agent->logs[0].base = known->out_base;
  agent->logs[1].base = known->error_base;
  slots_.take_back(agent->host->index);
  agents_[{task, attempt}] = std::move(agent);
  for (auto each = agents_.lower_bound({task, 0}); each != agents_.end(); ++each) {
    if (each->first.first != task) break;
    supersede_earlier(*each->second);
  }
  host->had_before(std::move(known->run_folder), known->works_here);
  if (!known->address.empty()) host->address = {std::move(known->address), "as it was before"};
}

void SshLauncher::release_others() {
  released_ = true;
  begin_known();
}

void SshLauncher::stop(const job::TaskId& task, int attempt, std::chrono::milliseconds grace) {
  const auto found = agents_.find({task, attempt});
  if (found == agents_.end()) return;
  Agent& agent = *found->second;
  if (agent.state == Agent::State::kWaiting) {
    return ended(found->first, job::not_begun());
  }
  agent.stop_grace = grace;
  if (agent.host->state != Host::State::kReady) return;
  agent.host->link->send(StopMessage{.agent = agent.number, .grace = grace});
}

void SshLauncher::ended(const Key& key, job::Why why, std::optional<job::RunEnd> run) {
  const auto found = agents_.find(key);
  if (found->second->host != nullptr) slots_.give_back(found->second->host->index);
  agents_.erase(found);
  emit(job::AgentEnded{key.first, key.second, std::move(why), loop_.now(), std::move(run)});
  look_for_places();
}

}  // namespace gangrun::ssh
