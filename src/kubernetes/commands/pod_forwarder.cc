#include "kubernetes/commands/pod_forwarder.h"

#include <utility>

#include "base/format.h"
#include "kubernetes/forward_words.h"
#include "net/tunnel.h"

namespace gangrun::kubernetes::commands {

namespace {

// The kubelet opens the way first and connects to the port then, so it is known only when no
// refusal has come whether somebody listens.
constexpr base::Duration kSettleTime = base::milliseconds(500);

}  // namespace

PodForwarder::PodForwarder(net::EventLoop& loop, kubernetes::Client& client,
                           std::function<void(const base::Error&)> on_broken)
    : loop_(loop),
      client_(client),
      on_broken_(std::move(on_broken)),
      listener_(loop, [this](base::UniqueFd socket) { on_connection(std::move(socket)); }) {}

std::unique_ptr<kubernetes::Tunnel> PodForwarder::open(const PodPort& target,
                                                       kubernetes::TunnelCallbacks callbacks) {
  callbacks.on_end = [target, on_end = std::move(callbacks.on_end)](const base::Result<>& how) {
    on_end(how.ok()
               ? how
               : base::Result<>(kubernetes::forward_error(how.error(), target.pod, target.port)));
  };
  return client_.forward(client_.access().name_space, target.pod, target.port,
                         loop_.now() + net::kTunnelConnectTimeout, std::move(callbacks));
}

void PodForwarder::on_connection(base::UniqueFd socket) {
  if (connections_.size() >= net::kMaxTunnels) {
    return on_broken_({base::Code::kResourceExhausted,
                       base::format("{} connections are open already", net::kMaxTunnels)});
  }
  if (!target_) return on_broken_(base::unavailable("the task has no running pod"));
  const Id id = next_++;
  const auto opener = [this](kubernetes::TunnelCallbacks callbacks) {
    return open(*target_, std::move(callbacks));
  };
  connections_.try_emplace(id, loop_, std::move(socket), opener,
                           [this, id](const base::Result<>& how) { end(id, how); });
}

void PodForwarder::end(Id id, const base::Result<>& how) {
  connections_.erase(id);
  if (!how.ok()) on_broken_(how.error());
}

void PodForwarder::try_once(std::function<void(base::Result<>)> done) {
  tried_done_ = std::move(done);
  settled_.reset();
  if (!target_) {
    settled_ = loop_.after(base::Duration(0),
                           [this] { end_try(base::unavailable("the task has no running pod")); });
    return;
  }
  kubernetes::TunnelCallbacks callbacks;
  callbacks.on_open = [this] { settled_ = loop_.after(kSettleTime, [this] { end_try({}); }); };
  callbacks.on_bytes = [this](std::string_view) { end_try({}); };
  callbacks.on_end = [this](const base::Result<>& how) { end_try(how); };
  trying_ = open(*target_, std::move(callbacks));
}

void PodForwarder::end_try(const base::Result<>& how) {
  settled_.reset();
  trying_.reset();
  const auto done = std::exchange(tried_done_, nullptr);
  if (done) done(how);
}

}  // namespace gangrun::kubernetes::commands
