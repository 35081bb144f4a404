#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "agent/process_server.h"
#include "base/log.h"
#include "base/result.h"
#include "net/event_loop.h"
#include "wire/rendezvous_relay.h"

namespace gangrun::agent {

// The key-value store by which the processes of a gang under Horovod find each other, as one run of
// one task sees it: HTTP on 127.0.0.1, answered by the master (docs/protocols/rendezvous.md). It
// answers processes of this user and of root only.
class Rendezvous final : private wire::RendezvousRelayOutput {
 public:
  using Send = std::function<void(wire::RendezvousMessage)>;

  Rendezvous(net::EventLoop& loop, base::Logger& logger, Send send);
  Rendezvous(const Rendezvous&) = delete;
  Rendezvous& operator=(const Rendezvous&) = delete;

  // The port that was taken.
  base::Result<std::uint16_t> listen();

  void on_answer(const wire::RendezvousAnswerMessage& message);
  void on_attached();

 private:
  void send(wire::RendezvousMessage message) override { send_(std::move(message)); }
  void answer(wire::RendezvousTicket ticket, int status, const std::string& body) override;

  net::EventLoop& loop_;
  const Send send_;
  wire::RendezvousRelay relay_;
  ProcessServer server_;  // last: its callbacks use the others
};

}  // namespace gangrun::agent
