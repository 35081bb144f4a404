#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/secret.h"
#include "net/http.h"

// The messages of WebHDFS, as pure functions: URLs from calls, values from answers.
namespace gangrun::hadoop {

// The status of a file or a folder.
struct FileStatus {
  std::string name;  // in its folder; empty where the request had its path
  bool is_folder = false;
  std::uint64_t length = 0;
  std::int64_t modification_time = 0;  // milliseconds since the epoch
  std::uint32_t permission = 0;        // the lowest 12 bits of a mode: 0755, 01777

  bool operator==(const FileStatus&) const = default;
};

// kInvalidArgument for what is no absolute path of HDFS: empty, relative, with a part "." or ".."
// or without a character between two slashes, with ":" or a control character.
base::Result<> check_path(std::string_view path);

// "/webhdfs/v1/a%20b?op=OPEN&user.name=alice". The path has been checked.
std::string webhdfs_target(std::string_view path, std::string_view operation,
                           const std::map<std::string, std::string>& parameters);

// Answers with the status 200. Errors of these are kInvalidArgument and say what is wrong.
base::Result<FileStatus> parse_file_status(std::string_view body);
base::Result<std::vector<FileStatus>> parse_list(std::string_view body);
base::Result<bool> parse_boolean(std::string_view body);
base::Result<std::int64_t> parse_long(std::string_view body);
base::Result<std::string> parse_path(std::string_view body);
// The address where the bytes are, as a redirection or in the body.
base::Result<std::string> parse_location(const net::HttpResponse& response);
// The "delegation" text; none on a cluster that gives no tokens because it needs none.
base::Result<std::optional<base::Secret>> parse_token(std::string_view body);

// The error in an answer that is no success. The message is the server's, its first line.
base::Error error_of_answer(const net::HttpResponse& response);
// Whether the answer comes from a NameNode that is on standby, so that another one is to be asked.
bool is_standby(const net::HttpResponse& response);

}  // namespace gangrun::hadoop
