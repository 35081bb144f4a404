#include "agent/process_server.h"

#include <unistd.h>

#include <utility>

#include "base/format.h"
#include "job/cluster_spec.h"
#include "process/listeners.h"

namespace gangrun::agent {

namespace {

// A process asks one thing at a time; connections of others are refused as they come.
constexpr std::size_t kMaxConnections = 1024;
constexpr int kForbidden = 403;

net::ServerOptions options(std::size_t max_body_bytes) {
  net::ServerOptions options;
  options.max_connections = kMaxConnections;
  options.max_body_bytes = max_body_bytes;
  return options;
}

// Why the process at the other end of a connection to `port` of 127.0.0.1 gets nothing; empty when
// it does, as it is of this user or of root.
std::string objection_to(const net::Peer& peer, std::uint16_t port) {
  const auto address = job::parse_address(peer.address);
  if (!address.ok()) return "the address of the process that asks is not known";
  const auto owner = process::connection_owner(address->host, address->port, port);
  if (!owner.ok()) {
    return base::format("whose process asks cannot be told: {}", owner.error().message);
  }
  if (!*owner) return "whose process asks cannot be told";
  if (**owner == ::geteuid() || **owner == 0) return "";
  return base::format("the process that asks belongs to user {}", **owner);
}

}  // namespace

ProcessServer::ProcessServer(net::EventLoop& loop, base::Logger& logger, std::string name,
                             std::size_t max_body_bytes, Relay relay)
    : loop_(loop),
      logger_(logger),
      name_(std::move(name)),
      relay_(std::move(relay)),
      server_(loop, options(max_body_bytes)) {
  server_.on_arrival([this](const net::Peer& peer) { return refusal_of(peer); });
  // A connection that its process has closed has no owner any more.
  server_.on_half_closed(
      [this](const net::Peer& peer) { return objection_to(peer, port_).empty(); });
  server_.on_request([this](net::HttpRequest request, net::Responder responder) {
    on_request(std::move(request), std::move(responder));
  });
}

base::Result<> ProcessServer::listen() {
  GANGRUN_ASSIGN(port_, server_.listen_loopback(0));
  return {};
}

void ProcessServer::on_request(net::HttpRequest request, net::Responder responder) {
  const Ticket ticket = next_ticket_++;
  responder.on_gone([this, ticket] {
    waiting_.erase(ticket);
    relay_.forget(ticket);
    wait_for_time();
  });
  waiting_.emplace(ticket, std::move(responder));
  relay_.on_request(ticket, std::move(request));
  wait_for_time();
}

std::optional<net::HttpResponse> ProcessServer::refusal_of(const net::Peer& peer) {
  const std::string objection = objection_to(peer, port_);
  if (objection.empty()) return std::nullopt;
  if (!std::exchange(told_refusal_, true)) {
    logger_.warning("{}: refused {}: {}", name_, peer.address, objection);
  }
  return net::HttpResponse{
      kForbidden,
      "text/plain; charset=utf-8",
      {},
      base::format("the task of these {} belongs to user {}, but {}; ask as the task's user\n",
                   name_, ::geteuid(), objection)};
}

void ProcessServer::answer(Ticket ticket, const net::HttpResponse& response) {
  auto node = waiting_.extract(ticket);
  if (!node.empty()) node.mapped().answer(response);
}

// One that comes too early finds nothing to do and sets the next.
void ProcessServer::wait_for_time() {
  const auto next = relay_.next_deadline();
  if (!next || (timer_.pending() && timer_at_ <= *next)) return;
  timer_at_ = *next;
  timer_ = loop_.at(*next, [this] {
    relay_.on_time(loop_.now());
    wait_for_time();
  });
}

}  // namespace gangrun::agent
