#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "cluster/launcher.h"
#include "job/gpus.h"
#include "local/agent_book.h"
#include "local/agent_start.h"
#include "local/host_network.h"
#include "local/starter_link.h"
#include "net/deadline_timer.h"
#include "net/event_loop.h"
#include "net/posts.h"
#include "process/spawn.h"

namespace gangrun::local {

// Tasks as processes on this machine, as the book decides. Where the job has a PID namespace here,
// its first process starts the agents (process/starter.h); else, and for tasks in images, which
// are in none of it, each agent gets a guardian (process/containment.h). Destroying it kills what
// is left, and waits for it.
class LocalLauncher final : public cluster::Launcher, private AgentBookOutput {
 public:
  struct Options {
    std::string agent_program;  // path of gangrun-agent
    std::string host;           // the name that tasks know this machine by
    job::Gpus gpus;             // of this machine, where the job asks for any
    // The folder in which other jobs on this machine see which GPUs are taken: one lock file for
    // each.
    std::string gpu_lock_folder;
    std::string agent_log;  // what agents say of themselves is appended here
    // The socket at which a later cluster of the job finds its starter; used if agents_outlive_us.
    std::string starter_socket;
    std::string job_id;
    job::Containment containment = job::Containment::kSubreaper;
    // Whether the agents die with the calling process, however that ends; else their lease decides.
    bool agents_outlive_us = false;
    // Network namespaces of this machine that the tasks are to be in; empty: that of the caller.
    std::vector<job::Host> hosts;
    std::string interface;       // of which the hosts' addresses are; empty: that toward the master
    std::string master_address;  // by which the hosts reach the master; empty: found for each
  };

  LocalLauncher(net::EventLoop& loop, Options options);
  ~LocalLauncher() override;

  void on_event(std::function<void(cluster::LaunchEvent)> listener) override {
    outbox_.on_event(std::move(listener));
  }
  void start(const job::TaskId& task, int attempt, cluster::Launch launch) override;
  void adopt(const job::TaskId& task, int attempt, const base::Json& handle) override;
  void release_others() override;
  void stop(const job::TaskId& task, int attempt, std::chrono::milliseconds grace) override;
  [[nodiscard]] std::int64_t pid_here(const job::TaskId& task, std::int64_t pid) const override;

 private:
  struct Agent;

  void tell(cluster::LaunchEvent event) override { outbox_.tell(std::move(event)); }
  base::Result<std::string> look_at(const std::string& host) override;
  bool hold(const job::Gpu& gpu) override;
  base::Result<std::optional<AgentMark>> spawn(const AgentKey& key, const cluster::Launch& launch,
                                               const std::vector<job::Gpu>& gpus) override;
  void let_go() override;
  bool take_over(const AgentKey& key, const AgentMark& mark) override;
  void add_last_words(const AgentMark& mark, job::AgentEnded& ended) override;
  void ask_to_end(const AgentKey& key) override;
  void end_at_once(const AgentKey& key) override;
  void kill(const AgentKey& key) override;

  [[nodiscard]] std::string words_file_of(const AgentKey& key, const cluster::Launch& launch) const;
  [[nodiscard]] AgentCommand command_for(const AgentKey& key, const cluster::Launch& launch) const;
  base::Result<AgentMark> spawn_with_guardian(const AgentKey& key, const AgentCommand& command,
                                              const std::vector<process::InheritedFd>& fds,
                                              int log_fd);
  base::Result<StarterLink*> starter(int log_fd);
  StarterLink::Callbacks callbacks_of_starter();
  void on_started(const std::string& key, pid_t pid);
  void on_ended(const std::string& key, const std::optional<process::Exit>& exit,
                const std::string& words);

  void reap(const AgentKey& key);
  void watch(const AgentKey& key, Agent& agent);
  void wait_for_time();

  net::EventLoop& loop_;
  net::Outbox<cluster::LaunchEvent> outbox_;
  Options options_;
  AgentBook book_;
  std::map<AgentKey, std::unique_ptr<Agent>> agents_;
  std::map<std::string, AgentKey> starter_keys_;  // of those that a starter has
  // The last one takes new agents, if it is open; what is before it is ending.
  std::list<std::unique_ptr<StarterLink>> starters_;
  // The network of the agent that is started next.
  std::optional<HostNetwork> network_;
  std::vector<base::UniqueFd> gpu_locks_;
  net::DeadlineTimer timer_;
};

}  // namespace gangrun::local
