#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "net/event_loop.h"
#include "net/http.h"
#include "net/server.h"

namespace gangrun::agent {

// HTTP on 127.0.0.1 for the processes of the task, whose requests a relay asks of the master. It
// answers processes of this user and of root only.
class ProcessServer {
 public:
  // One request; known to the relay by this number.
  using Ticket = std::uint64_t;
  struct Relay {
    std::function<void(Ticket, net::HttpRequest)> on_request;
    std::function<void(Ticket)> forget;  // its process has gone
    std::function<std::optional<base::Instant>()> next_deadline;
    std::function<void(base::Instant)> on_time;
  };

  // `name` is what it serves, for the log.
  ProcessServer(net::EventLoop& loop, base::Logger& logger, std::string name,
                std::size_t max_body_bytes, Relay relay);
  ProcessServer(const ProcessServer&) = delete;
  ProcessServer& operator=(const ProcessServer&) = delete;

  base::Result<> listen();
  // 0: it does not listen.
  [[nodiscard]] std::uint16_t port() const { return port_; }

  // A process that has gone gets nothing.
  void answer(Ticket ticket, const net::HttpResponse& response);
  // The relay may have another deadline.
  void wait_for_time();

 private:
  void on_request(net::HttpRequest request, net::Responder responder);
  [[nodiscard]] std::optional<net::HttpResponse> refusal_of(const net::Peer& peer);

  net::EventLoop& loop_;
  base::Logger& logger_;
  const std::string name_;
  const Relay relay_;
  std::uint16_t port_ = 0;
  bool told_refusal_ = false;
  Ticket next_ticket_ = 1;
  std::map<Ticket, net::Responder> waiting_;
  net::Timer timer_;
  base::Instant timer_at_;
  net::Server server_;  // last: its callbacks use the others
};

}  // namespace gangrun::agent
