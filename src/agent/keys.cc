#include "agent/keys.h"

#include <utility>

#include "agent/loopback_peer.h"
#include "base/format.h"
#include "job/spec.h"

namespace gangrun::agent {

namespace {

constexpr std::size_t kMaxConnections = 1024;
constexpr int kForbidden = 403;
constexpr int kTooLarge = 413;

net::ServerOptions options() {
  net::ServerOptions options;
  options.max_connections = kMaxConnections;
  // A value that is somewhat too large is read all the same: who is still sending when he is
  // refused sees a broken connection instead of the reason.
  options.max_body_bytes = 4 * registry::kMaxValueBytes;
  return options;
}

// The tracked tasks of this generation, by the names that people know. More of them are only
// counted.
constexpr int kMaxNames = 10'000;

KeyRun run_of(const registry::AgentConfig& config, const job::ClusterSpec& spec) {
  KeyRun run{.attempt = config.attempt,
             .generation = spec.generation,
             .processes = config.spec.find(config.task.type)->processes,
             .tasks = 0};
  for (const auto& [type, addresses] : spec.tasks) {
    const job::TaskSpec* task = config.spec.find(type);
    if (task == nullptr || job::effective_policy(config.spec, *task) != job::Policy::kTracked) {
      continue;
    }
    const auto members = spec.members.find(type);
    for (std::size_t place = 0; place < addresses.size(); ++place) {
      if (++run.tasks > kMaxNames) continue;
      const int index =
          members == spec.members.end() ? static_cast<int>(place) : members->second[place];
      run.names.push_back({type, index});
    }
  }
  if (run.tasks == 0) run.tasks = 1;
  return run;
}

}  // namespace

Keys::Keys(net::EventLoop& loop, base::Logger& logger, registry::QuestionNumbers& numbers, Ask ask)
    : loop_(loop),
      logger_(logger),
      ask_(std::move(ask)),
      relay_(*this, numbers),
      server_(loop, options()) {
  server_.on_admission([this](const net::HttpRequest& request) { return refusal_of(request); });
  server_.on_request([this](const net::HttpRequest& request, net::Responder responder) {
    on_request(request, std::move(responder));
  });
}

base::Result<> Keys::listen() {
  GANGRUN_ASSIGN(port_, server_.listen_loopback(0));
  return {};
}

std::string Keys::address() const {
  return port_ == 0 ? std::string() : base::format("127.0.0.1:{}", port_);
}

void Keys::begin_run(const registry::AgentConfig& config, const job::ClusterSpec& spec) {
  relay_.begin(run_of(config, spec));
}

void Keys::on_request(const net::HttpRequest& request, net::Responder responder) {
  auto asked = key_request(request, relay_.run());
  if (!asked.ok()) {
    const bool is_too_large = asked.error().code == base::Code::kResourceExhausted;
    return responder.answer(key_error(is_too_large ? kTooLarge : net::status_of(asked.error().code),
                                      asked.error().message));
  }
  const KeyTicket ticket = next_ticket_++;
  responder.on_gone([this, ticket] {
    waiting_.erase(ticket);
    relay_.forget(ticket);
    wait_for_time();
  });
  waiting_.emplace(ticket, std::move(responder));
  relay_.request(ticket, *std::move(asked), loop_.now());
  wait_for_time();
}

std::optional<net::HttpResponse> Keys::refusal_of(const net::HttpRequest& request) {
  const std::string objection = objection_to(request.peer, port_);
  if (objection.empty()) return std::nullopt;
  if (!std::exchange(told_refusal_, true)) {
    logger_.warning("keys: refused {}: {}", request.peer.address, objection);
  }
  return key_error(kForbidden, objection);
}

void Keys::answer(KeyTicket ticket, net::HttpResponse response) {
  auto node = waiting_.extract(ticket);
  if (!node.empty()) node.mapped().answer(response);
}

void Keys::on_answer(const registry::AnswerMessage& answer) {
  relay_.on_answer(answer, loop_.now());
  wait_for_time();
}

void Keys::on_attached() { relay_.on_attached(loop_.now()); }

// One that comes too early finds nothing to do and sets the next.
void Keys::wait_for_time() {
  const auto next = relay_.next_deadline();
  if (!next || (timer_.pending() && timer_at_ <= *next)) return;
  timer_at_ = *next;
  timer_ = loop_.at(*next, [this] {
    relay_.on_time(loop_.now());
    wait_for_time();
  });
}

}  // namespace gangrun::agent
