#include "kubernetes/node/relay_server.h"

#include <utility>

#include "base/format.h"
#include "base/overloaded.h"
#include "job/cluster_spec.h"

namespace gangrun::kubernetes::node {

namespace {

constexpr base::Duration kSilenceInterval = base::seconds(1);

base::Error wrong_order() {
  return base::Error{base::Code::kDataLoss, "the client has sent what only a relay sends"};
}

}  // namespace

RelayServer::RelayServer(net::EventLoop& loop, base::Logger& logger, base::Secret token,
                         std::string host)
    : loop_(loop),
      logger_(logger),
      host_(std::move(host)),
      agents_(loop, [this](base::UniqueFd socket) { on_agent(std::move(socket)); }),
      door_(loop, logger, std::move(token), kRelayGreeting,
            [this](std::unique_ptr<ProvenStream> client) { on_client(std::move(client)); }) {}

RelayServer::~RelayServer() = default;

base::Result<RelayServer::Ports> RelayServer::listen(Ports wanted) {
  Ports ports;
  GANGRUN_ASSIGN(ports.agents, agents_.listen_at_all(wanted.agents));
  GANGRUN_ASSIGN(ports.client, door_.listen(wanted.client));
  agents_port_ = ports.agents;
  return ports;
}

void RelayServer::on_agent(base::UniqueFd socket) {
  if (relay_ != nullptr) return relay_->take(std::move(socket));
  if (held_.size() >= kMaxHeld) return;
  held_.push_back({std::move(socket), loop_.now() + kHeldLimit});
  if (!held_timer_.pending()) close_held();
}

void RelayServer::close_held() {
  while (!held_.empty() && held_.front().until <= loop_.now()) held_.pop_front();
  if (held_.empty()) return;
  held_timer_ = loop_.at(held_.front().until, [this] { close_held(); });
}

void RelayServer::on_client(std::unique_ptr<ProvenStream> client) {
  if (client_ != nullptr) lose_client(base::unavailable("another one has come in its place"));
  logger_.info("the client has come; {} agents wait", held_.size());
  heard_at_ = loop_.now();
  client_ = std::move(client);
  client_->set_callbacks({.on_proven = [] {},
                          .on_frame = [this](const LinkFrame& frame) { on_frame(frame); },
                          .on_drained =
                              [this] {
                                if (relay_ != nullptr) relay_->hold(false);
                              },
                          .on_over = [this](const base::Error& why) { lose_client(why); }});
  const std::string address = job::to_string(job::Address{host_, agents_port_});
  client_->send(HereFrame{address});
  look_for_silence();
}

void RelayServer::carry() {
  if (relay_ != nullptr) return;
  relay_ = std::make_unique<net::Relay>(
      loop_, [this](const net::RelayFrame& frame) { on_relay_frame(frame); }, kMaxRelayed);
  held_timer_.reset();
  for (Held& each : std::exchange(held_, {})) relay_->take(std::move(each.socket));
}

void RelayServer::on_relay_frame(const net::RelayFrame& frame) {
  client_->send(to_frame(frame));
  if (client_->waiting_bytes() > kEnoughWaiting) relay_->hold(true);
}

void RelayServer::on_frame(const LinkFrame& frame) {
  heard_at_ = loop_.now();
  std::visit(
      base::Overloaded{
          [this](const PingFrame&) { client_->send(AnswerFrame{}); },
          [this](const CarryFrame&) { carry(); },
          [this](const net::StreamFrame& stream) {
            if (relay_ == nullptr) return client_->end(wrong_order());
            relay_->on_frame(stream);
          },
          [this](const base::OneOf<HereFrame, AnswerFrame, HintFrame, net::OpenFrame> auto&) {
            client_->end(wrong_order());
          },
      },
      frame);
}

// A stream that hangs half-open tells nothing.
void RelayServer::look_for_silence() {
  if (loop_.now() - heard_at_ > kClientSilence) {
    return client_->end(base::deadline_exceeded(
        base::format("it has been silent for {}", base::to_words(kClientSilence))));
  }
  silence_timer_ = loop_.after(kSilenceInterval, [this] { look_for_silence(); });
}

void RelayServer::lose_client(const base::Error& why) {
  logger_.info("the client has gone: {}", why.message);
  silence_timer_.reset();
  relay_.reset();
  client_.reset();
}

}  // namespace gangrun::kubernetes::node
