#include "cluster/local/local_cluster.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <iterator>
#include <set>

#include "base/files.h"
#include "base/format.h"
#include "cluster/kept/agent_processes.h"
#include "cluster/local/agent_start.h"
#include "cluster/local/gpu_locks.h"
#include "process/child.h"
#include "process/foreign_process.h"
#include "process/proc_fs.h"
#include "process/spawn.h"
#include "process/wait_for.h"

namespace gangrun::cluster {

namespace {

// How long the end of what was killed is waited for when the cluster goes.
constexpr std::chrono::seconds kKillWait(10);

constexpr std::size_t kMaxStatusBytes = std::size_t{64} * 1024;

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

struct LocalCluster::Agent {
  // One of them: a child of ours, or of an earlier master.
  std::unique_ptr<process::Child> guardian;
  std::unique_ptr<process::ForeignProcess> adopted;
  base::UniqueFd words;  // a file in memory: why the agent has ended, by itself
  net::Watch exit_watch;

  [[nodiscard]] pid_t pid() const { return guardian ? guardian->pid() : adopted->pid(); }
  [[nodiscard]] int end_fd() const { return guardian ? guardian->end_fd() : adopted->end_fd(); }
  void signal(int number) const {
    // What has ended is told by its descriptor.
    (void)(guardian ? guardian->signal(number) : adopted->signal(number));
  }
};

LocalCluster::LocalCluster(net::EventLoop& loop, Options options)
    : loop_(loop),
      options_(std::move(options)),
      book_({options_.host, options_.hosts, options_.gpus.list}, *this) {}

LocalCluster::~LocalCluster() {
  for (auto& [key, agent] : agents_) agent->signal(SIGKILL);
  const base::Instant deadline = loop_.now() + kKillWait;
  for (auto& [key, agent] : agents_) {
    (void)process::wait_readable(agent->end_fd(), deadline);
    if (agent->guardian) (void)agent->guardian->reap();
  }
}

void LocalCluster::on_event(std::function<void(Event)> listener) {
  listener_ = std::move(listener);
}

void LocalCluster::tell(Event event) {
  const std::weak_ptr<bool> alive = alive_;
  loop_.post([this, alive, event = std::move(event)]() mutable {
    if (!alive.expired() && listener_) listener_(std::move(event));
  });
}

void LocalCluster::start(const job::TaskId& task, int attempt, Launch launch) {
  book_.start(task, attempt, std::move(launch), loop_.now());
  wait_for_time();
}

void LocalCluster::adopt(const job::TaskId& task, int attempt, const base::Json& handle) {
  book_.adopt(task, attempt, handle, loop_.now());
}

void LocalCluster::stop(const job::TaskId& task, int attempt, std::chrono::milliseconds grace) {
  book_.stop(task, attempt, grace, loop_.now());
  wait_for_time();
}

void LocalCluster::wait_for_time() {
  timer_.set(loop_, book_.next_deadline(), [this] {
    book_.on_time(loop_.now());
    wait_for_time();
  });
}

base::Result<std::string> LocalCluster::look_at(const std::string& host) {
  GANGRUN_ASSIGN(network_, look_at_host(host, options_.master_address, options_.interface));
  return network_->address;
}

bool LocalCluster::hold(const job::Gpu& gpu) {
  std::vector<base::UniqueFd> locks = lock_gpu(options_.gpu_lock_folder, gpu);
  std::move(locks.begin(), locks.end(), std::back_inserter(gpu_locks_));
  return !locks.empty();
}

// Guardian and agent hold them, for as long as anything of the task lives.
void LocalCluster::let_go() {
  gpu_locks_.clear();
  network_.reset();
}

base::Result<AgentMark> LocalCluster::spawn(const AgentKey& key, const Launch& launch,
                                            const std::vector<job::Gpu>& gpus) {
  const base::Json config =
      agent_config(launch, options_.gpus, gpus, network_ ? &*network_ : nullptr);
  GANGRUN_ASSIGN(const base::UniqueFd config_file,
                 base::memory_file("gangrun-agent-config", base::dump_json(config)));
  base::UniqueFd log(
      ::open(options_.agent_log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  auto agent = std::make_unique<Agent>();
  GANGRUN_ASSIGN(agent->words, base::memory_file("gangrun-agent-words", ""));
  process::SpawnOptions options;
  options.argv = agent_arguments({.program = options_.agent_program,
                                  .name = agent_name(options_.job_id, key.first),
                                  .containment = options_.containment,
                                  .containers = launch.containers,
                                  .outlives_us = options_.agents_outlive_us,
                                  .has_network = network_.has_value(),
                                  .locks = gpu_locks_.size()});
  if (!options_.agents_outlive_us) options.parent_death_signal = SIGTERM;
  options.environment = process::inherited_environment();
  options.standard_error = log.get();
  options.inherited = {{config_file.get(), kConfigFd}, {agent->words.get(), kWordsFd}};
  if (network_) options.inherited.push_back({network_->name_space.get(), kNetworkFd});
  int lock_fd = kFirstLockFd;
  for (const base::UniqueFd& lock : gpu_locks_)
    options.inherited.push_back({lock.get(), lock_fd++});
  options.new_group = process::NewGroup::kSession;
  GANGRUN_ASSIGN(process::Child child, process::spawn(options));
  agent->guardian = std::make_unique<process::Child>(std::move(child));
  watch(key, *agent);
  const auto stat = process::read_stat(agent->pid());
  const AgentMark mark{agent->pid(), stat ? stat->start_ticks : 0};
  agents_[key] = std::move(agent);
  return mark;
}

bool LocalCluster::take_over(const AgentKey& key, const AgentMark& mark) {
  auto found = process::ForeignProcess::open(mark.pid, mark.start_ticks);
  if (!found.ok()) return false;
  auto agent = std::make_unique<Agent>();
  agent->adopted = std::make_unique<process::ForeignProcess>(std::move(*found));
  watch(key, *agent);
  agents_[key] = std::move(agent);
  return true;
}

void LocalCluster::watch(const AgentKey& key, Agent& agent) {
  agent.exit_watch = loop_.watch_readable(agent.end_fd(), [this, key] { reap(key); });
}

void LocalCluster::release_others() {
  std::set<pid_t> ours;
  for (const auto& [key, agent] : agents_) ours.insert(agent->pid());
  // The agent: its guardian then kills what is left.
  for (const pid_t other : agents_of_others(agent_processes(options_.job_id), ours)) {
    (void)::kill(other, SIGKILL);
  }
}

void LocalCluster::reap(const AgentKey& key) {
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
  agents_.erase(found);
  book_.on_ended(std::move(ended));
  wait_for_time();
}

void LocalCluster::ask_to_end(const AgentKey& key) { agents_.at(key)->signal(SIGTERM); }

// The agent and not its guardian: that is the one who then kills what is left, and whose end says
// so.
void LocalCluster::end_at_once(const AgentKey& key) {
  for (const pid_t pid : process::children_of(agents_.at(key)->pid())) (void)::kill(pid, SIGKILL);
}

void LocalCluster::kill(const AgentKey& key) { agents_.at(key)->signal(SIGKILL); }

// In a PID namespace the agent sees other numbers than we do: proc(5), NSpid, outermost first.
std::int64_t LocalCluster::pid_here(const job::TaskId& task, std::int64_t pid) const {
  if (options_.containment != job::Containment::kPidNamespace) return pid;
  for (const auto& [key, agent] : agents_) {
    if (key.first != task) continue;
    for (const pid_t candidate : process::descendants_of(agent->pid())) {
      const auto status =
          base::read_file(base::format("/proc/{}/status", candidate), kMaxStatusBytes);
      if (status.ok() && innermost_pid(*status) == pid) return candidate;
    }
  }
  return 0;
}

}  // namespace gangrun::cluster
