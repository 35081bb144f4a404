#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/log.h"
#include "base/result.h"
#include "cluster/cluster.h"
#include "cluster/kept/job_folder.h"
#include "host/backend.h"
#include "host/local_launch.h"
#include "host/port_range.h"
#include "journal/writer.h"
#include "master/master.h"
#include "net/event_loop.h"
#include "net/interfaces.h"

namespace gangrun::host {

struct LocalMasterOptions {
  LocalLaunch launch;
  // Where other hosts are served.
  PortRange ports{};
  // Whether the tasks go on when this process is killed, until their lease is over.
  bool tasks_outlive_us = false;
  // What files hold that the job names for ZooKeeper.
  registry::ZooKeeperFiles zookeeper_files{};
  base::Instant commanded_at;
};

// The master of a job whose master is this process, with everything that it stands on.
class LocalMaster {
  struct Private {};

 public:
  // `folder`, `backend` and `listener` outlive the result. On an error nothing that was started is
  // left.
  static base::Result<std::unique_ptr<LocalMaster>> create(
      net::EventLoop& loop, const base::Clock& clock, const cluster::JobFolder& folder,
      const job::JobSpec& spec, const LocalMasterOptions& options, Backend& backend,
      master::Listener& listener);

  // Where the journal says that an earlier master has come so far, goes on from there.
  base::Result<> start();
  // Whether the journal has the verdict already: then there is nothing to start.
  [[nodiscard]] bool has_verdict() const { return has_verdict_; }
  [[nodiscard]] job::JobStatus status() const { return master_->status(); }
  [[nodiscard]] std::uint16_t tls_port() const { return master_->tls_port(); }
  void request_stop(std::string by, bool at_once) { master_->request_stop(std::move(by), at_once); }
  [[nodiscard]] bool is_settling() const { return master_->is_settling(); }
  int give_notice(const std::string& by) { return master_->give_notice(by); }

  // Whether its tasks come by themselves, and have to be told where.
  [[nodiscard]] bool is_joined() const { return is_joined_; }

  explicit LocalMaster(Private) {}

 private:
  void look_at_folder();

  // In the order in which they are made; the later ones use the earlier ones.
  std::unique_ptr<base::Logger> logger_;
  std::unique_ptr<journal::Writer> journal_;
  std::unique_ptr<cluster::Cluster> cluster_;
  Backend* backend_ = nullptr;
  std::unique_ptr<master::Master> master_;
  net::EventLoop* loop_ = nullptr;
  const cluster::JobFolder* folder_ = nullptr;
  net::Timer folder_look_;
  bool has_verdict_ = false;
  bool is_joined_ = false;
};

}  // namespace gangrun::host
