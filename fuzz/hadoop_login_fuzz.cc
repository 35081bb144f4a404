// The words of a server while somebody logs in by Kerberos: a field of its answer, and which
// principal it has; lines of the input. And who may look at a job.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "hadoop/access_list.h"
#include "hadoop/configuration.h"
#include "hadoop/server_principal.h"
#include "hadoop/web_login.h"
#include "net/digests.h"

using namespace gangrun;  // NOLINT: a program of its own

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  (void)net::from_base64(input);
  net::HttpResponse answer;
  answer.headers.add("WWW-Authenticate", std::string(input));
  answer.headers.add("Set-Cookie", std::string(input));
  (void)hadoop::negotiate_token(answer);
  (void)hadoop::login_cookie(answer);
  (void)hadoop::allows(hadoop::parse_access_list(input), "ann", hadoop::groups_of(input, "ann"));
  std::vector<std::string> lines = base::split(input, '\n');
  lines.resize(4);
  hadoop::Configuration configuration;
  configuration.set("key", lines[0]);
  configuration.set("key.pattern", lines[1]);
  (void)hadoop::server_principal(
      configuration, "key",
      {.method = "", .mechanism = "", .protocol = lines[2], .server_id = lines[3]}, "host",
      [](const std::string&) { return std::vector<std::string>{"127.0.0.1"}; });
  return 0;
}
