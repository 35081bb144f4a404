#include "kubernetes/opening.h"

#include <utility>

#include "kubernetes/refusal.h"

namespace gangrun::kubernetes {

base::Error error_of_refused_channel(const base::Error& error) {
  // There may be words about what was attempted before the object.
  const std::size_t begin = error.message.find('{');
  if (begin == std::string::npos) return error;
  const auto body =
      base::parse_json(std::string_view(error.message).substr(begin), kMaxStatusBytes);
  if (!body.ok()) return error;
  const auto refusal = read_status(*body);
  return refusal && refusal->status != 0 ? error_of(*refusal) : error;
}

Opening::Opening(Core& core, OpeningRequest request, std::function<void(Result)> on_done)
    : core_(core),
      request_(std::move(request)),
      on_done_(std::move(on_done)),
      entry_(
          *core.logins, [this](const Way& way) { open(way); },
          [this](base::Error error) { finish(std::move(error)); }) {
  limit_ = core_.loop.at(request_.deadline, [this] {
    finish(base::deadline_exceeded("gave up waiting for the login"));
  });
  start_ = core_.loop.after(base::Duration(0), [this] { entry_.start(); });
}

void Opening::open(const Way& way) {
  limit_.reset();
  net::CallRequest call;
  call.target = api_target(core_.prefix, request_.path, request_.query);
  // Without Accept: the kubelet refuses to forward a port to whoever wants JSON.
  call.headers = way.headers;
  net::ChannelOptions options;
  options.is_binary = true;
  call_ = net::open_channel(
      core_.loop, way.remote, std::move(call), request_.subprotocols, request_.deadline,
      [this](Result channel) { on_channel(std::move(channel)); }, options);
}

void Opening::on_channel(Result channel) {
  call_.reset();
  if (channel.ok()) return finish(std::move(channel));
  if (channel.error().code == base::Code::kUnauthenticated && entry_.start_anew()) return;
  finish(core_.explain(error_of_refused_channel(channel.error())));
}

void Opening::finish(Result channel) {
  limit_.reset();
  // It may be the end of this.
  const auto on_done = on_done_;
  on_done(std::move(channel));
}

}  // namespace gangrun::kubernetes
