#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "cluster/cluster.h"
#include "cluster/local/agent_book.h"
#include "cluster/local/host_network.h"
#include "job/gpus.h"
#include "net/deadline_timer.h"
#include "net/event_loop.h"

namespace gangrun::cluster {

// Tasks as processes on this machine: each gets a guardian and an agent (process/containment.h), as
// the book decides. Destroying it kills what is left, and waits for it.
class LocalCluster final : public Cluster, private AgentBookOutput {
 public:
  struct Options {
    std::string agent_program;  // path of gangrun-agent
    std::string host;           // the name that tasks know this machine by
    job::Gpus gpus;             // of this machine, where the job asks for any
    // Where other jobs on this machine see which GPUs are taken: one lock file for each.
    std::string gpu_lock_folder;
    std::string agent_log;  // what agents say of themselves is appended here
    std::string job_id;
    job::Containment containment = job::Containment::kSubreaper;
    // Whether the agents die with the calling process, however that ends; else their lease decides.
    bool agents_outlive_us = false;
    // Network namespaces of this machine that the tasks are to be in; empty: that of the caller.
    std::vector<job::Host> hosts;
    std::string interface;       // of which the hosts' addresses are; empty: that toward the master
    std::string master_address;  // by which the hosts reach the master; empty: found for each
  };

  LocalCluster(net::EventLoop& loop, Options options);
  ~LocalCluster() override;

  void on_event(std::function<void(Event)> listener) override;
  void start(const job::TaskId& task, int attempt, Launch launch) override;
  void adopt(const job::TaskId& task, int attempt, const base::Json& handle) override;
  void release_others() override;
  void stop(const job::TaskId& task, int attempt, std::chrono::milliseconds grace) override;
  [[nodiscard]] std::int64_t pid_here(const job::TaskId& task, std::int64_t pid) const override;

 private:
  struct Agent;

  void tell(Event event) override;
  base::Result<std::string> look_at(const std::string& host) override;
  bool hold(const job::Gpu& gpu) override;
  base::Result<AgentMark> spawn(const AgentKey& key, const Launch& launch,
                                const std::vector<job::Gpu>& gpus) override;
  void let_go() override;
  bool take_over(const AgentKey& key, const AgentMark& mark) override;
  void ask_to_end(const AgentKey& key) override;
  void end_at_once(const AgentKey& key) override;
  void kill(const AgentKey& key) override;

  void reap(const AgentKey& key);
  void watch(const AgentKey& key, Agent& agent);
  void wait_for_time();

  net::EventLoop& loop_;
  Options options_;
  std::function<void(Event)> listener_;
  AgentBook book_;
  std::map<AgentKey, std::unique_ptr<Agent>> agents_;
  // Of the agent that is started next.
  std::optional<HostNetwork> network_;
  std::vector<base::UniqueFd> gpu_locks_;
  net::DeadlineTimer timer_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for what is posted
};

}  // namespace gangrun::cluster
