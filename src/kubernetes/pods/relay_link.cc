#include "kubernetes/pods/relay_link.h"

#include <utility>

#include "base/format.h"
#include "base/overloaded.h"
#include "kubernetes/pods/try_pause.h"
#include "net/tunnel.h"

namespace gangrun::kubernetes::pods {

namespace {

// A kubelet that does not answer costs one try so long.
constexpr base::Duration kTryLimit = base::seconds(10);
constexpr base::Duration kBeatInterval = base::seconds(1);
// Nobody tells when what was to be sent has been.
constexpr base::Duration kQueueInterval = base::milliseconds(5);

}  // namespace

RelayLink::RelayLink(net::EventLoop& loop, kubernetes::Client& client, Options options,
                     Callbacks callbacks)
    : loop_(loop),
      client_(client),
      options_(std::move(options)),
      callbacks_(std::move(callbacks)) {}

RelayLink::~RelayLink() = default;

void RelayLink::begin(std::string pod, base::Duration patience) {
  pod_ = std::move(pod);
  patience_ = patience;
  tried_since_ = loop_.now();
  queue_timer_.reset();
  relay_.reset();
  tunnel_.reset();
  timer_ = loop_.after(base::Duration(0), [this] { try_once(); });
}

void RelayLink::open() {
  if (!std::exchange(is_open_, true) && is_up()) tunnel_->send(CarryFrame{});
}

void RelayLink::try_once() {
  tunnel_ = std::make_unique<ProvenTunnel>(
      loop_, client_, ProvenTunnel::Target{options_.name_space, pod_, options_.client_port},
      Proof(options_.token, kRelayGreeting, Proof::Side::kClient), loop_.now() + kTryLimit,
      ProvenTunnel::Callbacks{.on_proven =
                                  [this] {
                                    heard_at_ = loop_.now();
                                    beat();
                                  },
                              .on_frame = [this](const LinkFrame& frame) { on_frame(frame); },
                              .on_over = [this](const base::Error& why) { on_over(why); }});
}

void RelayLink::on_frame(const LinkFrame& frame) {
  heard_at_ = loop_.now();
  const bool is_right = std::visit(
      base::Overloaded{
          [this](const HereFrame& here) {
            if (!is_up()) on_here(here);
            return true;
          },
          [this](const base::OneOf<net::OpenFrame, net::StreamFrame> auto& each) {
            if (is_up()) relay_->on_frame(each);
            return is_up();
          },
          [](const AnswerFrame&) { return true; },
          [](const base::OneOf<CarryFrame, PingFrame, HintFrame> auto&) { return false; },
      },
      frame);
  if (is_right) return;
  tunnel_->end(base::Error{base::Code::kDataLoss, "the relay has sent what only a client sends"});
}

void RelayLink::on_here(const HereFrame& frame) {
  const auto address = job::parse_address(frame.address);
  if (!address.ok()) return tunnel_->end(address.error().context("the relay's address"));
  relay_ = std::make_unique<net::Relay>(
      loop_, [this](const net::RelayFrame& each) { on_relay_frame(each); }, kMaxRelayed);
  relay_->connect_to([port = options_.master_port] { return net::connect_to_loopback(port); });
  if (is_open_) tunnel_->send(CarryFrame{});
  callbacks_.on_up(*address);
}

// The API server takes what it takes: the rest is left with the master.
void RelayLink::on_relay_frame(const net::RelayFrame& frame) {
  tunnel_->send(to_frame(frame));
  if (queue_timer_.pending() || tunnel_->queued_bytes() <= kEnoughWaiting) return;
  relay_->hold(true);
  queue_timer_ = loop_.after(kQueueInterval, [this] { look_at_queue(); });
}

void RelayLink::look_at_queue() {
  if (tunnel_->queued_bytes() <= kEnoughWaiting / 2) return relay_->hold(false);
  queue_timer_ = loop_.after(kQueueInterval, [this] { look_at_queue(); });
}

// A stream that hangs half-open tells nothing.
void RelayLink::beat() {
  const base::Instant now = loop_.now();
  if (now - heard_at_ > kRelaySilence) {
    return tunnel_->end(base::deadline_exceeded(
        base::format("the relay has been silent for {}", base::to_words(kRelaySilence))));
  }
  if (now >= ping_at_) {
    tunnel_->send(PingFrame{});
    ping_at_ = now + kRelayPing;
  }
  timer_ = loop_.after(kBeatInterval, [this] { beat(); });
}

void RelayLink::on_over(const base::Error& why) {
  const bool was_up = is_up();
  const base::Instant now = loop_.now();
  queue_timer_.reset();
  timer_.reset();
  relay_.reset();
  tunnel_.reset();
  // A callback may be the end of this.
  if (was_up) {
    tried_since_ = now;
    timer_ = loop_.after(base::Duration(0), [this] { try_once(); });
    const auto on_down = callbacks_.on_down;
    return on_down(why);
  }
  const base::Duration tried = now - tried_since_;
  if (why.code == base::Code::kPermissionDenied || tried >= patience_) {
    const auto on_given_up = callbacks_.on_given_up;
    return on_given_up(why);
  }
  timer_ = loop_.after(try_pause(kRelayTryPause, tried), [this] { try_once(); });
}

}  // namespace gangrun::kubernetes::pods
