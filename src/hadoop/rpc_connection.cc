#include "hadoop/rpc_connection.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "net/digests.h"

namespace gangrun::hadoop {

namespace {

using Kind = RpcError::Kind;

constexpr std::size_t kClientIdBytes = 16;

RpcError local_error(const base::Error& error, Kind otherwise = Kind::kGarbled) {
  Kind kind = otherwise;
  if (error.code == base::Code::kUnavailable || error.code == base::Code::kNotFound) {
    kind = Kind::kUnreachable;
  } else if (error.code == base::Code::kDeadlineExceeded) {
    kind = Kind::kTimedOut;
  }
  return RpcError{.kind = kind, .message = error.message};
}

// Why the server ends the connection: mostly it does not let us in.
RpcError fatal_error(const RpcResponse& response) {
  RpcError error =
      remote_error(Kind::kAuthentication, response.exception_class, response.error_text);
  const std::string_view name = simple_class_name(error.exception_class);
  const bool is_refusal = name == "AccessControlException" || name == "AuthorizationException" ||
                          name == "SaslException" || name == "InvalidToken" ||
                          name == "InvalidEncryptionKeyException";
  if (!is_refusal) error.kind = Kind::kRemote;
  return error;
}

}  // namespace

RpcConnection::RpcConnection(std::string host, int port, std::string protocol, Login login)
    : host_(std::move(host)),
      port_(port),
      protocol_(std::move(protocol)),
      login_(std::move(login)),
      client_id_(net::random_bytes(kClientIdBytes)) {}

void RpcConnection::close() {
  socket_.reset();
  responses_ = ResponseReader();
  guard_.reset();
  before_the_first_call_.clear();
}

RpcOutcome RpcConnection::call(std::string_view method, std::string_view request,
                               base::Instant deadline) {
  if (!connected()) {
    if (std::optional<RpcError> error = open(deadline)) {
      close();
      return *std::move(error);
    }
  }
  RpcOutcome outcome = exchange(method, request, deadline);
  // An answer that may still come would be taken for another call's.
  if (outcome.error && outcome.error->kind != Kind::kRemote) close();
  return outcome;
}

std::optional<RpcError> RpcConnection::open(base::Instant deadline) {
  base::Result<BlockingSocket> socket = BlockingSocket::connect(host_, port_, deadline);
  if (!socket.ok()) return local_error(socket.error(), Kind::kUnreachable);
  socket_.emplace(*std::move(socket));
  if (!login_.methods.empty()) return log_in(deadline);
  before_the_first_call_ =
      encode_preamble(false) + encode_context(client_id_, protocol_, login_.user, login_.real_user);
  return std::nullopt;
}

std::optional<RpcError> RpcConnection::log_in(base::Instant deadline) {
  SaslHandshake handshake(login_, host_);
  std::string next = encode_preamble(true) + encode_sasl(SaslHandshake::first_message());
  while (!handshake.done()) {
    if (const base::Result<> sent = send(next, deadline); !sent.ok()) {
      return local_error(sent.error());
    }
    const base::Result<RpcResponse> response = receive(deadline);
    if (!response.ok()) return local_error(response.error());
    if (response->status != RpcResponse::Status::kSuccess) return fatal_error(*response);
    const base::Result<SaslMessage> message = parse_sasl(response->body);
    if (!message.ok()) return local_error(message.error());
    const auto answer = handshake.on_message(*message);
    if (!answer.ok()) return local_error(answer.error(), Kind::kAuthentication);
    next = *answer ? encode_sasl(**answer) : "";
  }
  guard_ = handshake.take_guard();
  if (guard_ != nullptr) responses_.set_guard(*guard_);
  before_the_first_call_ = encode_context(client_id_, protocol_, login_.user, "");
  return std::nullopt;
}

RpcOutcome RpcConnection::exchange(std::string_view method, std::string_view request,
                                   base::Instant deadline) {
  const std::int32_t call_id = next_call_id_;
  next_call_id_ = call_id == std::numeric_limits<std::int32_t>::max() ? 0 : call_id + 1;
  const std::string bytes = std::exchange(before_the_first_call_, "") +
                            encode_call(client_id_, call_id, protocol_, method, request);
  const base::Result<> sent = send(bytes, deadline);
  // A server that refuses closes at once; why it does can still be read.
  if (!sent.ok() && sent.error().code == base::Code::kDeadlineExceeded) {
    return local_error(sent.error());
  }
  while (true) {
    const base::Result<RpcResponse> response = receive(deadline);
    if (!response.ok()) return local_error(response.error());
    if (response->status == RpcResponse::Status::kFatal) {
      close();
      return fatal_error(*response);
    }
    if (response->call_id != call_id) continue;
    if (response->status == RpcResponse::Status::kError) {
      return remote_error(Kind::kRemote, response->exception_class, response->error_text);
    }
    return response->body;
  }
}

base::Result<> RpcConnection::send(const std::string& bytes, base::Instant deadline) {
  if (guard_ == nullptr) return socket_->send(bytes, deadline);
  std::string guarded;
  const std::size_t max_piece = guard_->max_piece_bytes();
  for (std::size_t begin = 0; begin < bytes.size(); begin += max_piece) {
    GANGRUN_ASSIGN(std::string token,
                   guard_->wrap(std::string_view(bytes).substr(begin, max_piece)));
    guarded += encode_sasl({.state = SaslMessage::State::kWrap, .token = std::move(token)});
  }
  return socket_->send(guarded, deadline);
}

base::Result<RpcResponse> RpcConnection::receive(base::Instant deadline) {
  while (true) {
    GANGRUN_ASSIGN(std::optional<RpcResponse> response, responses_.next());
    if (response) return *std::move(response);
    GANGRUN_ASSIGN(const std::string bytes, socket_->receive(deadline));
    responses_.feed(bytes);
  }
}

}  // namespace gangrun::hadoop
