#pragma once

#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "hadoop/records.h"
#include "hadoop/rpc_round.h"

namespace gangrun::hadoop {

// One NodeManager's ContainerManagementProtocol, with the token that the ResourceManager gave for
// this node. Calls block until `deadline` at most and connect when they need to. One thread at a
// time.
//
// Errors: kUnavailable, kDeadlineExceeded: it does not answer, or is not ready yet; call again.
// kFailedPrecondition: it refuses (started already, token expired), with its words.
class NodeManagerClient {
 public:
  NodeManagerClient(const NodeId& node, const Token& token);

  // Has been taken on when this returns; the container starts later. Several at once: one result
  // each, in their order; an error as a whole where the call itself failed.
  struct Start {
    Token container_token;
    LaunchContext context;
    ContainerId id;
  };
  base::Result<std::vector<base::Result<>>> start_containers(const std::vector<Start>& starts,
                                                             base::Instant deadline);
  // SIGTERM, and SIGKILL after the node's own delay (250 ms by default).
  base::Result<> stop_container(const ContainerId& id, base::Instant deadline);
  // The statuses of those that it knows. For those that it still prepares, how far that is.
  base::Result<std::vector<ContainerStatus>> statuses(const std::vector<ContainerId>& ids,
                                                      base::Instant deadline);

 private:
  void add_progress(std::vector<ContainerStatus>& statuses, base::Instant deadline);

  RpcRound round_;
  bool tells_progress_ = true;
};

}  // namespace gangrun::hadoop
