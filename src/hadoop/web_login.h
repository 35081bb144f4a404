#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"
#include "net/fetch.h"
#include "net/http.h"
#include "sasl/identity.h"

namespace gangrun::hadoop {

// The token of "WWW-Authenticate: Negotiate …", decoded (RFC 4559); empty where none stands there,
// none where the answer has no such field.
std::optional<std::string> negotiate_token(const net::HttpResponse& answer);
// The text to send back as "Cookie": "hadoop.auth=…", as the server has written it; none if it sets
// no such cookie, or takes it away.
std::optional<std::string> login_cookie(const net::HttpResponse& answer);

// Requests to the web servers of a secured Hadoop. One proves by Kerberos who one is, and the
// server proves likewise who it is; from then on a cookie tells it, until the server forgets that.
// From any thread.
class WebLogin {
 public:
  // Begins a login at the web server of `host` ("HTTP/host").
  using Start =
      std::function<base::Result<std::unique_ptr<sasl::SecurityContext>>(const std::string&)>;
  explicit WebLogin(Start start) : start_(std::move(start)) {}

  // net::fetch(), as somebody who is known. kUnauthenticated where the server does not prove who
  // it is; what begins a login has its own errors.
  base::Result<net::HttpResponse> fetch(const net::FetchRequest& request,
                                        const net::FetchOptions& options);

 private:
  base::Result<net::HttpResponse> log_in(net::FetchRequest request,
                                         const net::FetchOptions& options,
                                         const std::string& origin, const std::string& host);

  // Empty: none is known.
  std::string cookie_of(const std::string& origin);
  void keep(const std::string& origin, std::string cookie);

  const Start start_;
  std::mutex mutex_;                            // of what comes next
  std::map<std::string, std::string> cookies_;  // by origin
};

}  // namespace gangrun::hadoop
