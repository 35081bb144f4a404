#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "base/secret.h"
#include "cluster/cluster.h"
#include "cluster/direct.h"
#include "cluster/far_results.h"
#include "job/spec.h"
#include "job/status.h"
#include "journal/far_copy.h"
#include "journal/replay.h"
#include "journal/writer.h"
#include "master/zookeeper_access.h"
#include "net/certificate.h"
#include "net/event_loop.h"
#include "registry/join.h"
#include "zookeeper/node.h"

namespace gangrun::master {

// Of the place, that a status shows; later ones are only in the log.
inline constexpr std::size_t kMaxRemarks = 8;

// What a master tells the process that it lives in. Called on the loop's thread.
class Listener {
 public:
  virtual ~Listener() = default;
  // The state of the job or of a task has changed. Not called for memory, CPU and log lines: who
  // shows them asks status(), or reads the logs, at its own pace.
  virtual void on_changed() = 0;
  // Lines of the task's output are not in its log, and why.
  virtual void on_incomplete_log(const job::TaskId& task, std::string_view what) = 0;
  // Worth telling the user: a restart, a sidecar that failed.
  virtual void on_warning(std::string_view sentence) = 0;
  // What the user is to know, and nothing is wrong with: where the tasks work, what was brought.
  virtual void on_remark(std::string_view sentence) = 0;
  // The job has ended and nothing of it is alive; called once, the last call.
  virtual void on_finished() = 0;
};

// Everything about one job that is settled before its master begins.
struct Settings {
  job::JobSpec spec;  // validated
  std::string job_id;
  std::string folder;          // the job's own: holds socket_path and the logs
  std::string socket_path;     // empty: nobody on this machine is served by a socket
  std::string result_folder;   // for what the tasks leave as their results; made when it is needed
  std::string log_folder;      // of the tasks' output; must exist
  std::string working_folder;  // of the user's commands
  std::string user;            // whose job it is
  std::string host;            // by which the tasks know this machine
  std::string host_reason;     // why by this one
  base::Secret secret;
  // With one, agents on other hosts are served by TLS too; without, only the Unix socket is.
  std::unique_ptr<net::JobCertificate> certificate;
  // Whether agents come by TLS, to an address that the cluster knows; else by the socket.
  bool agents_come_by_tls = false;
  // Whether agents serve tunnels though they come by the socket, which then leads to them from
  // elsewhere.
  bool tasks_are_away = false;
  // Whether the tasks' output is kept for clients on other machines.
  bool keeps_lines = false;
  // Whether it is written to `log_folder` by the master, as no task can.
  bool writes_lines = false;
  // Where the tasks come by themselves: the same place as the cluster. Outlives the master.
  registry::Joining* joining = nullptr;
  // Where no agents are beside the tasks: the same place as the cluster. Outlives the master.
  cluster::Direct* direct = nullptr;
  std::string listen_address;       // where TLS is served; empty: at all addresses
  std::uint16_t tls_port = 0;       // where the agents know their master to be; 0: any
  std::uint16_t last_tls_port = 0;  // more than the one before: the first free one up to here
  std::string tls_port_file;  // the port is written here before any agent is told of it; empty: not
  // Those who may do everything with what the job shows in ZooKeeper, beside itself.
  std::vector<zookeeper::Administrator> zookeeper_administrators{};
  ZooKeeperAccess zookeeper_access{};
  job::Containment containment = job::Containment::kSubreaper;  // decided, not kAuto
  base::Instant commanded_at;  // when the user gave the command: what start-up times count from
  std::chrono::milliseconds master_lost{0};
  // Whether another master may go on when this one dies: then nothing is given out that is not
  // recorded. Else the job does not wait for its journal.
  bool can_be_followed = false;
  // With one, what gives out something new (a generation, a start) and the verdict wait until the
  // journal is known there too. Outlives the master.
  journal::FarCopy* far_copy = nullptr;
  // With one, results are known when they are there, and none stays in the folder. Outlives the
  // master.
  cluster::FarResults* far_results = nullptr;
  // Whether that other master may be at another address; then it has to find the agents.
  bool may_move = false;
  int attempt = 1;  // the number of this master, counted from the job's first one
  // What the earlier masters of the job left; none: this is the first one.
  std::optional<journal::Replayed> past;
  // Whether agents keep the tasks' outputs, which are lost with an agent that ends before it has.
  bool agents_keep_outputs = false;
  // Told from the beginning, as the place's own remarks are.
  std::vector<std::string> remarks{};
};

// For journal::replay().
gang::Gang::Limits gang_limits(std::chrono::milliseconds master_lost);

// The coordinator of one job: gang, registry, cluster and journal put together. Owns none of the
// things that it is given by reference; they outlive it.
class Master {
 public:
  Master(net::EventLoop& loop, const base::Clock& clock, base::Logger& logger,
         cluster::Cluster& cluster, journal::Writer& journal, Listener& listener,
         Settings settings);
  ~Master();
  Master(const Master&) = delete;
  Master& operator=(const Master&) = delete;

  // Listens on the socket and asks for the tasks, or takes over those of an earlier master. On an
  // error nothing was started.
  base::Result<> start();
  // Asks for the end of the job; a second time, or at_once: without any grace.
  void request_stop(std::string by, bool at_once);
  // Tells the tasks that run that their place may end them, at a time that is not known; how many
  // could be told. Of tasks without agents: how many are being told; a warning names those that it
  // does not reach.
  int give_notice(const std::string& by);
  // Tasks that run, and those that will, get this token file of Hadoop in place of the one that
  // they were started with.
  void set_tokens(base::Secret file);
  // Told with the job's state from now on, and with its cause if it fails: what is wrong beside it.
  // An empty sentence: it is well again.
  void set_trouble(std::string sentence);
  [[nodiscard]] job::JobStatus status() const;
  // Whether a client that reads the tasks' output has been given all of it.
  [[nodiscard]] bool lines_are_told() const;
  // The tasks have ended, and files that they have written are being brought.
  [[nodiscard]] bool is_settling() const;
  // The port on which agents of other hosts are served; 0 without a certificate.
  [[nodiscard]] std::uint16_t tls_port() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gangrun::master
