#include "hadoop/rpc_error.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/format.h"
#include "base/letters.h"
#include "base/strings.h"
#include "base/terminal_text.h"
#include "hadoop/manager_pages.h"

namespace gangrun::hadoop {

namespace {

using base::Code;

constexpr std::size_t kMaxMessageBytes = 2000;
constexpr std::size_t kMaxShown = 1000;

// By how the simple name begins; the first that fits.
constexpr std::array<std::pair<std::string_view, Code>, 18> kCodes{{
    {"StandbyException", Code::kUnavailable},
    {"RetriableException", Code::kUnavailable},
    {"NMNotYetReadyException", Code::kUnavailable},
    {"ApplicationNotFoundException", Code::kNotFound},
    {"ApplicationAttemptNotFoundException", Code::kNotFound},
    {"ContainerNotFoundException", Code::kNotFound},
    {"ApplicationMasterNotRegisteredException", Code::kFailedPrecondition},
    {"InvalidApplicationMasterRequestException", Code::kFailedPrecondition},
    {"InvalidResource", Code::kInvalidArgument},
    {"InvalidLabelResourceRequestException", Code::kInvalidArgument},
    {"InvalidContainerReleaseException", Code::kInvalidArgument},
    {"InvalidContainerRequestException", Code::kInvalidArgument},
    {"IllegalArgumentException", Code::kInvalidArgument},
    {"AccessControlException", Code::kPermissionDenied},
    {"AuthorizationException", Code::kPermissionDenied},
    {"InvalidToken", Code::kUnauthenticated},
    {"SaslException", Code::kUnauthenticated},
    {"BadTokenException", Code::kUnauthenticated},
}};

Code code_of(std::string_view simple_name, Code otherwise) {
  const auto* const found = std::ranges::find_if(
      kCodes, [simple_name](const auto& entry) { return simple_name.starts_with(entry.first); });
  return found == kCodes.end() ? otherwise : found->second;
}

bool is_class_name(std::string_view text) {
  const auto fits = [](char character) {
    return base::is_letter_or_digit(character) || character == '.' || character == '$' ||
           character == '_';
  };
  return text.find('.') != std::string_view::npos && std::ranges::all_of(text, fits);
}

}  // namespace

std::string_view simple_class_name(std::string_view exception_class) {
  return exception_class.substr(exception_class.find_last_of(".$") + 1);
}

RpcError remote_error(RpcError::Kind kind, std::string_view exception_class,
                      std::string_view text) {
  // The stack trace follows the message, which may have several lines.
  std::string message(base::trim(text.substr(0, std::min(text.find("\n\tat "), text.size()))));
  std::ranges::replace(message, '\n', ' ');
  std::string_view line = message;
  std::string_view name = base::trim(exception_class);
  while (true) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string_view::npos || !is_class_name(line.substr(0, colon))) break;
    name = line.substr(0, colon);
    line = base::trim(line.substr(colon + 2));
  }
  return RpcError{.kind = kind,
                  .exception_class = base::shorten(name, kMaxMessageBytes),
                  .message = base::shorten(line, kMaxMessageBytes)};
}

bool may_be_tried_again(const RpcError& error) {
  if (error.kind == RpcError::Kind::kUnreachable || error.kind == RpcError::Kind::kTimedOut) {
    return true;
  }
  return code_of(simple_class_name(error.exception_class), Code::kInternal) == Code::kUnavailable;
}

base::Error to_error(const RpcError& error, std::string_view server) {
  const std::string_view name = simple_class_name(error.exception_class);
  // The words of a server are its own; those about a connection are ours.
  const bool is_theirs =
      error.kind == RpcError::Kind::kAuthentication || error.kind == RpcError::Kind::kRemote;
  const auto sentence = [&](std::string_view what) {
    const std::string_view message = error.message.empty() ? name : error.message;
    if (message.empty()) return base::format("{} {}", server, what);
    return base::format("{} {}: {}", server, what,
                        is_theirs ? base::their_words(message, kMaxShown) : std::string(message));
  };
  switch (error.kind) {
    case RpcError::Kind::kUnreachable:
      return base::Error{Code::kUnavailable, sentence("cannot be reached")};
    case RpcError::Kind::kTimedOut:
      return base::Error{Code::kDeadlineExceeded, sentence("does not answer")};
    case RpcError::Kind::kGarbled:
      return base::Error{Code::kDataLoss, sentence("does not speak Hadoop's RPC as expected")};
    case RpcError::Kind::kAuthentication: {
      // AccessControlException means here that this way of logging in is not allowed.
      const Code code =
          name == "AuthorizationException" ? Code::kPermissionDenied : Code::kUnauthenticated;
      return base::Error{code, sentence("does not let us in")};
    }
    case RpcError::Kind::kRemote: break;
  }
  if (name.starts_with("RpcNoSuch") || name == "RPC.VersionMismatch") {
    return base::Error{Code::kFailedPrecondition,
                       sentence(base::format("does not offer what is asked (Hadoop {}.{} or newer "
                                             "is expected)",
                                             kOldestMajor, kOldestMinor))};
  }
  return base::Error{code_of(name, Code::kFailedPrecondition), sentence("refuses")};
}

}  // namespace gangrun::hadoop
