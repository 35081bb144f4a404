#pragma once

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace gangrun::net {

inline constexpr std::size_t kMaxTargetBytes = std::size_t{8} * 1024;

enum class PeerKind { kUnix, kTls, kTcp };

// The process at the other end, as far as the kernel knows it.
struct Peer {
  PeerKind kind = PeerKind::kUnix;
  uid_t uid = static_cast<uid_t>(-1);  // only kUnix: of the process that connected
  pid_t pid = -1;                      // only kUnix
  std::string address;                 // for people: "10.0.0.7:4711", "pid 123"
};

// Header fields in their order; names compare without case.
class Headers {
 public:
  Headers() = default;
  Headers(std::initializer_list<std::pair<std::string, std::string>> fields) : fields_(fields) {}

  void add(std::string name, std::string value);
  // The first field of that name.
  [[nodiscard]] std::optional<std::string_view> get(std::string_view name) const;
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& fields() const {
    return fields_;
  }

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

struct HttpRequest {
  std::string method = "GET";
  std::string path = "/";                    // decoded
  std::map<std::string, std::string> query;  // decoded; of a repeated key the last value
  Headers headers;
  std::string body;
  Peer peer;                            // set by the server
  std::vector<std::string> repeated{};  // keys of the query that came more than once

  // The token of "Authorization: Bearer TOKEN"; empty without one.
  [[nodiscard]] std::string_view bearer_token() const;
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  Headers headers;  // besides Content-Type, Content-Length and Connection
  std::string body;
};

struct Target {
  std::string path;
  std::map<std::string, std::string> query;
  std::vector<std::string> repeated{};
};

// "/a%20b?x=1&y" decoded. Refuses what does not start with "/", is over kMaxTargetBytes, or has a
// broken escape or a NUL byte.
base::Result<Target> parse_target(std::string_view target);
// The other way round: what stands in a request line.
std::string make_target(std::string_view path, const std::map<std::string, std::string>& query);

// Everything but letters, digits and "-._~" as %XX.
std::string percent_encode(std::string_view text);
base::Result<std::string> percent_decode(std::string_view text);

// The reason phrase of a status: "Not Found".
std::string_view status_text(int status);

// The status that says what an error of this code means, and the way back.
int status_of(base::Code code);
base::Code code_of_status(int status);

// A plain-text answer with the error's status and its message.
HttpResponse error_response(const base::Error& error);
// The error of an answer with a status of 400 and above: the code by its status, the message from
// its body's beginning.
base::Error error_of(const HttpResponse& response);

}  // namespace gangrun::net
