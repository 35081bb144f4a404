#include "wire/agent_session.h"

#include <utility>

#include "base/format.h"
#include "wire/paths.h"

namespace gangrun::wire {

namespace {

net::ChannelOptions channel_options() {
  net::ChannelOptions options;
  options.max_message_bytes = kMaxMasterMessageBytes;
  // Silence is judged by the lease.
  options.idle_timeout = std::chrono::hours(24);
  return options;
}

}  // namespace

AgentSession::AgentSession(net::EventLoop& loop, net::Endpoint endpoint, base::Secret secret,
                           AgentIdentity identity, AgentSessionCallbacks callbacks)
    : loop_(loop),
      endpoint_(std::move(endpoint)),
      secret_(std::move(secret)),
      side_(std::move(identity), std::move(callbacks), *this) {}

AgentSession::~AgentSession() = default;

void AgentSession::open() {
  side_.open(loop_.now());
  wait_for_time();
}

void AgentSession::set_endpoint(net::Endpoint endpoint) {
  const bool is_elsewhere = endpoint != endpoint_;
  endpoint_ = std::move(endpoint);
  side_.connect_now(is_elsewhere);
  wait_for_time();
}

void AgentSession::connect() {
  const base::Instant deadline = loop_.now() + kConnectTimeout;
  connecting_ = net::connect_channel(
      loop_, endpoint_, std::string(kAgentPath),
      net::Headers{{"Authorization", "Bearer " + secret_.reveal()}}, deadline,
      [this](base::Result<std::unique_ptr<net::Channel>> channel) {
        on_connected(std::move(channel));
        wait_for_time();
      },
      channel_options());
}

void AgentSession::on_connected(base::Result<std::unique_ptr<net::Channel>> channel) {
  connecting_.reset();
  if (!channel.ok()) {
    const base::Error& error = channel.error();
    const bool is_refusal =
        error.code == base::Code::kUnauthenticated || error.code == base::Code::kPermissionDenied;
    return side_.on_not_connected(error.message, is_refusal, loop_.now());
  }
  channel_ = *std::move(channel);
  channel_->on_closed([this](const base::Error& reason) {
    side_.on_connection_lost(reason.message, loop_.now());
    wait_for_time();
  });
  side_.on_connected(loop_.now());
  channel_->on_message([this](std::string_view frame) {
    side_.on_frame(frame, loop_.now());
    wait_for_time();
  });
}

void AgentSession::disconnect() {
  connecting_.reset();
  channel_.reset();
}

void AgentSession::send(std::string frame) { channel_->send(std::move(frame)); }

std::size_t AgentSession::unsent_bytes() const { return channel_->queued_bytes(); }

void AgentSession::wait_for_time() {
  timer_.set(loop_, side_.next_deadline(), [this] {
    side_.on_time(loop_.now());
    wait_for_time();
  });
}

void AgentSession::started(std::int64_t user_pid) { side_.started(user_pid); }

void AgentSession::exited(job::ExitReport report, base::Instant ended_at) {
  side_.exited(std::move(report), ended_at, loop_.now());
  wait_for_time();
}

void AgentSession::port_lost() { side_.port_lost(); }

void AgentSession::set_address(const job::Address& address, std::vector<std::uint16_t> more_ports) {
  side_.set_address(address, std::move(more_ports));
}

void AgentSession::log(Stream stream, std::string_view line) {
  side_.log(stream, line, loop_.now());
  wait_for_time();
}

void AgentSession::incomplete_log(std::string_view why, std::uint64_t lost) {
  side_.incomplete_log(why, lost, loop_.now());
  wait_for_time();
}

void AgentSession::rendezvous(RendezvousMessage message) { side_.rendezvous(std::move(message)); }

void AgentSession::finish(std::function<void()> done, std::string_view why) {
  side_.finish(loop_.now());
  wait_for_time();
  connecting_.reset();
  if (!channel_) {
    done_timer_ = loop_.after(base::Duration(0), std::move(done));
    return;
  }
  channel_->on_closed([done = std::move(done)](const base::Error&) { done(); });
  channel_->close(why.empty() ? std::string(kFarewell) : base::format("{}: {}", kFarewell, why));
}

}  // namespace gangrun::wire
