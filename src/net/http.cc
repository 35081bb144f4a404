#include "net/http.h"

#include <array>

#include "base/format.h"
#include "base/letters.h"
#include "base/strings.h"
#include "net/error_body.h"

namespace gangrun::net {

namespace {

constexpr std::size_t kMaxErrorTextBytes = 1000;
constexpr std::size_t kMaxErrorBodyBytes = std::size_t{64} << 10U;

int hex_digit(char c) {
  if (base::is_digit(c)) return c - '0';
  const char small = base::small_letter(c);
  if (base::is_small_hex_digit(small)) return small - 'a' + 10;
  return -1;
}

bool is_unreserved(char c) {
  return base::is_letter_or_digit(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

struct StatusRow {
  int status;
  base::Code code;
  std::string_view text;
};

// The first of several rows with one code is the status for that code.
constexpr std::array kStatuses{
    StatusRow{400, base::Code::kInvalidArgument, "Bad Request"},
    StatusRow{401, base::Code::kUnauthenticated, "Unauthorized"},
    StatusRow{403, base::Code::kPermissionDenied, "Forbidden"},
    StatusRow{404, base::Code::kNotFound, "Not Found"},
    StatusRow{405, base::Code::kInvalidArgument, "Method Not Allowed"},
    StatusRow{504, base::Code::kDeadlineExceeded, "Gateway Timeout"},
    StatusRow{408, base::Code::kDeadlineExceeded, "Request Timeout"},
    StatusRow{409, base::Code::kAlreadyExists, "Conflict"},
    StatusRow{410, base::Code::kCancelled, "Gone"},
    StatusRow{412, base::Code::kFailedPrecondition, "Precondition Failed"},
    StatusRow{429, base::Code::kResourceExhausted, "Too Many Requests"},
    StatusRow{413, base::Code::kResourceExhausted, "Content Too Large"},
    StatusRow{431, base::Code::kResourceExhausted, "Request Header Fields Too Large"},
    StatusRow{426, base::Code::kFailedPrecondition, "Upgrade Required"},
    StatusRow{500, base::Code::kInternal, "Internal Server Error"},
    StatusRow{500, base::Code::kDataLoss, "Internal Server Error"},
    StatusRow{503, base::Code::kUnavailable, "Service Unavailable"},
    StatusRow{502, base::Code::kUnavailable, "Bad Gateway"},
};

base::Result<std::string> decode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
      if (high < 0 || low < 0) {
        return base::invalid_argument("\"%\" is not followed by two hexadecimal digits");
      }
      c = static_cast<char>(high * 16 + low);
      i += 2;
    } else if (c == '+' && plus_is_space) {
      c = ' ';
    }
    if (c == '\0') return base::invalid_argument("NUL byte");
    out.push_back(c);
  }
  return out;
}

std::string encode(std::string_view text, bool keep_slash) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (is_unreserved(c) || (keep_slash && c == '/')) {
      out.push_back(c);
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out.push_back('%');
      out.push_back(kDigits[byte >> 4]);
      out.push_back(kDigits[byte & 15]);
    }
  }
  return out;
}

}  // namespace

void Headers::add(std::string name, std::string value) {
  fields_.emplace_back(std::move(name), std::move(value));
}

std::optional<std::string_view> Headers::get(std::string_view name) const {
  for (const auto& [key, value] : fields_) {
    if (base::same_without_case(key, name)) return value;
  }
  return std::nullopt;
}

std::string_view HttpRequest::bearer_token() const {
  constexpr std::string_view kScheme = "Bearer ";
  const std::string_view value = headers.get("Authorization").value_or("");
  if (!base::same_without_case(value.substr(0, kScheme.size()), kScheme)) return {};
  return base::trim(value.substr(kScheme.size()));
}

base::Result<Target> parse_target(std::string_view target) {
  if (target.size() > kMaxTargetBytes) {
    return base::invalid_argument(
        base::format("the target has {} bytes, {} are allowed", target.size(), kMaxTargetBytes));
  }
  if (target.empty() || target.front() != '/') {
    return base::invalid_argument("the target must begin with \"/\"");
  }
  Target out;
  const std::size_t mark = target.find('?');
  GANGRUN_ASSIGN(out.path, decode(target.substr(0, mark), false));
  if (mark == std::string_view::npos) return out;
  for (const std::string& pair : base::split(target.substr(mark + 1), '&')) {
    if (pair.empty()) continue;
    const std::size_t equals = pair.find('=');
    GANGRUN_ASSIGN(std::string key, decode(std::string_view(pair).substr(0, equals), true));
    std::string value;
    if (equals != std::string::npos) {
      GANGRUN_ASSIGN(value, decode(std::string_view(pair).substr(equals + 1), true));
    }
    if (out.query.contains(key)) out.repeated.push_back(key);
    out.query[std::move(key)] = std::move(value);
  }
  return out;
}

std::string make_target(std::string_view path, const std::map<std::string, std::string>& query) {
  std::string out = encode(path, true);
  char separator = '?';
  for (const auto& [key, value] : query) {
    out += separator + encode(key, false) + '=' + encode(value, false);
    separator = '&';
  }
  return out;
}

std::string percent_encode(std::string_view text) { return encode(text, false); }

base::Result<std::string> percent_decode(std::string_view text) { return decode(text, false); }

std::string_view status_text(int status) {
  if (status == 101) return "Switching Protocols";
  if (status == 202) return "Accepted";
  if (status == 204) return "No Content";
  if (status == 304) return "Not Modified";
  if (status < 300) return "OK";
  for (const StatusRow& row : kStatuses) {
    if (row.status == status) return row.text;
  }
  return "Status";
}

int status_of(base::Code code) {
  for (const StatusRow& row : kStatuses) {
    if (row.code == code) return row.status;
  }
  return 500;
}

base::Code code_of_status(int status) {
  for (const StatusRow& row : kStatuses) {
    if (row.status == status) return row.code;
  }
  return status >= 400 && status < 500 ? base::Code::kInvalidArgument : base::Code::kInternal;
}

HttpResponse error_response(const base::Error& error) {
  return {status_of(error.code), "text/plain; charset=utf-8", {}, error.message + "\n"};
}

base::Error error_of(const HttpResponse& response) {
  const auto told = told_message(response.body, kMaxErrorBodyBytes);
  std::string text =
      base::shorten(told ? std::string_view(*told) : base::trim(response.body), kMaxErrorTextBytes);
  if (text.empty())
    text = base::format("HTTP {} {}", response.status, status_text(response.status));
  return {code_of_status(response.status), std::move(text)};
}

}  // namespace gangrun::net
