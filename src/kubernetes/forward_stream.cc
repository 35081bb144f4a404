#include "kubernetes/forward_stream.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "base/strings.h"

namespace gangrun::kubernetes {

namespace {

// A larger piece is sent in several messages, so that nobody has to hold it whole.
constexpr std::size_t kMaxPieceBytes = std::size_t{64} * 1024;
constexpr std::size_t kMaxReasonBytes = 1000;

}  // namespace

ForwardStream::ForwardStream(Core& core, const std::string& name_space, const std::string& pod,
                             std::uint16_t port, base::Instant deadline, TunnelCallbacks callbacks)
    : callbacks_(std::make_shared<const TunnelCallbacks>(std::move(callbacks))), frames_(port) {
  limit_ = core.loop.at(deadline, [this, port, pod] {
    end(base::deadline_exceeded(
        base::format("gave up waiting for a connection to port {} of pod \"{}\"", port, pod)));
  });
  OpeningRequest opening;
  opening.path = pod_path(name_space, pod, "portforward");
  opening.query = {{"ports", std::to_string(port)}};
  opening.subprotocols = {"v4.channel.k8s.io"};
  opening.deadline = deadline;
  opening_.emplace(core, std::move(opening),
                   [this](Opening::Result channel) { on_channel(std::move(channel)); });
}

void ForwardStream::on_channel(Opening::Result channel) {
  opening_.reset();
  if (!channel.ok()) return end(std::move(channel).error());
  channel_ = std::move(*channel);
  channel_->on_closed([this](const base::Error& reason) { on_closed(reason); });
  channel_->on_message([this](std::string_view message) { on_message(message); });
}

void ForwardStream::on_message(std::string_view message) {
  auto event = frames_.take(message);
  if (!event.ok()) return end(std::move(event).error());
  switch (event->kind) {
    case PortFrames::Kind::kNothing: return;
    case PortFrames::Kind::kOpen: return on_open();
    case PortFrames::Kind::kRefused:
      return end(base::unavailable(base::shorten(base::trim(event->bytes), kMaxReasonBytes)));
    case PortFrames::Kind::kBytes: {
      const auto callbacks = callbacks_;
      return callbacks->on_bytes(event->bytes);
    }
  }
}

void ForwardStream::on_open() {
  limit_.reset();
  is_open_ = true;
  send(std::exchange(queued_, {}));
  const auto callbacks = callbacks_;
  if (callbacks->on_open) callbacks->on_open();
}

void ForwardStream::send(std::string_view bytes) {
  if (has_ended_) return;
  if (!is_open_) {
    queued_ += bytes;
    return;
  }
  for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kMaxPieceBytes))) {
    channel_->send(make_port_frame(bytes.substr(0, kMaxPieceBytes)));
  }
}

std::size_t ForwardStream::queued_bytes() const {
  return queued_.size() + (channel_ == nullptr ? 0 : channel_->queued_bytes());
}

void ForwardStream::on_closed(const base::Error& reason) {
  // The kubelet closes when the port's connection has ended.
  if (is_open_ && reason.code == base::Code::kUnavailable) return end({});
  end(reason);
}

void ForwardStream::end(base::Result<> result) {
  has_ended_ = true;
  limit_.reset();
  opening_.reset();
  channel_.reset();
  const auto callbacks = callbacks_;
  callbacks->on_end(std::move(result));
}

}  // namespace gangrun::kubernetes
