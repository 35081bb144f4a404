#include "local/local_launcher.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iterator>
#include <set>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "cluster/place_part.h"
#include "job/last_words.h"
#include "local/gpu_locks.h"
#include "process/agent_processes.h"
#include "process/child.h"
#include "process/pipe.h"
#include "process/proc_fs.h"
#include "process/process_handle.h"
#include "process/starter.h"
#include "process/wait_for.h"

namespace gangrun::local {

namespace {

// How long the end of what was killed is waited for when the cluster goes.
constexpr std::chrono::seconds kKillWait(10);

// No more of what an agent says is told.
constexpr std::size_t kMaxWords = 2000;

void add_words(const std::string& text, job::AgentEnded& ended) {
  job::LastWords said = job::last_words_from(text);
  // More than the status with which it says so.
  ended.why = {.reason = said.lost_master ? job::Reason::kMasterLost : ended.why.reason,
               .detail = said.why.substr(0, kMaxWords)};
  ended.run = std::move(said.run);
}

// `words` is what the agent wrote where it gave up.
void tell_how(const process::Exit& exit, const base::UniqueFd& words, job::AgentEnded& ended) {
  ended.why = job::why_of(exit.end());
  if (ended.why.reason != job::Reason::kOutOfMemory) ended.why.reason = job::Reason::kAgentEnded;
  struct stat info {};
  // Most have left none, and a thousand may end at once.
  if (::fstat(words.get(), &info) != 0 || info.st_size == 0) return;
  std::string text(std::min(static_cast<std::size_t>(info.st_size), job::kMaxWordsBytes), '\0');
  const ssize_t got = ::pread(words.get(), text.data(), text.size(), 0);
  if (got <= 0) return;
  text.resize(static_cast<std::size_t>(got));
  add_words(text, ended);
}

// Only a file is left of agents that an earlier master has started.
void add_words_of_file(const std::string& path, job::AgentEnded& ended) {
  if (path.empty()) return;
  const auto text = base::read_file(path, job::kMaxWordsBytes);
  if (text.ok()) add_words(*text, ended);
}

bool is_in_starter(pid_t agent) {
  const auto stat = process::read_stat(agent);
  const auto parent = stat ? process::read_stat(stat->parent) : std::nullopt;
  return parent && parent->name == process::kStarterName;
}

// As a starter knows an agent.
std::string starter_key(const AgentKey& key) {
  return base::format("{}/{}", job::to_string(key.first), key.second);
}

}  // namespace

struct LocalLauncher::Agent {
  // One of them: a child of ours, or of an earlier master, or who has started it.
  std::optional<process::Child> guardian;
  process::ProcessHandle adopted;
  StarterLink* starter = nullptr;
  pid_t in_starter = 0;  // the agent itself, once it is known
  // Why the agent has ended, by itself: a file in memory, which is ours, and one that whoever takes
  // the job over finds, too, unless the disk is full.
  base::UniqueFd words;
  std::string words_file{};
  // Readable once guardian and agent have both ended: the one that is left kills what the other
  // one cannot. Not of an adopted one, whose agent itself is held instead, where it is known.
  base::UniqueFd lives;
  process::ProcessHandle adopted_agent;
  net::Watch exit_watch;

  // The guardian or what stands for it; 0 where it is not known yet.
  [[nodiscard]] pid_t pid() const {
    if (starter != nullptr) return in_starter;
    return guardian ? guardian->pid() : adopted.pid();
  }
  [[nodiscard]] int end_fd() const { return guardian ? guardian->end_fd() : adopted.end_fd(); }
  [[nodiscard]] int last_end_fd() const {
    return lives.valid() ? lives.get() : adopted_agent.end_fd();
  }
  // The descriptor of each tells that it has ended.
  void signal(int number) {
    if (guardian) return (void)guardian->signal(number);
    (void)adopted.signal(number);
  }
};

LocalLauncher::LocalLauncher(net::EventLoop& loop, Options options)
    : loop_(loop),
      outbox_(loop),
      options_(std::move(options)),
      book_({options_.host, options_.hosts, options_.gpus.list}, *this) {}

LocalLauncher::~LocalLauncher() {
  for (auto& [key, agent] : agents_) {
    if (agent->starter == nullptr) agent->signal(SIGKILL);
  }
  starters_.clear();
  const base::Instant deadline = loop_.now() + kKillWait;
  for (auto& [key, agent] : agents_) {
    if (agent->starter != nullptr) continue;
    (void)process::wait_readable(agent->end_fd(), deadline);
    if (agent->last_end_fd() >= 0) (void)process::wait_readable(agent->last_end_fd(), deadline);
    if (agent->guardian) (void)agent->guardian->reap();
  }
}

void LocalLauncher::start(const job::TaskId& task, int attempt, cluster::Launch launch) {
  book_.start(task, attempt, std::move(launch), loop_.now());
  wait_for_time();
}

void LocalLauncher::adopt(const job::TaskId& task, int attempt, const base::Json& handle) {
  book_.adopt(task, attempt, handle, loop_.now());
}

void LocalLauncher::stop(const job::TaskId& task, int attempt, std::chrono::milliseconds grace) {
  book_.stop(task, attempt, grace, loop_.now());
  wait_for_time();
}

void LocalLauncher::wait_for_time() {
  timer_.set(loop_, book_.next_deadline(), [this] {
    book_.on_time(loop_.now());
    wait_for_time();
  });
}

base::Result<std::string> LocalLauncher::look_at(const std::string& host) {
  GANGRUN_ASSIGN(network_, look_at_host(host, options_.master_address, options_.interface));
  return network_->address;
}

bool LocalLauncher::hold(const job::Gpu& gpu) {
  std::vector<base::UniqueFd> locks = lock_gpu(options_.gpu_lock_folder, gpu);
  std::move(locks.begin(), locks.end(), std::back_inserter(gpu_locks_));
  return !locks.empty();
}

// Guardian and agent hold them, for as long as anything of the task lives.
void LocalLauncher::let_go() {
  gpu_locks_.clear();
  network_.reset();
}

// None where nobody takes the agents over.
std::string LocalLauncher::words_file_of(const AgentKey& key, const cluster::Launch& launch) const {
  const auto prefix = cluster::place_part_of(launch.agent_config).log_prefix;
  if (!options_.agents_outlive_us || !prefix) return {};
  return job::words_file(*prefix, key.second);
}

AgentCommand LocalLauncher::command_for(const AgentKey& key, const cluster::Launch& launch) const {
  return {.program = options_.agent_program,
          .name = process::agent_name(options_.job_id, key.first.type, key.first.index),
          .containment = options_.containment,
          .containers = launch.containers,
          .outlives_us = options_.agents_outlive_us,
          .has_network = network_.has_value(),
          .locks = gpu_locks_.size()};
}

base::Result<std::optional<AgentMark>> LocalLauncher::spawn(const AgentKey& key,
                                                            const cluster::Launch& launch,
                                                            const std::vector<job::Gpu>& gpus) {
  base::Json config = agent_config(launch, options_.gpus, gpus, network_ ? &*network_ : nullptr);
  const std::string words_file = words_file_of(key, launch);
  cluster::set({.words_file = words_file}, config);
  GANGRUN_ASSIGN(const base::UniqueFd config_file,
                 base::memory_file("gangrun-agent-config", base::dump_json(config)));
  const auto log = base::open_file(options_.agent_log, O_WRONLY | O_CREAT | O_APPEND, 0600);
  const int log_fd = log.ok() ? log->get() : -1;
  GANGRUN_ASSIGN(base::UniqueFd words, base::memory_file("gangrun-agent-words", ""));
  std::vector<process::InheritedFd> fds{{config_file.get(), kConfigFd}, {words.get(), kWordsFd}};
  if (network_) fds.push_back({network_->name_space.get(), kNetworkFd});
  int lock_fd = kFirstLockFd;
  for (const base::UniqueFd& lock : gpu_locks_) fds.push_back({lock.get(), lock_fd++});
  const AgentCommand command = command_for(key, launch);
  const bool has_starter =
      options_.containment == job::Containment::kPidNamespace && launch.containers.empty();
  if (!has_starter) {
    GANGRUN_ASSIGN(AgentMark mark, spawn_with_guardian(key, command, fds, log_fd));
    agents_[key]->words = std::move(words);
    mark.words_file = words_file;
    return {std::move(mark)};
  }
  GANGRUN_ASSIGN(StarterLink* const link, starter(log_fd));
  auto arguments = agent_arguments(command);
  arguments.erase(arguments.begin());
  GANGRUN_TRY(link->start_agent(starter_key(key), arguments, fds));
  auto agent = std::make_unique<Agent>();
  agent->starter = link;
  agent->words = std::move(words);
  agent->words_file = words_file;
  starter_keys_[starter_key(key)] = key;
  agents_[key] = std::move(agent);
  return {std::nullopt};
}

base::Result<AgentMark> LocalLauncher::spawn_with_guardian(
    const AgentKey& key, const AgentCommand& command, const std::vector<process::InheritedFd>& fds,
    int log_fd) {
  GANGRUN_ASSIGN(process::Pipe lives, process::make_pipe());
  process::SpawnOptions options;
  AgentCommand with_pipe = command;
  const int lives_fd = kFirstLockFd + static_cast<int>(with_pipe.locks++);
  options.argv = agent_arguments(with_pipe);
  if (!options_.agents_outlive_us) options.parent_death_signal = SIGTERM;
  options.environment = process::inherited_environment();
  options.standard_error = log_fd;
  options.inherited = fds;
  options.inherited.push_back({lives.write.get(), lives_fd});
  options.new_group = process::NewGroup::kSession;
  GANGRUN_ASSIGN(process::Child child, process::spawn(options));
  auto agent = std::make_unique<Agent>();
  agent->guardian = std::move(child);
  agent->lives = std::move(lives.read);
  watch(key, *agent);
  const auto stat = process::read_stat(agent->pid());
  const AgentMark mark{agent->pid(), stat ? stat->start_ticks : 0};
  agents_[key] = std::move(agent);
  return mark;
}

// The one of an earlier master, if it lives, so that the job has one namespace here.
base::Result<StarterLink*> LocalLauncher::starter(int log_fd) {
  if (!starters_.empty() && starters_.back()->is_open()) return starters_.back().get();
  const std::string path = options_.agents_outlive_us ? options_.starter_socket : std::string();
  auto link = StarterLink::find(loop_, path, callbacks_of_starter());
  if (!link.ok()) {
    link = StarterLink::start(
        loop_, {.agent_program = options_.agent_program, .path = path, .log_fd = log_fd},
        callbacks_of_starter());
  }
  if (!link.ok()) return link.error();
  starters_.push_back(std::move(*link));
  return starters_.back().get();
}

StarterLink::Callbacks LocalLauncher::callbacks_of_starter() {
  return {.on_started = [this](const std::string& key, pid_t pid) { on_started(key, pid); },
          .on_ended = [this](const std::string& key, const std::optional<process::Exit>& exit,
                             const std::string& words) { on_ended(key, exit, words); },
          .on_over =
              [this] {
                outbox_.post([this] {
                  starters_.remove_if([](const auto& link) { return link->is_over(); });
                });
              }};
}

void LocalLauncher::on_started(const std::string& key, pid_t pid) {
  const auto found = starter_keys_.find(key);
  if (found == starter_keys_.end()) return;
  Agent& agent = *agents_.at(found->second);
  // It is known of an agent that was taken over.
  if (std::exchange(agent.in_starter, pid) != 0) return;
  const auto stat = process::read_stat(pid);
  book_.on_started(found->second, {pid, stat ? stat->start_ticks : 0, true, agent.words_file});
}

void LocalLauncher::on_ended(const std::string& key, const std::optional<process::Exit>& exit,
                             const std::string& words) {
  const auto found = starter_keys_.find(key);
  if (found == starter_keys_.end()) return;
  const AgentKey agent = found->second;
  job::AgentEnded ended{.task = agent.first, .attempt = agent.second, .ended_at = loop_.now()};
  const Agent& known = *agents_.at(agent);
  if (exit) {
    tell_how(*exit, known.words, ended);
  } else {
    ended.why.reason =
        known.in_starter == 0 ? job::Reason::kCouldNotStart : job::Reason::kAgentEnded;
  }
  if (!words.empty()) ended.why.detail = words;
  if (!known.words.valid()) add_words_of_file(known.words_file, ended);
  starter_keys_.erase(found);
  agents_.erase(agent);
  book_.on_ended(std::move(ended));
  wait_for_time();
}

bool LocalLauncher::take_over(const AgentKey& key, const AgentMark& mark) {
  if (mark.in_starter) {
    if (starters_.empty()) {
      auto link = StarterLink::find(loop_, options_.starter_socket, callbacks_of_starter());
      // Nothing outlives its starter.
      if (!link.ok()) return false;
      starters_.push_back(std::move(*link));
    }
    auto agent = std::make_unique<Agent>();
    agent->starter = starters_.back().get();
    agent->in_starter = mark.pid;
    agent->words_file = mark.words_file;
    starter_keys_[starter_key(key)] = key;
    agents_[key] = std::move(agent);
    starters_.back()->watch_agent(starter_key(key));
    return true;
  }
  auto found = process::ProcessHandle::open(mark.pid, mark.start_ticks);
  if (!found.ok()) return false;
  auto agent = std::make_unique<Agent>();
  agent->adopted = std::move(*found);
  agent->words_file = mark.words_file;
  for (const pid_t child : process::children_of(mark.pid)) {
    const auto stat = process::read_stat(child);
    if (!stat) continue;
    auto below = process::ProcessHandle::open(child, stat->start_ticks);
    if (below.ok()) agent->adopted_agent = std::move(*below);
  }
  watch(key, *agent);
  agents_[key] = std::move(agent);
  return true;
}

void LocalLauncher::add_last_words(const AgentMark& mark, job::AgentEnded& ended) {
  add_words_of_file(mark.words_file, ended);
}

void LocalLauncher::watch(const AgentKey& key, Agent& agent) {
  agent.exit_watch = loop_.watch_readable(agent.end_fd(), [this, key] { reap(key); });
}

void LocalLauncher::release_others() {
  std::set<pid_t> ours;
  for (const auto& [key, agent] : agents_) ours.insert(agent->pid());
  // The agent: its guardian then kills what is left.
  for (const pid_t other :
       process::agents_of_others(process::agent_processes(options_.job_id), ours)) {
    (void)::kill(other, SIGKILL);
  }
}

void LocalLauncher::reap(const AgentKey& key) {
  const auto found = agents_.find(key);
  if (found == agents_.end()) return;
  job::AgentEnded ended{.task = key.first, .attempt = key.second, .ended_at = loop_.now()};
  const bool is_child = found->second->guardian.has_value();
  const auto exit = is_child ? found->second->guardian->reap()
                             : base::Result<std::optional<process::Exit>>(std::nullopt);
  if (is_child && exit.ok() && !*exit) return;
  // If the guardian was killed, its agent may still be ending the task.
  const int last_end = found->second->last_end_fd();
  if (last_end >= 0 && !process::wait_readable(last_end, loop_.now())) {
    found->second->exit_watch = loop_.watch_readable(last_end, [this, key] { reap(key); });
    return;
  }
  if (!is_child) {
    // Only its parent, an earlier master, could have learned its status.
    add_words_of_file(found->second->words_file, ended);
  } else if (exit.ok()) {
    tell_how(**exit, found->second->words, ended);
  } else {
    ended.why.detail = exit.error().message;
  }
  agents_.erase(found);
  book_.on_ended(std::move(ended));
  wait_for_time();
}

void LocalLauncher::ask_to_end(const AgentKey& key) {
  Agent& agent = *agents_.at(key);
  if (agent.starter != nullptr) return agent.starter->ask_to_end(starter_key(key));
  agent.signal(SIGTERM);
}

// The agent and not its guardian: that is the one who then kills what is left, and whose end says
// so.
void LocalLauncher::end_at_once(const AgentKey& key) {
  const Agent& agent = *agents_.at(key);
  if (agent.starter != nullptr) return agent.starter->kill(starter_key(key));
  for (const pid_t pid : process::children_of(agent.pid())) (void)::kill(pid, SIGKILL);
}

void LocalLauncher::kill(const AgentKey& key) {
  Agent& agent = *agents_.at(key);
  if (agent.starter != nullptr) return agent.starter->give_up(starter_key(key));
  agent.signal(SIGKILL);
  if (!agent.guardian || !agent.guardian->reaped()) return;
  // Its guardian was killed, and it does not end by itself: it is frozen.
  for (const process::AgentProcesses& each : process::agent_processes(options_.job_id)) {
    if (each.guardian == 0 && !is_in_starter(each.agent)) (void)::kill(each.agent, SIGKILL);
  }
}

// In a PID namespace the agent sees other numbers than we do: proc(5), NSpid, outermost first.
std::int64_t LocalLauncher::pid_here(const job::TaskId& task, std::int64_t pid) const {
  if (options_.containment != job::Containment::kPidNamespace) return pid;
  for (const auto& [key, agent] : agents_) {
    if (key.first != task || agent->pid() == 0) continue;
    for (const pid_t candidate : process::descendants_of(agent->pid())) {
      const std::string status = process::read_proc(candidate, "status");
      if (process::innermost_pid(status) == pid) return candidate;
    }
  }
  return 0;
}

}  // namespace gangrun::local
