#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/described.h"
#include "base/json.h"
#include "base/result.h"
#include "cluster/launcher.h"
#include "job/gpus.h"
#include "local/host_choice.h"

namespace gangrun::local {

// How often resources that are not there yet are looked for.
inline constexpr std::chrono::milliseconds kLookAgain(500);
// The time that a stopped agent may need beyond the grace of its task before it is killed.
inline constexpr std::chrono::seconds kStopAllowance(5);

// The key of an entry: a task and an attempt.
using AgentKey = std::pair<job::TaskId, int>;

// The process that the cluster waits for, so that another process never is taken for it.
struct AgentMark {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;
  bool in_starter = false;   // forked by a starter (process/starter.h), which tells its end
  std::string words_file{};  // wire::AgentConfig's
  std::string host{};        // whose slot it has, in the book's handle

  static constexpr bool kIsOpen = true;
  // A master of 0.1.0 had neither starters nor such files.
  static constexpr auto rows() {
    return std::tuple(base::row("pid", &AgentMark::pid),
                      base::row("start_ticks", &AgentMark::start_ticks),
                      base::late_row("host", &AgentMark::host),
                      base::row_if_set("in_starter", &AgentMark::in_starter),
                      base::row_if_set("words_file", &AgentMark::words_file));
  }
  friend bool operator==(const AgentMark&, const AgentMark&) = default;
};

// This machine, as the book wants it. None of them calls the book.
class AgentBookOutput {
 public:
  virtual ~AgentBookOutput() = default;
  virtual void tell(cluster::LaunchEvent event) = 0;

  // For the agent that is started next: its address on a host, or why that cannot be used. The last
  // host that can be used counts.
  virtual base::Result<std::string> look_at(const std::string& host) = 0;
  // Likewise: false where another job has the GPU.
  virtual bool hold(const job::Gpu& gpu) = 0;
  // Starts an agent with what was looked at and is held. None: on_started() tells.
  virtual base::Result<std::optional<AgentMark>> spawn(const AgentKey& key,
                                                       const cluster::Launch& launch,
                                                       const std::vector<job::Gpu>& gpus) = 0;
  // The agent has what it needs, or is not started now.
  virtual void let_go() = 0;
  // False where that process has ended.
  virtual bool take_over(const AgentKey& key, const AgentMark& mark) = 0;
  // Adds what the agent has left in its file, if it has.
  virtual void add_last_words(const AgentMark& mark, job::AgentEnded& ended) = 0;

  // Asks an agent to end; ends its task at once, by the agent's own end; ends what is left of both.
  virtual void ask_to_end(const AgentKey& key) = 0;
  virtual void end_at_once(const AgentKey& key) = 0;
  virtual void kill(const AgentKey& key) = 0;
};

// The agents of a job on this machine: which are started, with which host and which GPUs, which
// wait for what, and how each is ended. No loop, no process: it is told what happens and when.
class AgentBook {
 public:
  struct Options {
    std::string host;              // of tasks that are in none of `hosts`
    std::vector<job::Host> hosts;  // see HostChoice
    std::vector<job::Gpu> gpus;    // of this machine
  };

  AgentBook(Options options, AgentBookOutput& output);

  // Cluster's.
  void start(const job::TaskId& task, int attempt, cluster::Launch launch, base::Instant now);
  void adopt(const job::TaskId& task, int attempt, const base::Json& handle, base::Instant now);
  void stop(const job::TaskId& task, int attempt, std::chrono::milliseconds grace,
            base::Instant now);

  void on_started(const AgentKey& key, AgentMark mark);
  // Tells the end of an agent that was started or taken over. Harmless for another one.
  void on_ended(job::AgentEnded ended);

  // When on_time() has something to do next, if ever.
  [[nodiscard]] std::optional<base::Instant> next_deadline() const;
  void on_time(base::Instant now);

 private:
  struct Entry {
    std::optional<cluster::Launch> waiting;  // for what its start needs
    std::string host;                        // whose slot it has
  };

  void start_waiting(base::Instant now);
  void wait_for(std::string missing, base::Instant now);
  std::string try_start(const AgentKey& key, base::Instant now);
  base::Result<std::vector<job::Gpu>> take_gpus(int wanted);
  void forget(const AgentKey& key);

  const Options options_;
  AgentBookOutput& output_;
  HostChoice hosts_;
  std::map<AgentKey, Entry> entries_;
  std::map<AgentKey, base::Instant> kill_at_;
  std::optional<base::Instant> look_again_at_;
  std::string waits_for_;  // what was last told
};

}  // namespace gangrun::local
