#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "hadoop/records.h"
#include "hadoop/rpc_round.h"

namespace gangrun::hadoop {

class Configuration;

struct Registered {
  std::string queue;
  // Those of earlier attempts that live, and the tokens of their nodes.
  std::vector<Container> containers;
  std::vector<NodeToken> node_tokens;
};

struct AllocateRequest {
  std::vector<ResourceRequest> asks{};
  std::vector<SchedulingRequest> constrained_asks{};
  std::vector<ContainerId> releases{};
  std::vector<std::string> denied_hosts{};
  std::vector<std::string> hosts_allowed_again{};
  float progress = 0;  // 0 to 1
};

struct AllocateResponse {
  std::vector<Container> allocated;
  std::vector<ContainerStatus> completed;
  // Containers of earlier attempts of which a NodeManager has told only now.
  std::vector<Container> from_earlier_attempts;
  std::vector<NodeToken> node_tokens;
  std::vector<std::int64_t> rejected;  // constrained asks, by their allocation_request_id
  Resource headroom;
  std::vector<ContainerId> preempted;  // that the cluster wants back, and soon takes
};

// YARN's scheduler service: ApplicationMasterProtocol, with the token of kind "YARN_AM_RM_TOKEN"
// from the credentials of the master's container. Calls block until `deadline` at most and connect
// when they need to, to the active one of a high-availability pair; a rolled token is put to use by
// a new connection. One thread at a time.
//
// Errors: kUnavailable, kDeadlineExceeded: nobody answers; call again. kFailedPrecondition: the
// ResourceManager has been restarted and does not know us: register again, then allocate with all
// that is still asked for and released. kNotFound: this attempt is not wanted any more (killed,
// expired, another one has taken its place): end. kInvalidArgument: an ask that can never be
// granted; the whole call had no effect.
class ApplicationMasterClient {
 public:
  // kNotFound where the credentials have no such token.
  static base::Result<std::unique_ptr<ApplicationMasterClient>> create(
      const Configuration& configuration, const Credentials& credentials);
  ApplicationMasterClient(std::vector<ServerAddress> servers, Token token);  // for create()

  // `host` and `port` are shown to clients by the application's report. Being registered already is
  // no error. The next allocate() begins with the first number again.
  base::Result<Registered> register_master(const std::string& host, std::int32_t port,
                                           const std::string& tracking_url, base::Instant deadline);
  // The request is the change since the last successful call. After an error nothing of it had an
  // effect, or the same answer comes when it is sent again.
  base::Result<AllocateResponse> allocate(const AllocateRequest& request, base::Instant deadline);
  // Repeats the call until the ResourceManager has recorded the end.
  base::Result<> finish(FinalStatus status, const std::string& diagnostics,
                        const std::string& tracking_url, base::Instant deadline);

 private:
  Token token_;
  RpcRound round_;
  std::int32_t last_response_ = 0;
  Registered registered_;
};

}  // namespace gangrun::hadoop
