#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/log.h"
#include "base/result.h"
#include "client/context.h"
#include "kubernetes/client.h"
#include "kubernetes/commands/cluster_records.h"
#include "kubernetes/commands/master_way.h"
#include "kubernetes/pods/kubernetes_options.h"
#include "kubernetes/records/head.h"
#include "kubernetes/records/record_place.h"
#include "net/event_loop.h"

namespace gangrun::kubernetes::commands {

// How long one question to a cluster may take.
inline constexpr base::Duration kClusterAnswer = base::seconds(10);

// One command's way to a cluster and to the detached jobs in it, for one thread.
class ClusterWay {
 public:
  // All three outlive it.
  ClusterWay(net::EventLoop& loop, base::Logger& logger, kubernetes::Client& client)
      : loop_(loop), logger_(logger), client_(client), master_(loop, client) {}
  ClusterWay(const ClusterWay&) = delete;
  ClusterWay& operator=(const ClusterWay&) = delete;

  [[nodiscard]] net::EventLoop& loop() { return loop_; }
  [[nodiscard]] base::Logger& logger() { return logger_; }
  [[nodiscard]] kubernetes::Client& client() { return client_; }
  [[nodiscard]] MasterWay& master() { return master_; }
  [[nodiscard]] base::Instant soon() const { return loop_.now() + kClusterAnswer; }
  base::Result<base::Json> ask(kubernetes::Request request);

 private:
  net::EventLoop& loop_;
  base::Logger& logger_;
  kubernetes::Client& client_;
  MasterWay master_;
};

// The cluster of a record, or that of the kubeconfig where it names none: a record without a
// server. kFailedPrecondition: the kubeconfig leads to another cluster now.
base::Result<std::shared_ptr<ClusterWay>> way_to_cluster(const client::Context& context,
                                                         const ClusterRecord& record);
// The options by which the record's cluster is found again.
pods::KubernetesOptions options_of(const ClusterRecord& record);

// The record of a job by its head as the API server gives it, as far as that tells: without the
// secret and what the job is. `at`: of the same cluster.
ClusterRecord record_of_head(const base::Json& config_map, const records::Head& head,
                             const ClusterRecord& at);
// The heads in the cluster: all of a namespace, or that of one job.
base::Result<std::vector<base::Json>> list_heads(ClusterWay& way, const std::string& name_space,
                                                 const std::string& job = {});

// Fills in the job's secret, the fingerprint, and what the job is, from its Secret in the cluster.
// kPermissionDenied says who may.
base::Result<> read_secret_of(ClusterWay& way, ClusterRecord& record);
records::RecordPlace place_of(ClusterWay& way, const ClusterRecord& record);

// The uid of the job's owner; none: it is gone, and what has its name is somebody else's.
base::Result<std::optional<std::string>> find_owner(ClusterWay& way, const ClusterRecord& record);
// Whether the cluster makes no further master for the job.
base::Result<bool> has_no_more_masters(ClusterWay& way, const ClusterRecord& record);
// Removes the owner, and with it all that the job has. False: there was none.
base::Result<bool> delete_owner(ClusterWay& way, const ClusterRecord& record);
// The last words of its last master's pod; empty: nothing, or nobody knows.
std::string last_words_of_master(ClusterWay& way, const ClusterRecord& record);
// The words about the master's pod: what keeps it from running, or that it runs; empty: nobody
// knows.
std::string words_of_master(ClusterWay& way, const ClusterRecord& record);

}  // namespace gangrun::kubernetes::commands
