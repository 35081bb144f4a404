#include "agent/keys.h"

#include <utility>

#include "base/format.h"

namespace gangrun::agent {

namespace {

// A value that is somewhat too large is read all the same: who is still sending when he is refused
// sees a broken connection instead of the reason.
constexpr std::size_t kMaxBodyBytes = 4 * wire::kMaxValueBytes;

}  // namespace

Keys::Keys(net::EventLoop& loop, base::Logger& logger, wire::QuestionNumbers& numbers, Ask ask)
    : loop_(loop),
      ask_(std::move(ask)),
      relay_(*this, numbers),
      server_(
          loop, logger, "keys", kMaxBodyBytes,
          {.on_request = [this](KeyTicket ticket,
                                const net::HttpRequest& request) { on_request(ticket, request); },
           .forget = [this](KeyTicket ticket) { relay_.forget(ticket); },
           .next_deadline = [this] { return relay_.next_deadline(); },
           .on_time = [this](base::Instant now) { relay_.on_time(now); }}) {}

std::string Keys::address() const {
  return server_.port() == 0 ? std::string() : base::format("127.0.0.1:{}", server_.port());
}

void Keys::begin_run(const wire::AgentConfig& config, const job::ClusterSpec& spec) {
  relay_.begin(key_run_of(config, spec));
}

void Keys::on_request(KeyTicket ticket, const net::HttpRequest& request) {
  auto asked = key_request(request, relay_.run());
  if (asked.ok()) return relay_.request(ticket, *std::move(asked), loop_.now());
  server_.answer(ticket, key_refusal(request, asked.error()));
}

void Keys::answer(KeyTicket ticket, net::HttpResponse response) {
  server_.answer(ticket, response);
}

void Keys::on_answer(const wire::AnswerMessage& answer) {
  relay_.on_answer(answer, loop_.now());
  server_.wait_for_time();
}

void Keys::on_attached() { relay_.on_attached(loop_.now()); }

}  // namespace gangrun::agent
