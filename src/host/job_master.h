#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agents/agents.h"
#include "agents/kept_outputs.h"
#include "agents/server.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "base/secret.h"
#include "cluster/tasks.h"
#include "job/spec.h"
#include "job/status.h"
#include "journal/far_copy.h"
#include "journal/writer.h"
#include "master/master.h"
#include "mirror/zookeeper_access.h"
#include "net/certificate.h"
#include "net/event_loop.h"
#include "zookeeper/node.h"

namespace gangrun::host {

// The address and the ports at which a job's registry is served.
struct Listening {
  std::string socket_path;  // empty: nobody on this machine is served by a socket
  // For other hosts. Served where somebody asks for it, or the tasks need it.
  net::JobCertificate certificate;
  bool by_tls = false;
  std::string address;           // empty: at all addresses
  std::uint16_t first_port = 0;  // where agents know their master to be; 0: any
  std::uint16_t last_port = 0;   // more than the first: the first free one up to here
  std::string port_file;  // the port is written here before any agent is told of it; empty: not
};

// The places of its records.
struct Records {
  std::string journal_folder;
  std::string log_folder;  // of the tasks' output; must exist, where it is not empty
  // Makes a copy of the segment with this number that a next master on another host reads; none:
  // nobody comes after this master from elsewhere.
  std::function<std::unique_ptr<journal::FarCopy>(int segment)> far_copy{};
  agents::TaskRecords tasks{};
  // Whether commands fetch outputs of tasks from the registry.
  bool gives_outputs = false;
};

// The objects that the tasks of a job stand on. All outlive them.
struct Ground {
  net::EventLoop& loop;
  const base::Clock& clock;
  base::Logger& logger;
  agents::Server& server;
  int attempt = 1;       // the number of this master, counted from the job's first one
  bool is_first = true;  // no earlier one came so far as to record what was requested
  std::chrono::milliseconds master_lost{0};
  agents::TaskRecords task_records;
};

// The tasks, and what their master has to know of them.
struct MadeTasks {
  std::unique_ptr<cluster::Tasks> tasks;
  bool come_by_tls = false;            // to an address that their place knows
  bool come_by_themselves = false;     // and have to be told where
  std::vector<std::string> remarks{};  // what users are to know from the beginning
};

struct JobMasterInput {
  job::JobSpec spec;
  std::string job_id;
  std::string folder;  // the job's own
  std::string user;    // whose job it is
  base::Secret secret;
  base::Instant commanded_at;  // when the user gave the command
  // Whether a later master knows that too; else it goes by what the journal has.
  bool later_masters_know = false;
  // How long tasks go on without hearing from their master.
  std::chrono::milliseconds master_lost{0};
  // Whether another master may go on when this one dies.
  bool can_be_followed = false;
  Listening listening;
  Records records;
  std::vector<zookeeper::Administrator> zookeeper_administrators{};
  mirror::ZooKeeperAccess zookeeper_access{};
  std::function<base::Result<MadeTasks>(const Ground&)> make_tasks;
};

// The master of one job put together, with everything that it stands on: what earlier masters left,
// its journal, its registry, its tasks. The same for this machine and for a container of YARN.
class JobMaster {
  struct Private {};

 public:
  // The references outlive the result. On an error nothing that was started is left.
  static base::Result<std::unique_ptr<JobMaster>> create(net::EventLoop& loop,
                                                         const base::Clock& clock,
                                                         base::Logger& logger, JobMasterInput input,
                                                         master::Listener& listener);

  // Serves the registry. Where the journal says that an earlier master has come so far, goes on
  // from there.
  base::Result<> start();
  // Whether the journal has the verdict already: then there is nothing to start.
  [[nodiscard]] bool has_verdict() const { return has_verdict_; }
  [[nodiscard]] bool tasks_come_by_themselves() const { return come_by_themselves_; }
  // The port at which TLS is served; 0: none.
  [[nodiscard]] std::uint16_t tls_port() const { return server_->tls_port(); }
  // Whether a client that reads the tasks' output has been given all of it.
  [[nodiscard]] bool lines_are_told() const { return server_->lines_are_told(); }

  // See master::Master.
  [[nodiscard]] job::JobStatus status() const { return master_->status(); }
  void request_stop(std::string by, bool at_once) { master_->request_stop(std::move(by), at_once); }
  [[nodiscard]] bool is_settling() const { return master_->is_settling(); }
  void ask(const cluster::Question& question, cluster::OnAnswer on_answer) {
    master_->ask(question, std::move(on_answer));
  }
  void set_trouble(std::string sentence) { master_->set_trouble(std::move(sentence)); }

  explicit JobMaster(Private) {}

 private:
  agents::ServerCallbacks callbacks();
  base::Result<> listen();

  Listening listening_;
  bool has_verdict_ = false;
  bool come_by_themselves_ = false;
  // In the order in which they are made; the later ones use the earlier ones.
  std::unique_ptr<journal::Writer> journal_;
  std::unique_ptr<journal::FarCopy> far_copy_;
  std::optional<agents::KeptOutputs> outputs_;
  std::unique_ptr<agents::Server> server_;
  std::unique_ptr<cluster::Tasks> tasks_;
  std::unique_ptr<master::Master> master_;
};

// Whether the master of this job may have as many files open as it will: else tasks would miss it
// one by one. kFailedPrecondition, with both numbers.
base::Result<> check_open_files(const job::JobSpec& spec);

}  // namespace gangrun::host
