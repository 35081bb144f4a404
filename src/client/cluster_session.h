#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "client/context.h"
#include "client/run_options.h"
#include "cluster/site.h"

namespace gangrun::client {

// A job whose master is in a cluster, as a command that stays with it knows it.
struct ClusterJob {
  std::string id;
  std::string cluster;  // in a sentence: "YARN"
  // A way to the job of its own for each thread.
  std::function<base::Result<std::unique_ptr<cluster::Job>>()> find;
  // Whether this user may ask its master; null: whoever finds it may.
  std::function<base::Result<>()> check_own{};
  std::string page_url{};  // empty: it has none
  // How long lines may be on their way to us when the master has told the end.
  base::Duration last_lines{0};
};

struct ClusterSessionOptions {
  bool ours = false;  // Ctrl-C ends it as on one machine; else Ctrl-C leaves and the job goes on
  // So long it may wait for a place of its master; none: as long as the cluster lets it.
  std::optional<std::chrono::milliseconds> allocation_limit{};
};

// Shows the job as `run` does, from its beginning, until it ends.
ExitStatus show_cluster_job(ClusterJob job, const ClusterSessionOptions& options,
                            const DisplayOptions& display, Context& context);

}  // namespace gangrun::client
