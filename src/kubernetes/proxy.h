#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/secret.h"
#include "net/url.h"

namespace gangrun::kubernetes {

// "http://[user:password@]host[:port]" as net::RemoteOptions::proxy. kInvalidArgument for other
// kinds of proxy; the error does not show the text, for the password in it.
base::Result<base::Secret> parse_proxy(std::string_view text);

// The proxy by which HTTPS_PROXY (HTTP_PROXY for http://) and NO_PROXY have `server` asked, in
// large or small letters, as Go's net/http reads them; empty: none. kInvalidArgument with the
// variable's name.
base::Result<base::Secret> proxy_for(const net::Url& server,
                                     const std::map<std::string, std::string>& environment);

}  // namespace gangrun::kubernetes
