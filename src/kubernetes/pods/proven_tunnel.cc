#include "kubernetes/pods/proven_tunnel.h"

#include <utility>

#include "base/format.h"
#include "kubernetes/forward_words.h"

namespace gangrun::kubernetes::pods {

ProvenTunnel::ProvenTunnel(net::EventLoop& loop, kubernetes::Client& client, const Target& target,
                           Proof proof, base::Instant deadline, Callbacks callbacks)
    : loop_(loop), callbacks_(std::move(callbacks)), proof_(std::move(proof)) {
  kubernetes::TunnelCallbacks on;
  on.on_open = [] {};
  on.on_bytes = [this](std::string_view bytes) { take(bytes); };
  on.on_end = [this, pod = target.pod, port = target.port](const base::Result<>& how) {
    end(how.ok() ? base::unavailable(base::format("pod {} has closed the stream", pod))
                 : forward_error(how.error(), pod, port));
  };
  limit_ = loop_.at(deadline, [this, pod = target.pod, port = target.port] {
    end(base::deadline_exceeded(
        base::format("gave up waiting for a proof from port {} of pod {}", port, pod)));
  });
  tunnel_ = client.forward(target.name_space, target.pod, target.port, deadline, std::move(on));
}

void ProvenTunnel::send(const LinkFrame& frame) {
  if (!is_over_) tunnel_->send(to_bytes(frame));
}

void ProvenTunnel::take(std::string_view bytes) {
  if (is_over_) return;
  if (proof_.is_done()) return take_frames(bytes);
  const auto answer = proof_.take(bytes);
  if (!answer.ok()) return end(answer.error());
  if (!answer->empty()) tunnel_->send(*answer);
  if (!proof_.is_done()) return;
  limit_.reset();
  callbacks_.on_proven();
  take_frames(proof_.rest());
}

void ProvenTunnel::take_frames(std::string_view bytes) {
  frames_.add(bytes);
  while (!is_over_) {
    const auto frame = frames_.next();
    if (!frame.ok()) return end(frame.error());
    if (!*frame) return;
    callbacks_.on_frame(**frame);
  }
}

void ProvenTunnel::end(base::Error why) {
  if (std::exchange(is_over_, true)) return;
  limit_.reset();
  over_ = loop_.after(base::Duration(0), [this, why = std::move(why)] {
    // It may be the end of this.
    const auto on_over = callbacks_.on_over;
    on_over(why);
  });
}

}  // namespace gangrun::kubernetes::pods
