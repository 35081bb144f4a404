#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "cluster/launcher.h"
#include "kubernetes/client.h"
#include "kubernetes/pods/agent_hints.h"
#include "kubernetes/pods/agent_part_maps.h"
#include "kubernetes/pods/job_pods.h"
#include "kubernetes/pods/manifests.h"
#include "kubernetes/pods/relay_link.h"
#include "net/event_loop.h"
#include "net/posts.h"

namespace gangrun::kubernetes::pods {

// Starts agents as the first processes of pods. For a master that is not in the cluster one more
// pod relays their connections to it; to one in a pod they connect by themselves. An agent's slot
// is told when its pod has a node, and of a gang that is placed all or none when all have one;
// before that no agent has a session.
class PodLauncher final : public cluster::Launcher {
 public:
  struct Options {
    std::function<double()> random;  // from 0 to 1
    int master_attempt = 1;          // the number of the master, counted from the job's first one
    // Config maps that are known to be right, by their uids: see AgentPartMaps.
    std::function<bool(const std::string& uid)> is_checked;
    std::function<void(const std::string& name, const std::string& uid)> on_checked;
    // For a master in a pod. It makes pods and the agents' Secret only, takes over the pods of
    // earlier masters, and leaves what is not its tasks' where it is.
    struct Direct {
      job::Address master;  // of this master, for agents
      Owner owner;          // which is there
      std::function<void()> let_agents_in;
      std::function<bool()> is_in_office;        // else nothing is made or deleted any more
      std::chrono::milliseconds master_lost{0};  // how long agents go on without a master
    };
    std::optional<Direct> direct{};
  };

  // `manifests` has agents. The references outlive it.
  PodLauncher(net::EventLoop& loop, base::Logger& logger, Client& client, Manifests manifests,
              Options options);

  // See JobPods.
  void clear(std::function<void(base::Result<>)> done);
  [[nodiscard]] std::string left() const { return pods_.left(); }

  void on_event(std::function<void(cluster::LaunchEvent)> listener) override {
    outbox_.on_event(std::move(listener));
  }
  void start(const job::TaskId& task, int attempt, cluster::Launch launch) override;
  void adopt(const job::TaskId& task, int attempt, const base::Json& handle) override;
  void release_others() override { pods_.tell_book(&PodBook::release_others); }
  void stop(const job::TaskId& task, int attempt, std::chrono::milliseconds grace) override;
  bool on_session_open(const job::TaskId& task) override;
  void on_session_lost(const job::TaskId& task,
                       const std::optional<std::string>& farewell) override;
  bool look_for_losses() override;
  [[nodiscard]] std::string silence() const override { return pods_.book().silence(loop_.now()); }
  // Processes of pods have no number here.
  [[nodiscard]] std::int64_t pid_here(const job::TaskId&, std::int64_t) const override { return 0; }

 private:
  void begin(const base::Json& agent_config);
  void start_relay();
  void on(const cluster::AgentAllocated& event);
  void on(const cluster::PreemptionNotice& event);
  void on(const cluster::LossesTold& event) { emit(event); }
  void on(const job::AgentEnded& event);
  void on(const gang::ClusterGone& event) { emit(event); }
  void on(const cluster::TasksWarning& event) { emit(event); }
  void on(const RunStarted& event);
  // A book with agents tells neither.
  void on(const RunLine&) {}
  void on(const job::Exited&) {}
  void make_link(const base::Json& agent_config);
  void on_relay(const job::Address& address);
  void on_relay_given_up(const base::Error& why);
  void hint(const job::TaskId& task);
  void tell_waiting();
  void look_at_maps();
  void emit(cluster::LaunchEvent event) { outbox_.tell(std::move(event)); }
  JobPods::Callbacks pod_callbacks();
  [[nodiscard]] std::optional<JobPods::Guest> guest() const;
  // For so long an agent goes on without its master.
  [[nodiscard]] base::Duration agent_lease() const;
  AgentPartMaps::Callbacks map_callbacks();

  net::EventLoop& loop_;
  base::Logger& logger_;
  Client& client_;
  const Options options_;
  net::Outbox<cluster::LaunchEvent> outbox_;
  Manifests manifests_;
  JobPods pods_;
  std::optional<AgentPartMaps> maps_;  // where agents come by them
  std::optional<RelayLink> link_;
  std::optional<AgentHints> hints_;
  // Agents that are requested, and have no session.
  std::set<job::TaskId> without_session_;
  // Those that know where the relay is.
  std::set<job::TaskId> informed_;
  int relays_ = 0;  // started so far
  bool has_begun_ = false;
  bool has_maps_ = false;
  base::Instant look_at_maps_at_{};
  bool is_cleared_ = false;
  std::string waiting_;  // as it was told last
  net::Timer waiting_timer_;
};

}  // namespace gangrun::kubernetes::pods
