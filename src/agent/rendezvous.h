#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "net/event_loop.h"
#include "net/server.h"
#include "registry/rendezvous_relay.h"

namespace gangrun::agent {

// The key-value store by which the processes of a gang under Horovod find each other, as one run of
// one task sees it: HTTP on 127.0.0.1, answered by the master (docs/protocols/rendezvous.md). It
// answers processes of this user and of root only.
class Rendezvous final : private registry::RendezvousRelayOutput {
 public:
  using Send = std::function<void(registry::RendezvousMessage)>;

  Rendezvous(net::EventLoop& loop, base::Logger& logger, Send send);
  Rendezvous(const Rendezvous&) = delete;
  Rendezvous& operator=(const Rendezvous&) = delete;

  // The port that was taken.
  base::Result<std::uint16_t> listen();

  void on_answer(const registry::RendezvousAnswerMessage& message);
  void on_attached();

 private:
  void send(registry::RendezvousMessage message) override { send_(std::move(message)); }
  void answer(registry::RendezvousTicket ticket, int status, const std::string& body) override;
  void on_request(net::HttpRequest request, net::Responder responder);
  // The refusal that it gets instead of an answer to its request; none if it gets an answer.
  [[nodiscard]] std::optional<net::HttpResponse> refusal_of(const net::HttpRequest& request);
  void wait_for_time();

  net::EventLoop& loop_;
  base::Logger& logger_;
  const Send send_;
  registry::RendezvousRelay relay_;
  std::uint16_t port_ = 0;
  bool told_refusal_ = false;
  registry::RendezvousTicket next_ticket_ = 1;
  std::map<registry::RendezvousTicket, net::Responder> waiting_;
  net::Timer timer_;
  base::Instant timer_at_;
  net::Server server_;  // last: its callbacks use the others
};

}  // namespace gangrun::agent
