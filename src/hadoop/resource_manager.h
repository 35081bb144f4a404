#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "hadoop/account.h"
#include "hadoop/credentials.h"
#include "hadoop/records.h"
#include "hadoop/rpc_round.h"

namespace gangrun::hadoop {

class Configuration;

// YARN's client service: ApplicationClientProtocol. Calls block until `deadline` at most, connect
// when they need to and go round the ResourceManagers of a high-availability pair until one
// answers. One thread at a time.
//
// Errors: kUnavailable and kDeadlineExceeded (nobody answers, with the addresses that were tried),
// kUnauthenticated, kPermissionDenied, kNotFound (no such application, queue), kInvalidArgument
// (what YARN refuses: a resource over the maximum, an unknown label), else kFailedPrecondition with
// the daemon's words.
class ResourceManagerClient {
 public:
  ResourceManagerClient(const Configuration& configuration, const Account& account);

  base::Result<NewApplication> new_application(base::Instant deadline);
  // Submitting an id that exists already does nothing.
  base::Result<> submit(const Submission& submission, base::Instant deadline);
  base::Result<ApplicationReport> report(const ApplicationId& id, base::Instant deadline);
  struct Filter {
    std::vector<std::string> types;
    std::vector<ApplicationState> states;  // empty: all
    bool own_only = false;
  };
  base::Result<std::vector<ApplicationReport>> applications(const Filter& filter,
                                                            base::Instant deadline);
  // True when the application has ended: to be called again until then.
  base::Result<bool> kill(const ApplicationId& id, const std::string& diagnostics,
                          base::Instant deadline);
  // The nodes that run.
  base::Result<std::vector<NodeReport>> running_nodes(base::Instant deadline);
  // kNotFound for an unknown one; with its children, recursively.
  base::Result<QueueInfo> queue(const std::string& name, base::Instant deadline);
  // Names of the queues to which the user may submit.
  base::Result<std::vector<std::string>> own_queues(base::Instant deadline);
  base::Result<std::vector<std::string>> node_labels(base::Instant deadline);
  base::Result<std::vector<ResourceType>> resource_types(base::Instant deadline);

  // A token with which `renewer` may renew it; its service is left empty. A cluster without
  // Kerberos, and one that was logged in to by a token, gives none: kFailedPrecondition.
  base::Result<Token> delegation_token(const std::string& renewer, base::Instant deadline);
  // Until when it is good now.
  base::Result<base::WallTime> renew(const Token& token, base::Instant deadline);

  // "host:port" of the ResourceManager that answered last; empty before.
  [[nodiscard]] std::string address() const;

 private:
  base::Result<RpcRound> round_;  // an error: the configuration does not tell where they are
};

}  // namespace gangrun::hadoop
