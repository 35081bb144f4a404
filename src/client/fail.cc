#include "client/fail.h"

namespace gangrun::client {

namespace {

// A user looks for what was typed: "-n: '-1' is not allowed", and not "--tail: …".
std::string with_typed_flag(const Context& context, const std::string& message) {
  const std::size_t end = message.find(':');
  if (end == std::string::npos) return message;
  const auto typed = context.typed_flags.find(message.substr(0, end));
  return typed == context.typed_flags.end() ? message : typed->second + message.substr(end);
}

}  // namespace

ExitStatus fail(Context& context, const base::Error& error) {
  return fail(context, error, exit_status_of(error));
}

ExitStatus fail(Context& context, const base::Error& error, ExitStatus status) {
  context.console.error(with_typed_flag(context, error.message));
  return status;
}

}  // namespace gangrun::client
