#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gangrun::hadoop {

// Why a call brought no answer.
struct RpcError {
  enum class Kind {
    kUnreachable,     // no connection, or it broke: the call may or may not have been done
    kTimedOut,        // likewise
    kAuthentication,  // the server does not let us in, or is not who it should be
    kRemote,          // the server's own answer to this call
    kGarbled,         // what came is not Hadoop's RPC
  };
  Kind kind = Kind::kUnreachable;
  std::string exception_class{};  // Java's; empty where the error is not the server's
  std::string message;            // without the stack trace
};

// The name without its packages: "StandbyException".
std::string_view simple_class_name(std::string_view exception_class);

// A remote error from the class and the text that stand on the wire. A message that is itself
// "some.Class: message", as YARN wraps them, gives that class and message.
RpcError remote_error(RpcError::Kind kind, std::string_view exception_class, std::string_view text);

// Whether another server may answer, or the same one later.
[[nodiscard]] bool may_be_tried_again(const RpcError& error);

// The same for a person: `server` is "the ResourceManager at host:port". The one table of Hadoop's
// exceptions.
base::Error to_error(const RpcError& error, std::string_view server);

// The outcome of a call: bytes of the answer, or why there is none.
struct [[nodiscard]] RpcOutcome {
  // NOLINTNEXTLINE(google-explicit-constructor): `return error` is the point
  RpcOutcome(std::string answer) : body(std::move(answer)) {}
  // NOLINTNEXTLINE(google-explicit-constructor): likewise
  RpcOutcome(RpcError failure) : error(std::move(failure)) {}

  std::string body;
  std::optional<RpcError> error{};
};

}  // namespace gangrun::hadoop
