#include "hadoop/rpc_round.h"

#include <chrono>
#include <utility>

#include "base/format.h"
#include "base/pause.h"
#include "base/strings.h"
#include "hadoop/configuration.h"
#include "net/hosts.h"

namespace gangrun::hadoop {

namespace {

using namespace std::chrono_literals;

constexpr base::milliseconds kFirstPause = 50ms;
constexpr base::milliseconds kLongestRetry = 1s;

std::string with_suffix(std::string_view key, std::string_view id) {
  return id.empty() ? std::string(key) : base::format("{}.{}", key, id);
}

base::Result<ServerAddress> address_of(const Configuration& configuration, std::string_view key,
                                       std::string_view id, int default_port) {
  const std::string name = with_suffix(key, id);
  if (const std::optional<std::string> text = configuration.get(name)) {
    base::Result<ServerAddress> address = parse_server_address(*text, default_port);
    if (!address.ok()) return configuration.error(name, "expected host:port");
    return address;
  }
  const std::string host_name = with_suffix("yarn.resourcemanager.hostname", id);
  const std::optional<std::string> host = configuration.get(host_name);
  if (!host && !id.empty()) return configuration.error(name, "expected host:port");
  // Hadoop's own default, which reaches a server on the same machine.
  return ServerAddress{.host = host.value_or("0.0.0.0"), .port = default_port};
}

}  // namespace

bool pause_for(base::Duration length, base::Instant deadline) {
  if (base::SystemClock().now() + length >= deadline) return false;
  base::pause_for(length);
  return true;
}

base::Result<ServerAddress> parse_server_address(std::string_view text, int default_port) {
  const std::string_view trimmed = base::trim(text);
  const std::size_t colon = trimmed.rfind(':');
  const bool has_port =
      colon != std::string_view::npos && trimmed.find(']', colon) == std::string_view::npos;
  std::string_view host = trimmed.substr(0, has_port ? colon : trimmed.size());
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const std::int64_t port =
      has_port ? base::parse_integer(trimmed.substr(colon + 1)).value_or(0) : default_port;
  if (host.empty() || host.find_first_of(" ,/$[]") != std::string_view::npos || port < 1 ||
      port > 65535) {
    return base::invalid_argument(base::format("\"{}\" is not a host:port", trimmed));
  }
  return ServerAddress{.host = std::string(host), .port = static_cast<int>(port)};
}

base::Result<std::vector<ServerAddress>> resource_manager_addresses(
    const Configuration& configuration, std::string_view key, int default_port) {
  GANGRUN_ASSIGN(const bool several,
                 configuration.boolean("yarn.resourcemanager.ha.enabled", false));
  std::vector<std::string> ids{""};
  if (several) {
    ids = configuration.list("yarn.resourcemanager.ha.rm-ids");
    if (ids.empty()) {
      return configuration.error("yarn.resourcemanager.ha.rm-ids",
                                 "expected the names of the ResourceManagers");
    }
  }
  std::vector<ServerAddress> addresses;
  for (const std::string& id : ids) {
    GANGRUN_ASSIGN(ServerAddress address, address_of(configuration, key, id, default_port));
    addresses.push_back(std::move(address));
  }
  return addresses;
}

base::Result<std::vector<ServerAddress>> resource_manager_addresses(
    const Configuration& configuration) {
  return resource_manager_addresses(configuration, "yarn.resourcemanager.address", 8032);
}

RpcRound::RpcRound(std::string what, std::vector<ServerAddress> servers, std::string protocol,
                   Login login)
    : what_(std::move(what)),
      servers_(std::move(servers)),
      protocol_(std::move(protocol)),
      login_(std::move(login)) {}

void RpcRound::set_login(Login login) {
  login_ = std::move(login);
  connection_.reset();
}

std::string RpcRound::address(std::size_t index) const {
  return net::host_port(servers_[index].host, servers_[index].port);
}

base::Error RpcRound::to_error(const RpcError& error) const {
  std::vector<std::string> asked;
  if (!may_be_tried_again(error)) {
    asked.push_back(address(current_));
  } else {
    for (std::size_t i = 0; i < servers_.size(); ++i) asked.push_back(address(i));
  }
  return hadoop::to_error(error, base::format("{} at {}", what_, base::join(asked, " or ")));
}

RpcOutcome RpcRound::call_current(std::string_view method, std::string_view request,
                                  base::Instant deadline) {
  if (connection_ == nullptr) {
    const ServerAddress& server = servers_[current_];
    connection_ = std::make_unique<RpcConnection>(server.host, server.port, protocol_, login_);
  }
  const bool was_connected = connection_->connected();
  RpcOutcome outcome = connection_->call(method, request, deadline);
  // It may have been closed while nobody looked: that tells nothing about the server.
  if (was_connected && outcome.error && outcome.error->kind == RpcError::Kind::kUnreachable) {
    outcome = connection_->call(method, request, deadline);
  }
  return outcome;
}

RpcOutcome RpcRound::call(std::string_view method, std::string_view request,
                          base::Instant deadline) {
  base::Pause pause(kFirstPause, kLongestRetry);
  for (std::size_t tried = 1;; ++tried) {
    // One that takes a call and never answers must leave time for the others.
    const base::Instant now = base::SystemClock().now();
    const base::Instant limit = now + (deadline - now) / static_cast<std::int64_t>(servers_.size());
    RpcOutcome outcome = call_current(method, request, limit);
    if (!outcome.error || !may_be_tried_again(*outcome.error)) {
      answered_by_ = address(current_);
      return outcome;
    }
    if (servers_.size() == 1) return outcome;
    connection_.reset();
    current_ = (current_ + 1) % servers_.size();
    // Once all were asked, until a standby may have become active.
    const bool round_is_over = tried % servers_.size() == 0;
    if (!pause_for(round_is_over ? pause.next() : base::Duration(0), deadline)) return outcome;
  }
}

}  // namespace gangrun::hadoop
