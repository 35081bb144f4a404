#include "hadoop/web_login.h"

#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/letters.h"
#include "base/strings.h"
#include "net/digests.h"
#include "net/url.h"

namespace gangrun::hadoop {

namespace {

constexpr std::string_view kScheme = "negotiate";
constexpr std::string_view kCookie = "hadoop.auth=";
constexpr int kUnauthorized = 401;
// The limit for a cookie of ours; the answer's head is limited already.
constexpr std::size_t kMaxCookieBytes = 4096;

}  // namespace

std::optional<std::string> negotiate_token(const net::HttpResponse& answer) {
  for (const auto& [name, value] : answer.headers.fields()) {
    if (!base::same_without_case(name, "www-authenticate")) continue;
    const std::string_view text = base::trim(value);
    const std::string_view scheme = text.substr(0, text.find(' '));
    if (!base::same_without_case(scheme, kScheme)) continue;
    return net::from_base64(base::trim(text.substr(scheme.size()))).value_or("");
  }
  return std::nullopt;
}

std::optional<std::string> login_cookie(const net::HttpResponse& answer) {
  for (const auto& [name, value] : answer.headers.fields()) {
    if (!base::same_without_case(name, "set-cookie")) continue;
    const std::string_view text = base::trim(value);
    if (!text.starts_with(kCookie)) continue;
    std::string_view said = text.substr(kCookie.size());
    // Hadoop puts the value into quotes, in which it may have a semicolon.
    if (said.starts_with('"')) {
      const std::size_t end = said.find('"', 1);
      if (end == std::string_view::npos) continue;
      said = said.substr(0, end + 1);
    } else {
      said = base::trim(said.substr(0, said.find(';')));
    }
    if (said.empty() || said == "\"\"" || said.size() > kMaxCookieBytes) return std::nullopt;
    return base::format("{}{}", kCookie, said);
  }
  return std::nullopt;
}

std::string WebLogin::cookie_of(const std::string& origin) {
  const std::lock_guard lock(mutex_);
  const auto found = cookies_.find(origin);
  return found == cookies_.end() ? std::string() : found->second;
}

void WebLogin::keep(const std::string& origin, std::string cookie) {
  const std::lock_guard lock(mutex_);
  cookies_[origin] = std::move(cookie);
}

base::Result<net::HttpResponse> WebLogin::fetch(const net::FetchRequest& request,
                                                const net::FetchOptions& options) {
  GANGRUN_ASSIGN(const net::Url url, net::parse_url(request.url));
  const std::string origin = net::origin_of(url);
  if (std::string cookie = cookie_of(origin); !cookie.empty()) {
    net::FetchRequest known = request;
    known.headers.add("Cookie", std::move(cookie));
    GANGRUN_ASSIGN(net::HttpResponse answer, net::fetch(known, options));
    if (answer.status != kUnauthorized) {
      if (auto newer = login_cookie(answer)) keep(origin, *std::move(newer));
      return answer;
    }
    keep(origin, "");
  }
  return log_in(request, options, origin, url.host);
}

base::Result<net::HttpResponse> WebLogin::log_in(net::FetchRequest request,
                                                 const net::FetchOptions& options,
                                                 const std::string& origin,
                                                 const std::string& host) {
  GANGRUN_ASSIGN(const auto context, start_(host));
  GANGRUN_ASSIGN(const std::string token, context->step(""));
  request.headers.add("Authorization", base::format("Negotiate {}", net::to_base64(token)));
  GANGRUN_ASSIGN(net::HttpResponse answer, net::fetch(request, options));
  if (answer.status == kUnauthorized) return answer;
  // An answer without one is of a server, or of something between, that asks for no login.
  const std::optional<std::string> proof = negotiate_token(answer);
  if (proof && !proof->empty() && !context->established()) {
    GANGRUN_TRY(context->step(*proof).context(base::format("the login at {}", origin)));
    if (!context->established()) {
      return base::Error{base::Code::kUnauthenticated,
                         base::format("{} wants more than one round to log in", origin)};
    }
  }
  if (auto cookie = login_cookie(answer)) keep(origin, *std::move(cookie));
  return answer;
}

}  // namespace gangrun::hadoop
