#include "registry/control.h"

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "base/format.h"
#include "base/json.h"
#include "net/certificate.h"
#include "registry/paths.h"

namespace gangrun::registry {

namespace {

using net::HttpRequest;
using net::HttpResponse;

// No job lasts longer. Whoever calls knows the certificate and does not ask for its date.
constexpr std::chrono::hours kCertificateValidity(24 * 3650);

// One master calls, over one connection at a time; the rest is for its tries that hang.
net::ServerOptions server_options() {
  net::ServerOptions options;
  options.max_connections = 64;
  options.max_body_bytes = kMaxRequestBytes;
  options.header_timeout = base::seconds(10);
  options.body_timeout = base::seconds(10);
  options.idle_timeout = base::seconds(10);
  options.write_timeout = base::seconds(10);
  return options;
}

struct Call {
  job::Address master;
  int attempt = 0;
};

base::Result<Call> read_call(const std::string& body) {
  Call call;
  GANGRUN_ASSIGN(const base::Json json, parse_body(body, {"host", "port", "attempt"}));
  GANGRUN_ASSIGN(call.master.host, base::json_member<std::string>(json, "host"));
  GANGRUN_ASSIGN(call.master.port, base::json_member<std::uint16_t>(json, "port"));
  GANGRUN_ASSIGN(call.attempt, base::json_member<int>(json, "attempt"));
  // What is written as an address and read again is one.
  GANGRUN_ASSIGN(const job::Address read, job::parse_address(job::to_string(call.master)));
  if (read != call.master) return base::invalid_argument("\"host\" must be a name or an address");
  if (call.attempt < 1 || call.attempt > kMaxAttempt) {
    return base::invalid_argument(base::format("\"attempt\" must be from 1 to {}", kMaxAttempt));
  }
  return call;
}

}  // namespace

ControlServer::ControlServer(net::EventLoop& loop, base::Secret secret,
                             std::function<void(const job::Address&)> on_master,
                             base::Logger& logger)
    : gatekeeper_(std::move(secret), "control", logger),
      on_master_(std::move(on_master)),
      logger_(logger),
      server_(loop, server_options()) {
  server_.on_request([this](const HttpRequest& request, net::Responder responder) {
    on_request(request, std::move(responder));
  });
  server_.on_channel_request([this](const HttpRequest& request) -> std::optional<HttpResponse> {
    if (!gatekeeper_.admits(request)) return unauthorized();
    return error_answer(404, "not_found", "no such path");
  });
  // None comes so far. Without it the server would refuse them all itself, also who knows nothing.
  server_.on_channel([](const HttpRequest&, const std::unique_ptr<net::Channel>&) {});
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
  if (!gatekeeper_.admits(request)) return responder.answer(unauthorized());
  if (request.path != kMasterPath) {
    return responder.answer(error_answer(404, "not_found", "no such path"));
  }
  if (request.method != "PUT") return responder.answer(method_not_allowed("PUT"));
  responder.answer(on_put_master(request.body));
}

HttpResponse ControlServer::on_put_master(const std::string& body) {
  const base::Result<Call> call = read_call(body);
  if (!call.ok()) return error_answer(call.error());
  if (call->attempt < newest_attempt_) {
    logger_.warning("master {} calls from {}, but the job's master is {}", call->attempt,
                    job::to_string(call->master), newest_attempt_);
    return error_answer(
        {base::Code::kAlreadyExists,
         base::format("master {} has been followed by {}", call->attempt, newest_attempt_)});
  }
  if (call->attempt > newest_attempt_) {
    logger_.info("master {} calls from {}", call->attempt, job::to_string(call->master));
  }
  newest_attempt_ = call->attempt;
  on_master_(call->master);
  return json_response(200, "{}");
}

}  // namespace gangrun::registry
