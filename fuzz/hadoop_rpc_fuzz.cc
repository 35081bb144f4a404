// The bytes that a server may send on a connection of Hadoop's RPC. The first byte says how the
// stream is cut.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "hadoop/rpc_error.h"
#include "hadoop/rpc_frames.h"
#include "hadoop/sasl_handshake.h"

using namespace gangrun;  // NOLINT: a program of its own

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t piece = data[0] + std::size_t{1};
  const hadoop::Login login = hadoop::token_login({.identifier = "identifier",
                                                   .password = base::Secret("password"),
                                                   .kind = "kind",
                                                   .service = ""});
  hadoop::SaslHandshake handshake(login, "localhost");
  hadoop::ResponseReader reader;
  while (!input.empty()) {
    reader.feed(input.substr(0, piece));
    input.remove_prefix(std::min(piece, input.size()));
    while (true) {
      const auto response = reader.next();
      if (!response.ok()) return 0;
      if (!*response) break;
      const hadoop::RpcError error = hadoop::remote_error(
          hadoop::RpcError::Kind::kRemote, (*response)->exception_class, (*response)->error_text);
      (void)hadoop::to_error(error, "the server");
      const auto message = hadoop::parse_sasl((*response)->body);
      if (message.ok()) (void)handshake.on_message(*message);
    }
  }
  return 0;
}
