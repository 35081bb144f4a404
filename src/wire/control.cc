#include "wire/control.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "base/unique_fd.h"
#include "net/certificate.h"
#include "wire/exec_frames.h"
#include "wire/paths.h"
#include "wire/rest_bodies.h"

namespace gangrun::wire {

namespace {

using net::HttpRequest;
using net::HttpResponse;

// No job lasts longer. Whoever calls knows the certificate and does not ask for its date.
constexpr std::chrono::hours kCertificateValidity(24 * 3650);

// One master calls, over one connection at a time; the rest is for its tries that hang.
constexpr std::size_t kMaxCalls = 64;

net::ServerOptions control_options() {
  net::ServerOptions options;
  // Those whose request has not come yet have at most half of them.
  options.max_connections = 2 * (kMaxCalls + net::kMaxTunnels + kMaxExecs);
  options.channel = net::tunnel_channel_options();
  options.channel.max_message_bytes = kMaxExecFrameBytes;
  options.max_body_bytes = kMaxRequestBytes;
  options.header_timeout = base::seconds(10);
  options.body_timeout = base::seconds(10);
  options.idle_timeout = base::seconds(10);
  options.write_timeout = base::seconds(10);
  return options;
}

bool is_tunnel(std::string_view path) {
  return path.starts_with(net::kTunnelPath) &&
         (path.size() == net::kTunnelPath.size() || path[net::kTunnelPath.size()] == '/');
}

}  // namespace

ControlServer::ControlServer(net::EventLoop& loop, base::Secret secret,
                             std::function<void(const job::Address&)> on_master,
                             base::Logger& logger)
    : loop_(loop),
      gatekeeper_(std::move(secret), "control", logger),
      on_master_(std::move(on_master)),
      logger_(logger),
      server_(loop, control_options()) {
  gatekeeper_.guard(server_);
  server_.on_request([this](const HttpRequest& request, net::Responder responder) {
    on_request(request, std::move(responder));
  });
  server_.on_channel_request([this](const HttpRequest& request) { return refusal_of(request); });
  server_.on_channel([this](const HttpRequest& request, std::unique_ptr<net::Channel> channel) {
    on_channel(request, std::move(channel));
  });
}

ControlServer::~ControlServer() = default;

base::Result<ControlAddress> ControlServer::listen(const std::string& host) {
  GANGRUN_ASSIGN(const net::JobCertificate certificate,
                 net::make_job_certificate("gangrun-agent", kCertificateValidity));
  auto port = server_.listen_tls(host, 0, certificate);
  if (!port.ok()) port = server_.listen_tls("::", 0, certificate);
  if (!port.ok()) port = server_.listen_tls("0.0.0.0", 0, certificate);
  if (!port.ok()) return port.error();
  return ControlAddress{*port, certificate.fingerprint};
}

void ControlServer::on_request(const HttpRequest& request, net::Responder responder) {
  if (is_tunnel(request.path) || request.path == kExecPath) {
    return responder.answer(
        error_answer(426, "upgrade_required", "a WebSocket is served at this path"));
  }
  if (request.path != kMasterPath) {
    return responder.answer(error_answer(404, "not_found", "no such path"));
  }
  if (request.method != "PUT") return responder.answer(method_not_allowed("PUT"));
  responder.answer(on_put_master(request.body));
}

std::optional<HttpResponse> ControlServer::refusal_of(const HttpRequest& request) {
  if (request.path == kExecPath && execs_) {
    const auto refused = execs_->refusal();
    return refused ? std::optional(error_answer(*refused)) : std::nullopt;
  }
  if (!is_tunnel(request.path)) return error_answer(404, "not_found", "no such path");
  if (const auto port = port_of(request); !port.ok()) return error_answer(port.error());
  if (tunnels_.size() >= net::kMaxTunnels) {
    return error_answer(503, "resource_exhausted",
                        base::format("{} tunnels are open already", net::kMaxTunnels));
  }
  return std::nullopt;
}

base::Result<std::uint16_t> ControlServer::port_of(const HttpRequest& request) const {
  const std::vector<std::uint16_t> ports = ports_();
  if (ports.empty()) return base::not_found("no port is served");
  if (request.path == net::kTunnelPath) return ports.front();
  const std::string wanted = request.path.substr(net::kTunnelPath.size() + 1);
  const auto number = base::parse_integer(wanted);
  const auto found = std::find(ports.begin(), ports.end(), number.value_or(0));
  if (found != ports.end()) return *found;
  return base::invalid_argument(base::format("port {} must be one of the task's: {}",
                                             base::shorten(wanted, 40), base::join(ports, ", ")));
}

void ControlServer::on_channel(const HttpRequest& request, std::unique_ptr<net::Channel> channel) {
  if (request.path == kExecPath) return execs_->take(std::move(channel));
  auto socket = [&]() -> base::Result<base::UniqueFd> {
    // Read again: they may have changed while the channel was opened.
    GANGRUN_ASSIGN(const std::uint16_t port, port_of(request));
    return net::connect_to_loopback(port);
  }();
  if (!socket.ok()) return channel->close(socket.error().message, socket.error().code);
  const std::uint64_t id = next_tunnel_++;
  tunnels_[id] = std::make_unique<net::Tunnel>(
      loop_, net::Tunnel::Side::kExit, *std::move(socket), std::move(channel),
      [this, id](const base::Result<>&) { tunnels_.erase(id); });
}

HttpResponse ControlServer::on_put_master(const std::string& body) {
  const auto call = body_from<MasterCall>(body);
  if (!call.ok()) return error_answer(call.error());
  const job::Address master = call->master();
  if (call->attempt < newest_attempt_) {
    logger_.warning("master {} calls from {}, but the job's master is {}", call->attempt,
                    job::to_string(master), newest_attempt_);
    return error_answer(
        {base::Code::kAlreadyExists,
         base::format("master {} has been followed by {}", call->attempt, newest_attempt_)});
  }
  if (call->attempt > newest_attempt_) {
    logger_.info("master {} calls from {}", call->attempt, job::to_string(master));
  }
  newest_attempt_ = call->attempt;
  on_master_(master);
  return json_response(200, "{}");
}

}  // namespace gangrun::wire
