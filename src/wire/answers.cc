#include "wire/answers.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "net/error_body.h"
#include "wire/paths.h"

namespace gangrun::wire {

namespace {

using base::Json;
using net::HttpResponse;

std::string_view to_string(net::PeerKind kind) {
  switch (kind) {
    case net::PeerKind::kUnix: return "the Unix socket";
    case net::PeerKind::kTls: return "TLS";
    case net::PeerKind::kTcp: return "the loopback interface";
  }
  return "";
}

}  // namespace

Gatekeeper::Gatekeeper(base::Secret secret, std::string name, base::Logger& logger)
    : secret_(std::move(secret)), name_(std::move(name)), logger_(logger) {}

bool Gatekeeper::admits(const net::HttpRequest& request) {
  const bool knows_secret = secret_.matches(request.bearer_token());
  const bool is_permitted = request.peer.kind != net::PeerKind::kUnix ||
                            request.peer.uid == ::geteuid() || request.peer.uid == 0;
  if (knows_secret && is_permitted) return true;
  if (told_.insert(request.peer.kind).second) {
    logger_.warning("{}: refused a request by {} from {} without the job's secret or rights", name_,
                    to_string(request.peer.kind), request.peer.address);
  }
  return false;
}

void Gatekeeper::guard(net::Server& server) {
  server.on_admission([this](const net::HttpRequest& request) -> std::optional<HttpResponse> {
    if (admits(request)) return std::nullopt;
    return unauthorized();
  });
  server.on_crowd([this](std::size_t all, std::size_t of_source, const std::string& source) {
    logger_.warning(
        "{}: too many connections that have not shown the job's secret ({}, {} of them from {}): "
        "more are turned away, so that there is room for others",
        name_, all, of_source, source);
  });
}

HttpResponse json_response(int status, std::string body) {
  HttpResponse response;
  response.status = status;
  response.headers.add("Cache-Control", "no-store");
  response.body = std::move(body);
  return response;
}

HttpResponse error_answer(int status, std::string_view code, std::string_view message) {
  const net::ErrorBody body{{.code = code, .message = std::string(message)}};
  return json_response(status, base::dump_json(base::to_json(body)));
}

HttpResponse error_answer(const base::Error& error) {
  // 409 for what the present state forbids, whichever way.
  const bool conflict =
      error.code == base::Code::kAlreadyExists || error.code == base::Code::kFailedPrecondition;
  return error_answer(conflict ? 409 : net::status_of(error.code), base::to_string(error.code),
                      error.message);
}

HttpResponse method_not_allowed(std::string_view allowed) {
  HttpResponse response =
      error_answer(405, "method_not_allowed", base::format("this path takes only {}", allowed));
  response.headers.add("Allow", std::string(allowed));
  return response;
}

HttpResponse unauthorized() {
  HttpResponse response = error_answer(401, "unauthenticated", "not authorized");
  response.headers.add("WWW-Authenticate", "Bearer");
  return response;
}

base::Result<Json> parse_body(const std::string& body, const std::vector<std::string>& members) {
  GANGRUN_ASSIGN(Json json, base::parse_json(body, kMaxRequestBytes));
  if (!json.is_object()) return base::invalid_argument("the body must be a JSON object");
  for (const auto& [key, value] : json.items()) {
    if (std::find(members.begin(), members.end(), key) == members.end()) {
      return base::invalid_argument(base::format("unknown member \"{}\"; allowed are {}",
                                                 base::shorten(key, 80),
                                                 base::join(members, ", ")));
    }
  }
  return json;
}

}  // namespace gangrun::wire
