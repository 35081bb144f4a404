#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "hadoop/blocking_socket.h"
#include "hadoop/rpc_error.h"
#include "hadoop/rpc_frames.h"
#include "hadoop/sasl_handshake.h"

namespace gangrun::hadoop {

// One connection to one service of Hadoop. It is made by the first call, and by the first one after
// close() or a broken connection: a call is sent once, and whoever called decides about again. One
// thread at a time.
class RpcConnection {
 public:
  RpcConnection(std::string host, int port, std::string protocol, Login login);

  // `request` and the answer are messages. Blocks until `deadline` at most.
  RpcOutcome call(std::string_view method, std::string_view request, base::Instant deadline);

  [[nodiscard]] bool connected() const { return socket_.has_value(); }
  void close();

 private:
  std::optional<RpcError> open(base::Instant deadline);
  std::optional<RpcError> log_in(base::Instant deadline);
  RpcOutcome exchange(std::string_view method, std::string_view request, base::Instant deadline);
  base::Result<> send(const std::string& bytes, base::Instant deadline);
  base::Result<RpcResponse> receive(base::Instant deadline);

  const std::string host_;
  const int port_;
  const std::string protocol_;
  const Login login_;
  const std::string client_id_;
  std::int32_t next_call_id_ = 0;

  std::optional<BlockingSocket> socket_;
  std::string before_the_first_call_;
  std::unique_ptr<sasl::Mechanism> guard_;
  ResponseReader responses_;
};

}  // namespace gangrun::hadoop
