#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "cluster/cluster.h"
#include "cluster/local/slots.h"
#include "job/gpus.h"
#include "net/event_loop.h"
#include "process/child.h"

namespace gangrun::cluster {

// What this machine has to give.
struct Machine {
  std::int64_t memory_mib = 0;
  int vcores = 0;
  int gpus = 0;
};

// A sentence with both numbers if the machine can never fulfil the whole gang's requests. vcores
// are a wish (they share), memory and GPUs are not.
base::Result<> check_fits(const job::JobSpec& spec, const Machine& machine);

// Tasks as processes on this machine: each gets a guardian and an agent (process/containment.h).
// Destroying it kills what is left, and waits for it.
class LocalCluster final : public Cluster {
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
  using Key = std::pair<job::TaskId, int>;

  static base::Json handle_of(const Agent& agent);
  void start_waiting();
  void wait_for(std::string missing);
  std::string try_start(const Key& key);
  std::string take_host(Agent& agent);
  void leave_host(Agent& agent);
  bool take_gpus(Agent& agent);
  base::Result<> spawn_agent(const Key& key, Agent& agent);
  void emit(Event event);
  void reap(const Key& key);
  void watch(const Key& key, Agent& agent);

  net::EventLoop& loop_;
  Options options_;
  std::function<void(Event)> listener_;
  std::map<Key, std::unique_ptr<Agent>> agents_;
  Slots slots_;
  std::map<std::string, std::string> host_of_address_;
  net::Timer start_timer_;
  std::string waits_for_;                                       // what was last told
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for what is posted
};

}  // namespace gangrun::cluster
