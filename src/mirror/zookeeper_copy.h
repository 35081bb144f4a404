#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "base/secret.h"
#include "gang/gang.h"
#include "job/spec.h"
#include "mirror/zookeeper_access.h"
#include "mirror/zookeeper_tree.h"
#include "net/event_loop.h"
#include "zookeeper/mirror.h"
#include "zookeeper/node.h"

namespace gangrun::mirror {

struct ZooKeeperCopyOptions {
  std::string job_id;
  std::string user;     // whose job it is
  base::Secret secret;  // the job's
  // Those who may do everything with what the job shows there, beside itself.
  std::vector<zookeeper::Administrator> administrators{};
  ZooKeeperAccess access{};
};

// As its place calls what a task runs in; empty: it has no name there.
using PlaceName = std::function<std::string(const job::TaskId&)>;

// The job's place in ZooKeeper's tree; the error is a sentence for the user. The job's spec says
// `zookeeper`.
base::Result<ZooKeeperPlace> zookeeper_place_of(const job::JobSpec& job,
                                                const ZooKeeperCopyOptions& options);
// The tasks that ZooKeeper is to show: those whose agent has reported and has not ended.
std::vector<ZooKeeperTask> tasks_that_have_reported(const gang::Gang& gang,
                                                    const PlaceName& place_name);
// The cluster spec as the job's tracked tasks see it: an observer is in no other's.
job::ClusterSpec without_observers(const job::ClusterSpec& spec, const job::JobSpec& job);

// The part of the job's registry that ZooKeeper shows, if the job says `zookeeper`. The sessions of
// the agents stay the truth: the job never waits for this, nor fails by it.
class ZooKeeperCopy {
 public:
  using Warn = std::function<void(std::string_view)>;

  // None where the job does not ask for it, or its user's name cannot stand there. The references
  // outlive it. `warn` is called with what the user is to be told, once for each time that
  // ZooKeeper is away for long.
  static std::unique_ptr<ZooKeeperCopy> begin(net::EventLoop& loop, base::Logger& logger,
                                              const job::JobSpec& job,
                                              const ZooKeeperCopyOptions& options,
                                              const gang::Gang& gang, PlaceName place_name,
                                              const Warn& warn);
  ZooKeeperCopy(net::EventLoop& loop, base::Logger& logger, const job::JobSpec& job,
                const ZooKeeperCopyOptions& options, const gang::Gang& gang, PlaceName place_name,
                ZooKeeperPlace place, Warn warn);

  // Something in the gang may have changed. What several changes in a row come to is shown once.
  void changed();
  // The job has ended: nothing of it is to stay.
  void end();
  // The trouble that there is now, as a sentence; empty: none.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

 private:
  void on_trouble(const std::string& reason);

  net::EventLoop& loop_;
  base::Logger& logger_;
  const job::JobSpec& job_;
  const gang::Gang& gang_;
  const PlaceName place_name_;
  ZooKeeperPlace place_;
  Warn warn_;
  std::string trouble_;
  bool has_ended_ = false;
  net::Timer soon_;
  zookeeper::Mirror mirror_;
};

}  // namespace gangrun::mirror
