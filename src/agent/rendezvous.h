#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "agent/process_server.h"
#include "base/log.h"
#include "base/result.h"
#include "net/event_loop.h"
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

  net::EventLoop& loop_;
  const Send send_;
  registry::RendezvousRelay relay_;
  ProcessServer server_;  // last: its callbacks use the others
};

}  // namespace gangrun::agent
