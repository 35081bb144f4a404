#pragma once

#include <memory>

#include "base/log.h"
#include "base/result.h"
#include "host/backend.h"
#include "host/job_folder.h"
#include "host/job_master.h"
#include "host/local_launch.h"
#include "host/port_range.h"
#include "master/master.h"
#include "mirror/zookeeper_files.h"
#include "net/event_loop.h"

namespace gangrun::host {

struct LocalMasterOptions {
  LocalLaunch launch;
  // The ports at which other hosts are served.
  PortRange ports{};
  // Whether the tasks go on when this process is killed, until their lease is over.
  bool tasks_outlive_us = false;
  // The content of the files that the job names for ZooKeeper.
  mirror::ZooKeeperFiles zookeeper_files{};
  base::Instant commanded_at;
};

// The master of a job of this machine, in this process. It ends with the job's folder.
class LocalMaster {
  struct Private {};

 public:
  // `folder`, `backend` and `listener` outlive the result. On an error nothing that was started is
  // left.
  static base::Result<std::unique_ptr<LocalMaster>> create(
      net::EventLoop& loop, const base::Clock& clock, const JobFolder& folder,
      const job::JobSpec& spec, const LocalMasterOptions& options, Backend& backend,
      master::Listener& listener);

  // See JobMaster.
  base::Result<> start();
  [[nodiscard]] JobMaster& job() { return *master_; }

  explicit LocalMaster(Private) {}

 private:
  void look_at_folder();

  // In the order in which they are made; the later ones use the earlier ones.
  std::unique_ptr<base::Logger> logger_;
  std::unique_ptr<JobMaster> master_;
  net::EventLoop* loop_ = nullptr;
  const JobFolder* folder_ = nullptr;
  net::Timer folder_look_;
};

}  // namespace gangrun::host
