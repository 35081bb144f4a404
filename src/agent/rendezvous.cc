#include "agent/rendezvous.h"

namespace gangrun::agent {

namespace {

// A body that is somewhat too large is read all the same: a client that is still sending when it is
// refused sees a broken connection instead of the reason.
constexpr std::size_t kMaxBodyBytes = 2 * wire::kMaxRendezvousValueBytes;

}  // namespace

Rendezvous::Rendezvous(net::EventLoop& loop, base::Logger& logger, Send send)
    : loop_(loop),
      send_(std::move(send)),
      relay_(*this),
      server_(loop, logger, "rendezvous", kMaxBodyBytes,
              {.on_request =
                   [this](wire::RendezvousTicket ticket, net::HttpRequest request) {
                     relay_.request(ticket, request.method, request.path, std::move(request.body),
                                    loop_.now());
                   },
               .forget = [this](wire::RendezvousTicket ticket) { relay_.forget(ticket); },
               .next_deadline = [this] { return relay_.next_deadline(); },
               .on_time = [this](base::Instant now) { relay_.on_time(now); }}) {}

base::Result<std::uint16_t> Rendezvous::listen() {
  GANGRUN_TRY(server_.listen());
  return server_.port();
}

void Rendezvous::answer(wire::RendezvousTicket ticket, int status, const std::string& body) {
  server_.answer(ticket, wire::rendezvous_response(status, body));
}

void Rendezvous::on_answer(const wire::RendezvousAnswerMessage& message) {
  relay_.on_answer(message);
  server_.wait_for_time();
}

void Rendezvous::on_attached() { relay_.on_attached(); }

}  // namespace gangrun::agent
