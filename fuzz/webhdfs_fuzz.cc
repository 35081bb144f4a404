// The answers of a NameNode, or of whoever answers in its place: whatever they are, a value or an
// error comes out, and a value is fit to be used in the next call.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "hadoop/web_hdfs_wire.h"
#include "net/url.h"

namespace {

using namespace gangrun;  // NOLINT: a program of its own

void check_error(const base::Error& error) {
  GANGRUN_CHECK(!error.message.empty() && error.message.size() < 1000, error.message);
  GANGRUN_CHECK(error.message.find('\n') == std::string::npos, error.message);
}

void parse_all(std::string_view body) {
  if (const auto files = hadoop::parse_list(body); files.ok()) {
    for (const auto& file : *files) {
      GANGRUN_CHECK(file.permission <= 07777, file.permission);
      GANGRUN_CHECK(file.name.empty() || hadoop::check_path("/" + file.name).ok(), file.name);
    }
  }
  if (const auto file = hadoop::parse_file_status(body); file.ok()) {
    GANGRUN_CHECK(file->permission <= 07777, file->permission);
  }
  (void)hadoop::parse_boolean(body);
  (void)hadoop::parse_long(body);
  (void)hadoop::parse_token(body);
  if (const auto path = hadoop::parse_path(body); path.ok()) {
    const auto target = net::parse_target(hadoop::webhdfs_target(*path, "OPEN", {{"a", *path}}));
    GANGRUN_CHECK(!target.ok() || target->path == "/webhdfs/v1" + *path, *path);
  }
}

}  // namespace

// The first two bytes are the status.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (input.size() < 2) return 0;
  net::HttpResponse response;
  response.status = 100 + (data[0] * 256 + data[1]) % 500;
  response.content_type = data[0] % 2 == 0 ? "application/json" : "text/plain";
  response.body = input.substr(2);
  response.headers.add("Location", response.body);
  parse_all(response.body);
  if (const auto location = hadoop::parse_location(response); location.ok()) {
    if (const auto url = net::parse_url(*location); url.ok()) {
      const auto again = net::parse_url(net::origin_of(*url) + url->target);
      GANGRUN_CHECK(again.ok() && *again == *url, *location);
    }
  }
  check_error(hadoop::error_of_answer(response));
  (void)hadoop::is_standby(response);
  return 0;
}
