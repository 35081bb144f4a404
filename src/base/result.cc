#include "base/result.h"

#include <cerrno>
#include <cstring>

#include "base/format.h"

namespace gangrun::base {

std::string_view to_string(Code code) {
  switch (code) {
    case Code::kInvalidArgument: return "invalid_argument";
    case Code::kNotFound: return "not_found";
    case Code::kAlreadyExists: return "already_exists";
    case Code::kPermissionDenied: return "permission_denied";
    case Code::kUnauthenticated: return "unauthenticated";
    case Code::kUnavailable: return "unavailable";
    case Code::kDeadlineExceeded: return "deadline_exceeded";
    case Code::kResourceExhausted: return "resource_exhausted";
    case Code::kFailedPrecondition: return "failed_precondition";
    case Code::kCancelled: return "cancelled";
    case Code::kDataLoss: return "data_loss";
    case Code::kInternal: return "internal";
  }
  return "internal";
}

Error Error::context(std::string_view attempted) const {
  return Error{code, format("{}: {}", attempted, message)};
}

Error invalid_argument(std::string message) { return {Code::kInvalidArgument, std::move(message)}; }
Error not_found(std::string message) { return {Code::kNotFound, std::move(message)}; }
Error unavailable(std::string message) { return {Code::kUnavailable, std::move(message)}; }
Error deadline_exceeded(std::string message) {
  return {Code::kDeadlineExceeded, std::move(message)};
}
Error internal(std::string message) { return {Code::kInternal, std::move(message)}; }

namespace {

Code code_of_errno(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ESRCH: return Code::kNotFound;
    case EEXIST: return Code::kAlreadyExists;
    case EACCES:
    case EPERM:
    case EROFS: return Code::kPermissionDenied;
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
    case ENOMEM: return Code::kResourceExhausted;
    case ECONNREFUSED:
    case ECONNRESET:
    case EPIPE:
    case EAGAIN:
    case EHOSTUNREACH:
    case ENETUNREACH: return Code::kUnavailable;
    case ETIMEDOUT: return Code::kDeadlineExceeded;
    case EINVAL:
    case ENAMETOOLONG:
    case ENOTDIR:
    case EISDIR: return Code::kInvalidArgument;
    case ECANCELED: return Code::kCancelled;
    default: return Code::kInternal;
  }
}

}  // namespace

Error from_errno(int error_number, std::string_view what) {
  const char* text = ::strerrordesc_np(error_number);  // strerror() is not for threads
  return {code_of_errno(error_number),
          format("{}: {}", what, text != nullptr ? text : format("error {}", error_number))};
}

}  // namespace gangrun::base
