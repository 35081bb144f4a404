#include <algorithm>

#include "base/check.h"
#include "base/format.h"
#include "base/letters.h"
#include "net/http_wire_internal.h"

namespace gangrun::net {

namespace {

bool is_name(std::string_view text) {
  return !text.empty() && base::is_of_letters_digits_and(text, "-_");
}

bool is_value(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
  });
}

// Our own code names the fields; a value may come from outside and loses what is not allowed.
void append_field(std::string& out, std::string_view name, std::string_view value) {
  GANGRUN_CHECK(is_name(name), name);
  out.append(name).append(": ");
  for (const char c : value) out.push_back(is_value({&c, 1}) ? c : ' ');
  out.append("\r\n");
}

}  // namespace

std::string serialise(const HttpResponse& response, bool without_body, bool last) {
  std::string out =
      base::format("HTTP/1.1 {} {}\r\n", response.status, status_text(response.status));
  const bool may_have_body = response.status != 204 && response.status != 304;
  if (may_have_body) {
    if (!response.content_type.empty()) append_field(out, "Content-Type", response.content_type);
    append_field(out, "Content-Length", std::to_string(response.body.size()));
  }
  if (last) append_field(out, "Connection", "close");
  for (const auto& [name, value] : response.headers.fields()) append_field(out, name, value);
  out.append("\r\n");
  if (may_have_body && !without_body) out.append(response.body);
  return out;
}

base::Result<std::string> serialise_head(const RequestLine& line, const Headers& headers,
                                         std::uint64_t body_bytes) {
  if (!is_name(line.method)) {
    return base::invalid_argument(base::format("\"{}\" is not an HTTP method", line.method));
  }
  GANGRUN_TRY(check_headers(headers));
  std::string out = base::format("{} {} HTTP/1.1\r\n", line.method, line.target);
  append_field(out, "Host", line.host);
  append_field(out, "Connection", "close");
  if (body_bytes > 0 || line.method == "POST" || line.method == "PUT") {
    append_field(out, "Content-Length", std::to_string(body_bytes));
  }
  for (const auto& [name, value] : headers.fields()) append_field(out, name, value);
  out.append("\r\n");
  return out;
}

base::Result<std::string> serialise(const HttpRequest& request, const std::string& host) {
  const std::string target = make_target(request.path, request.query);
  GANGRUN_ASSIGN(std::string out, serialise_head({request.method, target, host}, request.headers,
                                                 request.body.size()));
  return out.append(request.body);
}

base::Result<> check_headers(const Headers& headers) {
  for (const auto& [name, value] : headers.fields()) {
    if (!is_name(name)) {
      return base::invalid_argument(base::format("\"{}\" cannot be the name of a header", name));
    }
    // The value may be a secret: it is not shown.
    if (!is_value(value)) {
      return base::invalid_argument(
          base::format("the value of the header \"{}\" has a control character", name));
    }
  }
  return {};
}

}  // namespace gangrun::net
