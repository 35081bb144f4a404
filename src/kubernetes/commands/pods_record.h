#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "base/described.h"
#include "base/log.h"
#include "base/result.h"
#include "client/context.h"
#include "host/job_folder.h"
#include "job/status.h"
#include "kubernetes/client.h"
#include "kubernetes/pods/manifests.h"
#include "net/event_loop.h"

// A job on Kubernetes that no client leads, as this machine remembers it: kubernetes.json in its
// folder.
namespace gangrun::kubernetes::commands {

struct PodsRecord {
  std::string name_space;
  std::string kubeconfig;  // absolute; empty: as kubectl finds it
  std::string context;     // empty: there was none
  std::string server;      // its URL, by which another cluster of the same name is noticed
  std::chrono::seconds lease{0};
  std::string stopped_by;      // see write_stop(); empty: nobody asked for its end
  bool has_settled = false;    // nothing of `last_seen` will change any more
  job::JobStatus last_seen{};  // when somebody looked last

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(base::row("namespace", &PodsRecord::name_space),
                      GANGRUN_EACH(base::row, PodsRecord, kubeconfig, context, server),
                      base::row("lease_s", &PodsRecord::lease),
                      base::late_row("stopped_by", &PodsRecord::stopped_by),
                      base::row("has_settled", &PodsRecord::has_settled),
                      base::row("last_seen", &PodsRecord::last_seen));
  }
};

// None where the job is not such a one.
base::Result<std::optional<PodsRecord>> read_pods_record(const host::JobPaths& paths);
base::Result<> write_pods_record(const host::JobPaths& paths, const PodsRecord& record);
// Notes that somebody asked for the job's end; forget_stop() notes that it was in vain.
base::Result<> write_stop(const host::JobPaths& paths, const std::string& by);
void forget_stop(const host::JobPaths& paths);

// The way to the pods of one such job, for one thread.
struct PodsWay {
  net::EventLoop loop;
  std::unique_ptr<base::Logger> logger;
  std::unique_ptr<kubernetes::Client> client;
  std::unique_ptr<pods::Manifests> manifests;  // with the names of all that it has
};
// kFailedPrecondition where the kubeconfig leads to another cluster now.
base::Result<std::unique_ptr<PodsWay>> way_to_pods(const client::Context& context,
                                                   const host::JobPaths& paths,
                                                   const PodsRecord& record);

}  // namespace gangrun::kubernetes::commands
