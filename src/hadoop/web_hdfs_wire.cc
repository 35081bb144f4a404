#include "hadoop/web_hdfs_wire.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/format.h"
#include "base/json.h"
#include "base/letters.h"
#include "base/strings.h"
#include "base/terminal_text.h"

namespace gangrun::hadoop {

namespace {

using base::Code;
using base::Json;

constexpr std::size_t kMaxHdfsAnswerBytes = std::size_t{64} << 20U;
constexpr std::size_t kMaxMessageBytes = 500;
constexpr std::uint32_t kPermissionBits = 07777;
constexpr std::size_t kMaxPermissionDigits = 4;

using Row = std::pair<std::string_view, Code>;

// By the name of the Java class, without its package.
constexpr std::array kExceptions{
    Row{"FileNotFoundException", Code::kNotFound},
    Row{"AccessControlException", Code::kPermissionDenied},
    Row{"AuthorizationException", Code::kPermissionDenied},
    Row{"FileAlreadyExistsException", Code::kAlreadyExists},
    Row{"AlreadyBeingCreatedException", Code::kUnavailable},
    Row{"PathIsNotEmptyDirectoryException", Code::kFailedPrecondition},
    Row{"ParentNotDirectoryException", Code::kFailedPrecondition},
    Row{"StandbyException", Code::kUnavailable},
    Row{"RetriableException", Code::kUnavailable},
    Row{"SafeModeException", Code::kUnavailable},
    Row{"NSQuotaExceededException", Code::kResourceExhausted},
    Row{"DSQuotaExceededException", Code::kResourceExhausted},
    Row{"QuotaByStorageTypeExceededException", Code::kResourceExhausted},
    Row{"InvalidToken", Code::kUnauthenticated},
    Row{"SecurityException", Code::kUnauthenticated},
    Row{"IllegalArgumentException", Code::kInvalidArgument},
    Row{"InvalidPathException", Code::kInvalidArgument},
    Row{"UnsupportedOperationException", Code::kInvalidArgument},
};

constexpr std::string_view kNoDataNode = "Failed to find datanode";

// Words in the message of an exception whose class says nothing.
constexpr std::array kPhrases{
    Row{"could only be written to 0 of the", Code::kResourceExhausted},
    Row{"could only be replicated to 0 nodes", Code::kResourceExhausted},
    Row{"There is not enough space", Code::kResourceExhausted},
    Row{"is in safe mode", Code::kUnavailable},
    Row{"Operation category", Code::kUnavailable},
    Row{kNoDataNode, Code::kUnavailable},
    Row{"is non empty", Code::kFailedPrecondition},
    Row{"out of the range", Code::kInvalidArgument},
};

base::Result<Json> member(std::string_view body, std::string_view key) {
  GANGRUN_ASSIGN(Json json, base::parse_json(body, kMaxHdfsAnswerBytes));
  if (!json.is_object()) return base::invalid_argument("the answer is not a JSON object");
  const auto found = json.find(key);
  if (found == json.end()) {
    return base::invalid_argument(base::format("the answer has no \"{}\"", key));
  }
  return std::move(*found);
}

template <typename T>
base::Result<T> parse_member(std::string_view body, std::string_view key) {
  GANGRUN_ASSIGN(const Json json, base::parse_json(body, kMaxHdfsAnswerBytes));
  return base::json_member<T>(json, key);
}

base::Result<std::uint32_t> parse_permission(const std::string& text) {
  const bool octal = !text.empty() && text.size() <= kMaxPermissionDigits &&
                     std::ranges::all_of(text, base::is_octal_digit);
  if (!octal) return base::invalid_argument("\"permission\" must be an octal number");
  std::uint32_t out = 0;
  for (const char c : text) out = out * 8 + static_cast<std::uint32_t>(c - '0');
  return out & kPermissionBits;
}

base::Result<FileStatus> status_of(const Json& json) {
  FileStatus out;
  GANGRUN_ASSIGN(const std::string type, base::json_member<std::string>(json, "type"));
  out.is_folder = type == "DIRECTORY";
  GANGRUN_ASSIGN(out.length, base::json_member_or<std::uint64_t>(json, "length", 0));
  GANGRUN_ASSIGN(out.modification_time, base::json_member<std::int64_t>(json, "modificationTime"));
  GANGRUN_ASSIGN(out.name, base::json_member_or<std::string>(json, "pathSuffix", {}));
  GANGRUN_ASSIGN(const std::string permission, base::json_member<std::string>(json, "permission"));
  GANGRUN_ASSIGN(out.permission, parse_permission(permission));
  return out;
}

struct RemoteException {
  std::string name;
  std::string message;
};

// None where the answer is not WebHDFS' own.
std::optional<RemoteException> exception_of(const net::HttpResponse& response) {
  const auto json = member(response.body, "RemoteException");
  if (!json.ok()) return std::nullopt;
  RemoteException out;
  out.name = base::json_member_or<std::string>(*json, "exception", {}).value_or("");
  out.message = base::json_member_or<std::string>(*json, "message", {}).value_or("");
  return out;
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

// Java puts its stack below the first line. What could play tricks on a terminal is left out.
std::string first_line(std::string_view text) {
  text = base::trim(text);
  std::string line = base::shorten(base::trim(text.substr(0, text.find('\n'))), kMaxMessageBytes);
  std::ranges::replace_if(line, is_control, ' ');
  return line;
}

Code code_of(const RemoteException& exception, int status) {
  // Some servers wrap what happened into another exception; the message then begins with its name.
  for (const auto& [name, code] : kExceptions) {
    if (exception.name == name) return code;
  }
  for (const auto& [phrase, code] : kPhrases) {
    if (exception.message.find(phrase) != std::string::npos) return code;
  }
  // A 403 is what every exception has that WebHDFS does not know, and a 500 is not our fault.
  if (status == 403 || status == 500) return Code::kFailedPrecondition;
  return net::code_of_status(status);
}

// NameNodes leave letters that are not ASCII as they are, which no request line may have.
std::string encode_letters(std::string_view url) {
  std::string out;
  for (const char c : url) {
    if (static_cast<unsigned char>(c) < 0x80) {
      out += c;
    } else {
      out += net::percent_encode({&c, 1});
    }
  }
  return out;
}

bool is_good_part(std::string_view part) {
  return !part.empty() && part != "." && part != ".." && part.find(':') == std::string::npos &&
         std::ranges::none_of(part, is_control);
}

}  // namespace

base::Result<> check_path(std::string_view path) {
  const auto refuse = [path] {
    return base::invalid_argument(base::format("\"{}\" is not an absolute path of HDFS", path));
  };
  if (!path.starts_with('/') || !base::is_valid_utf8(path)) return refuse();
  if (path == "/") return {};
  for (const std::string& part : base::split(path.substr(1), '/')) {
    if (!is_good_part(part)) return refuse();
  }
  return {};
}

std::string webhdfs_target(std::string_view path, std::string_view operation,
                           const std::map<std::string, std::string>& parameters) {
  std::map<std::string, std::string> query = parameters;
  query["op"] = operation;
  return net::make_target(base::format("/webhdfs/v1{}", path), query);
}

base::Result<FileStatus> parse_file_status(std::string_view body) {
  GANGRUN_ASSIGN(const Json json, member(body, "FileStatus"));
  return status_of(json);
}

base::Result<std::vector<FileStatus>> parse_list(std::string_view body) {
  GANGRUN_ASSIGN(const Json outer, member(body, "FileStatuses"));
  const auto list = outer.is_object() ? outer.find("FileStatus") : outer.end();
  if (list == outer.end() || !list->is_array()) {
    return base::invalid_argument("\"FileStatuses\" has no list \"FileStatus\"");
  }
  std::vector<FileStatus> out;
  for (const Json& json : *list) {
    GANGRUN_ASSIGN(FileStatus status, status_of(json));
    // The name is put behind a path: it must not lead elsewhere. Empty: a file lists itself.
    if (!status.name.empty() && !check_path("/" + status.name).ok()) {
      return base::invalid_argument(base::format("\"{}\" is not a name of a file", status.name));
    }
    out.push_back(std::move(status));
  }
  return out;
}

base::Result<bool> parse_boolean(std::string_view body) {
  return parse_member<bool>(body, "boolean");
}

base::Result<std::int64_t> parse_long(std::string_view body) {
  return parse_member<std::int64_t>(body, "long");
}

base::Result<std::string> parse_path(std::string_view body) {
  GANGRUN_ASSIGN(std::string path, parse_member<std::string>(body, "Path"));
  GANGRUN_TRY(check_path(path));
  return path;
}

base::Result<std::string> parse_location(const net::HttpResponse& response) {
  if (response.status == 307) {
    const auto location = response.headers.get("Location");
    if (!location) return base::invalid_argument("the redirection leads nowhere");
    return encode_letters(*location);
  }
  GANGRUN_ASSIGN(const auto location, parse_member<std::string>(response.body, "Location"));
  return encode_letters(location);
}

base::Result<std::optional<base::Secret>> parse_token(std::string_view body) {
  GANGRUN_ASSIGN(const Json json, member(body, "Token"));
  if (json.is_null()) return std::nullopt;
  GANGRUN_ASSIGN(std::string text, base::json_member<std::string>(json, "urlString"));
  return base::Secret(std::move(text));
}

base::Error error_of_answer(const net::HttpResponse& response) {
  const auto exception = exception_of(response);
  std::string said = exception ? first_line(exception->message) : std::string();
  if (exception && said.empty()) said = first_line(exception->name);
  const bool has_no_node = said.find(kNoDataNode) != std::string::npos;
  if (!said.empty()) {
    said = base::their_words(said, kMaxMessageBytes);
    if (has_no_node) said += " (no DataNode is alive, or none has room)";
    return {response.status == 401 ? Code::kUnauthenticated : code_of(*exception, response.status),
            std::move(said)};
  }
  // A page for a browser says less than the status.
  const std::string status =
      base::format("HTTP {} {}", response.status, net::status_text(response.status));
  if (response.status == 401) {
    return {Code::kUnauthenticated, status + ": it wants a Kerberos ticket or a delegation token"};
  }
  const bool plain = response.content_type.starts_with("text/plain");
  const std::string text = plain ? first_line(response.body) : std::string();
  return {net::code_of_status(response.status),
          text.empty() ? status : status + ": " + base::their_words(text)};
}

bool is_standby(const net::HttpResponse& response) {
  if (response.status < 400) return false;
  const auto exception = exception_of(response);
  return exception && (exception->name == "StandbyException" ||
                       exception->message.find("StandbyException") != std::string::npos ||
                       exception->message.starts_with("Operation category"));
}

}  // namespace gangrun::hadoop
