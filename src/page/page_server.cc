#include "page/page_server.h"

#include <optional>
#include <string_view>
#include <utility>

#include "base/strings.h"
#include "page/assets.h"

namespace gangrun::page {

namespace {

using net::HttpRequest;
using net::HttpResponse;

constexpr std::string_view kMappedPrefix = "::ffff:";
// As YARN's proxy and the filter of its masters have it (WebAppProxyServlet, AmIpFilter).
constexpr std::string_view kUserCookie = "proxy-user=";

net::ServerOptions server_options() {
  net::ServerOptions options;
  options.max_connections = 64;
  options.max_header_bytes = std::size_t{16} << 10U;
  options.max_body_bytes = 0;
  options.header_timeout = base::seconds(10);
  options.body_timeout = base::seconds(10);
  options.idle_timeout = base::seconds(20);
  options.write_timeout = base::seconds(20);
  return options;
}

// The host of "10.0.0.7:4711", "[fd00::1]:4711" and "[::ffff:10.0.0.7]:4711".
std::string host_of(std::string_view address) {
  std::string_view host = address.substr(0, address.rfind(':'));
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.starts_with(kMappedPrefix) && host.find('.') != std::string_view::npos) {
    host.remove_prefix(kMappedPrefix.size());
  }
  return std::string(host);
}

HttpResponse with_headers(int status, std::string type, std::string body) {
  HttpResponse response;
  response.status = status;
  response.content_type = std::move(type);
  response.body = std::move(body);
  response.headers.add("Content-Security-Policy",
                       "default-src 'none'; script-src 'self'; style-src 'self'; "
                       "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
                       "frame-ancestors 'self'");
  response.headers.add("X-Content-Type-Options", "nosniff");
  response.headers.add("Referrer-Policy", "no-referrer");
  response.headers.add("Cache-Control", "no-store");
  return response;
}

HttpResponse plain(int status, std::string text) {
  return with_headers(status, "text/plain; charset=utf-8", std::move(text) + "\n");
}

}  // namespace

std::string proxied_user(const HttpRequest& request) {
  const auto cookies = request.headers.get("Cookie");
  if (!cookies) return {};
  for (const std::string& part : base::split(*cookies, ';')) {
    const std::string_view cookie = base::trim(part);
    if (cookie.starts_with(kUserCookie)) return std::string(cookie.substr(kUserCookie.size()));
  }
  return {};
}

PageServer::PageServer(net::EventLoop& loop, std::function<std::string()> state, std::string behind)
    : loop_(loop),
      make_state_(std::move(state)),
      behind_(std::move(behind)),
      server_(loop, server_options()) {
  // Strangers have their share of the connections, and none stays.
  server_.on_admission([this](const HttpRequest& request) -> std::optional<HttpResponse> {
    if (proxies_.contains(host_of(request.peer.address))) return std::nullopt;
    return elsewhere(request);
  });
  server_.on_request([this](const HttpRequest& request, net::Responder responder) {
    responder.answer(answer(request));
  });
}

base::Result<std::uint16_t> PageServer::listen() {
  auto port = server_.listen_plain("::", 0);
  if (port.ok()) return port;
  return server_.listen_plain("0.0.0.0", 0);
}

HttpResponse PageServer::answer(const HttpRequest& request) {
  if (may_view_ && !may_view_(proxied_user(request))) {
    return plain(403, "you may not view this job; its view_acl says who may");
  }
  if (request.method != "GET" && request.method != "HEAD") {
    HttpResponse refusal = plain(405, "this page can only be read");
    refusal.headers.add("Allow", "GET, HEAD");
    return refusal;
  }
  if (request.path == "/") {
    return with_headers(200, "text/html; charset=utf-8", std::string(kIndexHtml));
  }
  if (request.path == "/page.css") {
    return with_headers(200, "text/css; charset=utf-8", std::string(kPageCss));
  }
  if (request.path == "/page.js") {
    return with_headers(200, "text/javascript; charset=utf-8", std::string(kPageJs));
  }
  if (request.path == "/status.json") return with_headers(200, "application/json", state());
  return plain(404, "there is no such page");
}

HttpResponse PageServer::elsewhere(const HttpRequest& request) const {
  if (behind_.empty() || request.method != "GET") {
    return plain(403, "this page is served to the cluster's web proxy only");
  }
  HttpResponse response = plain(302, "this page is at " + behind_);
  response.headers.add("Location", behind_);
  return response;
}

const std::string& PageServer::state() {
  const base::Instant now = loop_.now();
  if (!state_at_ || now - *state_at_ >= kOldestState) {
    state_ = make_state_();
    state_at_ = now;
  }
  return state_;
}

}  // namespace gangrun::page
