#include "cluster/local/local_cluster.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <iterator>

#include "base/files.h"
#include "base/format.h"
#include "base/strings.h"
#include "cluster/local/agent_processes.h"
#include "cluster/local/gpu_locks.h"
#include "cluster/local/host_network.h"
#include "process/foreign_process.h"
#include "process/proc_fs.h"
#include "process/spawn.h"
#include "process/wait_for.h"

namespace gangrun::cluster {

namespace {

// Where the agent finds its configuration, its network namespace, a file for why it has ended, and
// the locks of its GPUs.
constexpr int kConfigFd = 3;
constexpr int kNetworkFd = 4;
constexpr int kWordsFd = 5;
constexpr int kFirstLockFd = 6;
// What is not there yet is looked for that often.
constexpr std::chrono::milliseconds kLookAgain(500);
// What a stopped agent may need beyond the grace of its task before it is killed.
constexpr std::chrono::seconds kStopAllowance(5);
// How long the end of what was killed is waited for when the cluster goes.
constexpr std::chrono::seconds kKillWait(10);

constexpr std::size_t kMaxStatusBytes = std::size_t{64} * 1024;

// The last number of the line "NSpid:" of /proc/PID/status; 0 where there is none.
std::int64_t innermost_pid(std::string_view status) {
  const std::size_t line = status.find("\nNSpid:");
  if (line == std::string_view::npos) return 0;
  const std::string_view rest = status.substr(line + 1, status.find('\n', line + 1) - line - 1);
  return base::parse_integer(rest.substr(rest.find_last_of(" \t") + 1)).value_or(0);
}

// No more of what an agent says is told.
constexpr std::size_t kMaxWords = 2000;

// Of an agent: `words` is what it wrote where it gave up.
job::Why why_ended(const process::Exit& exit, const base::UniqueFd& words) {
  job::Why why = job::why_of(exit.end());
  if (why.reason != job::Reason::kOutOfMemory) why.reason = job::Reason::kAgentEnded;
  std::string said(kMaxWords, '\0');
  const ssize_t got = ::pread(words.get(), said.data(), said.size(), 0);
  said.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  // More than the status with which it says so.
  if (!said.empty()) return {.reason = why.reason, .detail = std::move(said)};
  return why;
}

}  // namespace

base::Result<> check_fits(const job::JobSpec& spec, const Machine& machine) {
  std::int64_t memory_mib = 0;
  int gpus = 0;
  for (const job::TaskSpec& task : spec.tasks) {
    for (int index = 0; index < task.slots(); ++index) {
      const job::Resources asked = task.resources_of(index);
      memory_mib += asked.memory_mib;
      gpus += asked.gpus;
      if (asked.vcores > machine.vcores) {
        return base::invalid_argument(base::format("{} asks for {} vcores; this machine has {}",
                                                   job::to_string(job::TaskId{task.type, index}),
                                                   asked.vcores, machine.vcores));
      }
    }
  }
  if (gpus > machine.gpus) {
    return base::invalid_argument(
        base::format("the job asks for {} GPUs; this machine has {}", gpus, machine.gpus));
  }
  if (memory_mib > machine.memory_mib) {
    return base::invalid_argument(
        base::format("the job asks for {} MiB of memory; this machine has {} MiB", memory_mib,
                     machine.memory_mib));
  }
  return {};
}

struct LocalCluster::Agent {
  Launch launch;
  std::vector<base::UniqueFd> gpu_locks;
  std::vector<job::Gpu> gpus;
  std::string host;  // whose slot it has
  std::optional<HostNetwork> network;
  // At most one of them: a child of ours, or of an earlier master.
  std::unique_ptr<process::Child> guardian;
  std::unique_ptr<process::ForeignProcess> adopted;
  base::UniqueFd words;  // a file in memory: why the agent has ended, by itself
  net::Watch exit_watch;
  net::Timer kill_timer;

  [[nodiscard]] bool exists() const { return guardian || adopted; }
  [[nodiscard]] pid_t pid() const { return guardian ? guardian->pid() : adopted->pid(); }
  [[nodiscard]] int end_fd() const { return guardian ? guardian->end_fd() : adopted->end_fd(); }
  void signal(int number) const {
    // What has ended is told by its descriptor.
    (void)(guardian ? guardian->signal(number) : adopted->signal(number));
  }
};

LocalCluster::LocalCluster(net::EventLoop& loop, Options options)
    : loop_(loop), options_(std::move(options)), slots_(options_.hosts) {}

LocalCluster::~LocalCluster() {
  for (auto& [key, agent] : agents_) {
    if (agent->exists()) agent->signal(SIGKILL);
  }
  const base::Instant deadline = loop_.now() + kKillWait;
  for (auto& [key, agent] : agents_) {
    if (agent->exists()) (void)process::wait_readable(agent->end_fd(), deadline);
    if (agent->guardian) (void)agent->guardian->reap();
  }
}

void LocalCluster::on_event(std::function<void(Event)> listener) {
  listener_ = std::move(listener);
}

void LocalCluster::emit(Event event) {
  const std::weak_ptr<bool> alive = alive_;
  loop_.post([this, alive, event = std::move(event)]() mutable {
    if (!alive.expired() && listener_) listener_(std::move(event));
  });
}

void LocalCluster::start(const job::TaskId& task, int attempt, Launch launch) {
  const Key key{task, attempt};
  auto agent = std::make_unique<Agent>();
  agent->launch = std::move(launch);
  agents_[key] = std::move(agent);
  if (!start_timer_.pending()) wait_for(try_start(key));
}

base::Json LocalCluster::handle_of(const Agent& agent) {
  const auto stat = process::read_stat(agent.pid());
  return {
      {"pid", agent.pid()}, {"start_ticks", stat ? stat->start_ticks : 0}, {"host", agent.host}};
}

// What is missing may come without anybody telling us: other jobs hold GPUs, a host comes back.
void LocalCluster::start_waiting() {
  std::vector<Key> waiting;
  for (const auto& [key, agent] : agents_) {
    if (!agent->exists()) waiting.push_back(key);
  }
  std::string reason;
  for (const Key& key : waiting) {
    std::string missing = try_start(key);
    if (!missing.empty()) reason = std::move(missing);
  }
  wait_for(std::move(reason));
}

void LocalCluster::wait_for(std::string missing) {
  if (!missing.empty() && missing != waits_for_) emit(Waiting{missing});
  waits_for_ = std::move(missing);
  if (!waits_for_.empty()) start_timer_ = loop_.after(kLookAgain, [this] { start_waiting(); });
}

// Why it cannot be started yet; empty where it was started, or has ended.
std::string LocalCluster::try_start(const Key& key) {
  Agent& agent = *agents_.at(key);
  if (std::string missing = take_host(agent); !missing.empty()) return missing;
  if (!take_gpus(agent)) {
    leave_host(agent);
    return base::format("other jobs hold GPUs of this machine ({} in all)",
                        options_.gpus.list.size());
  }
  const base::Result<> started = spawn_agent(key, agent);
  // Guardian and agent hold them, for as long as anything of the task lives.
  agent.gpu_locks.clear();
  agent.network.reset();
  if (started.ok()) {
    const std::string& host = agent.host.empty() ? options_.host : agent.host;
    emit(Allocated{key.first, key.second, host, handle_of(agent)});
    return {};
  }
  emit(job::AgentEnded{key.first,
                       key.second,
                       {.reason = job::Reason::kCouldNotStart, .detail = started.error().message},
                       loop_.now()});
  leave_host(agent);
  agents_.erase(key);
  return {};
}

std::string LocalCluster::take_host(Agent& agent) {
  if (options_.hosts.empty()) return {};
  std::string wanted;
  if (agent.launch.wanted) {
    const auto known = host_of_address_.find(agent.launch.wanted->host);
    if (known != host_of_address_.end()) wanted = known->second;
  }
  const std::vector<std::string>& avoided = agent.launch.avoided;
  std::set<std::string> passed_over(avoided.begin(), avoided.end());
  std::set<std::string> unusable;
  std::string missing = "all slots of the hosts are taken";
  while (true) {
    const auto host = slots_.take(wanted, passed_over);
    if (!host && passed_over == unusable) return missing;
    if (!host) {
      // Better one to avoid than none.
      passed_over = unusable;
      continue;
    }
    auto network = look_at_host(*host, options_.master_address, options_.interface);
    if (network.ok()) {
      host_of_address_[network->address] = *host;
      agent.host = *host;
      agent.network = std::move(*network);
      return {};
    }
    slots_.give_back(*host);
    unusable.insert(*host);
    passed_over.insert(*host);
    missing = base::format("host {} cannot be used: {}", *host, network.error().message);
  }
}

void LocalCluster::leave_host(Agent& agent) {
  if (!agent.host.empty()) slots_.give_back(std::exchange(agent.host, {}));
}

bool LocalCluster::take_gpus(Agent& agent) {
  const int wanted = agent.launch.resources.gpus;
  for (const job::Gpu& gpu : options_.gpus.list) {
    if (static_cast<int>(agent.gpus.size()) == wanted) break;
    std::vector<base::UniqueFd> locks = lock_gpu(options_.gpu_lock_folder, gpu);
    if (locks.empty()) continue;
    std::move(locks.begin(), locks.end(), std::back_inserter(agent.gpu_locks));
    agent.gpus.push_back(gpu);
  }
  if (static_cast<int>(agent.gpus.size()) == wanted) return true;
  agent.gpu_locks.clear();
  agent.gpus.clear();
  return false;
}

base::Result<> LocalCluster::spawn_agent(const Key& key, Agent& agent) {
  base::Json config = agent.launch.agent_config;
  // A task that asked for none must not see those of the others.
  if (!options_.gpus.list.empty()) {
    config["gpus"] = job::to_json(job::Gpus{options_.gpus.maker, agent.gpus});
  }
  if (agent.launch.wanted) config["wanted_port"] = agent.launch.wanted->port;
  if (agent.network) {
    config["host"] = agent.network->address;
    config["host_reason"] = agent.network->address_reason;
    config["master_host"] = agent.network->master_address;
  }
  GANGRUN_ASSIGN(const base::UniqueFd config_file,
                 base::memory_file("gangrun-agent-config", base::dump_json(config)));
  base::UniqueFd log(
      ::open(options_.agent_log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  process::SpawnOptions options;
  options.argv = {options_.agent_program,
                  "task",
                  "--containment",
                  std::string(job::to_string(options_.containment)),
                  "--name",
                  agent_name(options_.job_id, key.first),
                  "--config-fd",
                  std::to_string(kConfigFd),
                  "--words-fd",
                  std::to_string(kWordsFd)};
  if (!agent.launch.containers.empty()) {
    options.argv.insert(
        options.argv.end(),
        {"--containers", base::format("{}", base::join(agent.launch.containers, ","))});
  }
  if (options_.agents_outlive_us) {
    options.argv.emplace_back("--outlive");
  } else {
    options.parent_death_signal = SIGTERM;
  }
  options.environment = process::inherited_environment();
  options.standard_error = log.get();
  GANGRUN_ASSIGN(agent.words, base::memory_file("gangrun-agent-words", ""));
  options.inherited = {{config_file.get(), kConfigFd}, {agent.words.get(), kWordsFd}};
  if (agent.network) {
    options.argv.insert(options.argv.end(), {"--network-fd", std::to_string(kNetworkFd)});
    options.inherited.push_back({agent.network->name_space.get(), kNetworkFd});
  }
  if (!agent.gpu_locks.empty()) {
    std::vector<int> numbers;
    for (const base::UniqueFd& lock : agent.gpu_locks) {
      numbers.push_back(kFirstLockFd + static_cast<int>(numbers.size()));
      options.inherited.push_back({lock.get(), numbers.back()});
    }
    options.argv.insert(options.argv.end(),
                        {"--lock-fds", base::format("{}", base::join(numbers, ","))});
  }
  options.new_group = process::NewGroup::kSession;
  GANGRUN_ASSIGN(process::Child child, process::spawn(options));
  agent.guardian = std::make_unique<process::Child>(std::move(child));
  watch(key, agent);
  return {};
}

void LocalCluster::watch(const Key& key, Agent& agent) {
  agent.exit_watch = loop_.watch_readable(agent.end_fd(), [this, key] { reap(key); });
}

void LocalCluster::adopt(const job::TaskId& task, int attempt, const base::Json& handle) {
  const Key key{task, attempt};
  const auto pid = base::json_member<pid_t>(handle, "pid");
  const auto start_ticks = base::json_member<std::uint64_t>(handle, "start_ticks");
  auto agent = std::make_unique<Agent>();
  auto found = pid.ok() && start_ticks.ok()
                   ? process::ForeignProcess::open(*pid, *start_ticks)
                   : base::Result<process::ForeignProcess>(base::not_found("no agent"));
  if (!found.ok()) {
    return emit(job::AgentEnded{
        task,
        attempt,
        {.reason = job::Reason::kAgentEnded, .detail = "it ended before a new master came"},
        loop_.now()});
  }
  agent->adopted = std::make_unique<process::ForeignProcess>(std::move(*found));
  const auto host = base::json_member<std::string>(handle, "host");
  if (host.ok() && slots_.take_back(*host)) agent->host = *host;
  watch(key, *agent);
  agents_[key] = std::move(agent);
}

void LocalCluster::release_others() {
  for (const AgentProcesses& other : agent_processes(options_.job_id)) {
    const bool ours = std::any_of(agents_.begin(), agents_.end(), [&](const auto& entry) {
      return entry.second->exists() &&
             (entry.second->pid() == other.guardian || entry.second->pid() == other.agent);
    });
    // The agent: its guardian then kills what is left.
    if (!ours) (void)::kill(other.agent, SIGKILL);
  }
}

void LocalCluster::reap(const Key& key) {
  const auto found = agents_.find(key);
  if (found == agents_.end()) return;
  job::AgentEnded ended{.task = key.first, .attempt = key.second, .ended_at = loop_.now()};
  const bool is_child = found->second->guardian != nullptr;
  const auto exit = is_child ? found->second->guardian->reap()
                             : base::Result<std::optional<process::Exit>>(std::nullopt);
  if (is_child && exit.ok() && !*exit) return;
  if (!is_child) {
    // Only its parent, an earlier master, could have learned how.
  } else if (exit.ok()) {
    ended.why = why_ended(**exit, found->second->words);
  } else {
    ended.why.detail = exit.error().message;
  }
  leave_host(*found->second);
  agents_.erase(found);
  emit(std::move(ended));
}

void LocalCluster::stop(const job::TaskId& task, int attempt, std::chrono::milliseconds grace) {
  const Key key{task, attempt};
  const auto found = agents_.find(key);
  if (found == agents_.end()) return;
  Agent& agent = *found->second;
  if (!agent.exists()) {
    agents_.erase(found);
    return emit(job::AgentEnded{task, attempt, job::not_begun(), loop_.now()});
  }
  if (grace.count() > 0) {
    agent.signal(SIGTERM);
  } else {
    // The agent and not its guardian: that is the one who then kills what is left, and whose end
    // says so.
    for (const pid_t pid : process::children_of(agent.pid())) (void)::kill(pid, SIGKILL);
  }
  agent.kill_timer = loop_.after(grace + kStopAllowance, [&agent] { agent.signal(SIGKILL); });
}

// In a PID namespace the agent sees other numbers than we do: proc(5), NSpid, outermost first.
std::int64_t LocalCluster::pid_here(const job::TaskId& task, std::int64_t pid) const {
  if (options_.containment != job::Containment::kPidNamespace) return pid;
  for (const auto& [key, agent] : agents_) {
    if (key.first != task || !agent->exists()) continue;
    for (const pid_t candidate : process::descendants_of(agent->pid())) {
      const auto status =
          base::read_file(base::format("/proc/{}/status", candidate), kMaxStatusBytes);
      if (status.ok() && innermost_pid(*status) == pid) return candidate;
    }
  }
  return 0;
}

}  // namespace gangrun::cluster
