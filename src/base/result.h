#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace gangrun::base {

// The kind of failure that an Error is. Callers choose between retry, failover and verdict by the
// code; people read the message.
enum class Code {
  kInvalidArgument,  // the caller asked for something that can never work
  kNotFound,
  kAlreadyExists,
  kPermissionDenied,    // known, but has no right
  kUnauthenticated,     // not known: secret or certificate is missing or wrong
  kUnavailable,         // the peer cannot be reached or is not ready; trying again may help
  kDeadlineExceeded,    // a wait reached its time limit
  kResourceExhausted,   // disk, memory, descriptors, or a named limit of ours
  kFailedPrecondition,  // not in this state
  kCancelled,
  kDataLoss,  // bytes that should be there are missing or damaged
  kInternal,  // our fault
};

// The code's name in snake_case, as in JSON: "invalid_argument".
std::string_view to_string(Code code);

struct Error {
  Code code = Code::kInternal;
  std::string message;

  // The same error with what was attempted put before it: "while reading job.yaml: no such file".
  [[nodiscard]] Error context(std::string_view attempted) const;
};

Error invalid_argument(std::string message);
Error not_found(std::string message);
Error unavailable(std::string message);
Error deadline_exceeded(std::string message);
Error internal(std::string message);

// An Error for a failed system call: `what` ("open /x") and errno's text; the code is derived from
// `error_number` (ENOENT is kNotFound, ENOSPC is kResourceExhausted, …).
Error from_errno(int error_number, std::string_view what);

// A value or an Error. A class and not an alias, so that dropping one is a compiler warning.
template <typename T = void>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using Base = tl::expected<T, Error>;
  using Base::Base;
  Result(Error error)  // NOLINT(google-explicit-constructor): `return not_found(…)` is the point
      : Base(tl::unexpected<Error>(std::move(error))) {}

  [[nodiscard]] bool ok() const { return this->has_value(); }

  // The same result; where it is an error, with what was attempted put before it.
  [[nodiscard]] Result context(std::string_view attempted) && {
    if (this->has_value()) return std::move(*this);
    return Result(this->error().context(attempted));
  }
};

}  // namespace gangrun::base

#define GANGRUN_CONCAT_INNER(a, b) a##b
#define GANGRUN_CONCAT(a, b) GANGRUN_CONCAT_INNER(a, b)

// Returns the error of `expression` (a Result) from the enclosing function, if it is one.
#define GANGRUN_TRY(expression)                                            \
  do {                                                                     \
    if (auto gangrun_result = (expression); !gangrun_result.has_value()) { \
      return std::move(gangrun_result).error();                            \
    }                                                                      \
  } while (false)

// GANGRUN_ASSIGN(auto x, f()): x is the value of f(), or the enclosing function returns f()'s
// error.
#define GANGRUN_ASSIGN(declaration, expression) \
  GANGRUN_ASSIGN_INNER(GANGRUN_CONCAT(gangrun_result_, __LINE__), declaration, expression)
#define GANGRUN_ASSIGN_INNER(result, declaration, expression)                  \
  auto result = (expression); /* NOLINT(bugprone-macro-parentheses): a name */ \
  if (!(result).has_value()) return std::move(result).error();                 \
  declaration = *std::move(result)  // NOLINT(bugprone-macro-parentheses): a declaration
