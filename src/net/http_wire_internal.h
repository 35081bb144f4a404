#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http.h"

namespace gangrun::net {

// The bytes of an answer. To a HEAD request it is `without_body`; `last` tells the client that the
// connection ends.
std::string serialise(const HttpResponse& response, bool without_body, bool last);

struct RequestLine {
  std::string_view method;
  std::string_view target;  // encoded
  std::string_view host;    // for the field of that name
};

// The bytes before the body of a request that is the only one of its connection.
base::Result<std::string> serialise_head(const RequestLine& line, const Headers& headers,
                                         std::uint64_t body_bytes);
// All the bytes of such a request.
base::Result<std::string> serialise(const HttpRequest& request, const std::string& host);

// Names of letters, digits and hyphens, values without control characters: nothing else may stand
// in a header.
base::Result<> check_headers(const Headers& headers);

}  // namespace gangrun::net
