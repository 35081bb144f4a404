// The bytes that a ZooKeeper server may send: the first byte says how the stream is cut, the second
// what was asked.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "net/frames.h"
#include "zookeeper/login.h"
#include "zookeeper/wire.h"

using namespace gangrun;  // NOLINT: a program of its own

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  std::string_view input(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::size_t piece = data[0] + std::size_t{1};
  const zookeeper::Operation operation{.verb = static_cast<zookeeper::Operation::Verb>(data[1] % 4),
                                       .node = {.path = "/x"}};
  const auto login = zookeeper::digest_login("user", base::Secret("password"))("host");
  login->respond("", [](const base::Result<std::string>&) {});
  net::FrameReader reader(zookeeper::kMaxFrameBytes);
  bool is_welcome = true;
  while (!input.empty()) {
    reader.feed(input.substr(0, piece));
    input.remove_prefix(std::min(piece, input.size()));
    while (true) {
      const auto frame = reader.next();
      if (!frame.ok()) return 0;
      if (!*frame) break;
      if (is_welcome) {
        is_welcome = false;
        const auto welcome = zookeeper::parse_welcome(**frame);
        if (welcome.ok()) {
          (void)zookeeper::connect_request(welcome->session, welcome->timeout, 0);
        }
        continue;
      }
      const auto reply = zookeeper::parse_reply(**frame);
      if (!reply.ok()) return 0;
      (void)zookeeper::refusal_of(*reply);
      (void)zookeeper::answer_of(*reply, operation, 1);
      const auto token = zookeeper::login_token_of(*reply);
      if (!token.ok()) continue;
      if (login->has_answered()) {
        (void)login->finish(*token);
      } else {
        login->respond(*token, [](const base::Result<std::string>&) {});
      }
    }
  }
  return 0;
}
