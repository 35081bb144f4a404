#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "hadoop/rpc_connection.h"
#include "hadoop/rpc_error.h"

namespace gangrun::hadoop {

class Configuration;

struct ServerAddress {
  std::string host;
  int port = 0;

  friend bool operator==(const ServerAddress&, const ServerAddress&) = default;
};

// "host:port"; a port that is missing is `default_port`. kInvalidArgument.
base::Result<ServerAddress> parse_server_address(std::string_view text, int default_port);

// The addresses at which the ResourceManagers offer a service: of all that
// yarn.resourcemanager.ha.rm-ids names, or of the only one. `key` is "yarn.resourcemanager.address"
// and the like.
base::Result<std::vector<ServerAddress>> resource_manager_addresses(
    const Configuration& configuration, std::string_view key, int default_port);
// The same of the service for clients.
base::Result<std::vector<ServerAddress>> resource_manager_addresses(
    const Configuration& configuration);
inline constexpr std::string_view kManagerPrincipal = "yarn.resourcemanager.principal";

// Lets `length` pass before something is asked again; false where the deadline comes before.
[[nodiscard]] bool pause_for(base::Duration length, base::Instant deadline);

// One service that several servers offer, of which one at a time is active. A standby refuses
// connections, or says so.
class RpcRound {
 public:
  // `what` is "the ResourceManager", for messages.
  RpcRound(std::string what, std::vector<ServerAddress> servers, std::string protocol, Login login);

  // Makes the call. With one server, a connection that has broken is made again once. With several,
  // it goes round until one answers or the deadline has come: the call must be one that may be sent
  // again.
  RpcOutcome call(std::string_view method, std::string_view request, base::Instant deadline);

  // The next call logs in with this.
  void set_login(Login login);
  [[nodiscard]] base::Error to_error(const RpcError& error) const;
  // The address of the server that answered last; empty before.
  [[nodiscard]] const std::string& answered_by() const { return answered_by_; }

 private:
  RpcOutcome call_current(std::string_view method, std::string_view request,
                          base::Instant deadline);
  [[nodiscard]] std::string address(std::size_t index) const;

  const std::string what_;
  const std::vector<ServerAddress> servers_;
  const std::string protocol_;
  Login login_;
  std::size_t current_ = 0;
  std::unique_ptr<RpcConnection> connection_;
  std::string answered_by_;
};

}  // namespace gangrun::hadoop
