#include "agent/rendezvous.h"

#include <utility>

#include "agent/loopback_peer.h"

namespace gangrun::agent {

namespace {

// A process asks one thing at a time; connections of others are refused after their first request.
constexpr std::size_t kMaxConnections = 1024;

net::ServerOptions options() {
  net::ServerOptions options;
  options.max_connections = kMaxConnections;
  // What is somewhat too large is read all the same: a client that is still sending when it is
  // refused sees a broken connection instead of the reason.
  options.max_body_bytes = 2 * registry::kMaxRendezvousValueBytes;
  return options;
}

net::HttpResponse response(int status, std::string body) {
  net::HttpResponse response;
  response.status = status;
  response.content_type = status == 200 ? "application/octet-stream" : "text/plain; charset=utf-8";
  response.body = std::move(body);
  return response;
}

}  // namespace

Rendezvous::Rendezvous(net::EventLoop& loop, base::Logger& logger, Send send)
    : loop_(loop),
      logger_(logger),
      send_(std::move(send)),
      relay_(*this),
      server_(loop, options()) {
  server_.on_admission([this](const net::HttpRequest& request) { return refusal_of(request); });
  server_.on_request([this](net::HttpRequest request, net::Responder responder) {
    on_request(std::move(request), std::move(responder));
  });
}

base::Result<std::uint16_t> Rendezvous::listen() {
  GANGRUN_ASSIGN(port_, server_.listen_loopback(0));
  return port_;
}

void Rendezvous::on_request(net::HttpRequest request, net::Responder responder) {
  const registry::RendezvousTicket ticket = next_ticket_++;
  responder.on_gone([this, ticket] {
    waiting_.erase(ticket);
    relay_.forget(ticket);
    wait_for_time();
  });
  waiting_.emplace(ticket, std::move(responder));
  relay_.request(ticket, request.method, request.path, std::move(request.body), loop_.now());
  wait_for_time();
}

std::optional<net::HttpResponse> Rendezvous::refusal_of(const net::HttpRequest& request) {
  const std::string objection = objection_to(request.peer, port_);
  if (objection.empty()) return std::nullopt;
  if (!std::exchange(told_refusal_, true)) {
    logger_.warning("rendezvous: refused {}: {}", request.peer.address, objection);
  }
  return response(403, objection + "\n");
}

void Rendezvous::answer(registry::RendezvousTicket ticket, int status, const std::string& body) {
  auto node = waiting_.extract(ticket);
  if (!node.empty()) node.mapped().answer(response(status, body));
}

void Rendezvous::on_answer(const registry::RendezvousAnswerMessage& message) {
  relay_.on_answer(message);
  wait_for_time();
}

void Rendezvous::on_attached() { relay_.on_attached(); }

// One that comes too early finds nothing to do and sets the next.
void Rendezvous::wait_for_time() {
  const auto next = relay_.next_deadline();
  if (!next || (timer_.pending() && timer_at_ <= *next)) return;
  timer_at_ = *next;
  timer_ = loop_.at(*next, [this] {
    relay_.on_time(loop_.now());
    wait_for_time();
  });
}

}  // namespace gangrun::agent
