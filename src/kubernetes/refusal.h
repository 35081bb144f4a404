#pragma once

#include <cstddef>
#include <optional>

#include "base/clock.h"
#include "base/pause.h"
#include "base/result.h"
#include "kubernetes/client.h"
#include "net/http.h"

namespace gangrun::kubernetes {

// Longer answers that tell of a failure are not read.
inline constexpr std::size_t kMaxStatusBytes = std::size_t{1024} * 1024;

// The refusal in an answer of 400 and above. One that is no Status object (of a proxy before the
// server) has no reason, and the beginning of its body as its message.
Refusal read_refusal(const net::HttpResponse& response);

// The same from a Status object; its code stands for HTTP's status. None where it is something
// else.
std::optional<Refusal> read_status(const base::Json& object);

// Its meaning to us, in one line. The message of a right that is missing begins with who has no
// right to do what, where.
base::Error error_of(const Refusal& refusal);

// Whether the server could not count something against a quota, because others changed it just
// then: nothing was done, and the same request may succeed.
bool is_quota_conflict(const Refusal& refusal);

// The requests that are sent again, and when; no clock, no dice. A request may always be repeated:
// GET, PUT, PATCH and DELETE say what is to be, and a POST that had arrived is answered with
// AlreadyExists.
inline constexpr base::Duration kShortestPause = base::milliseconds(100);
inline constexpr base::Duration kLongestPause = base::seconds(10);
// A longer one that a server asks for is cut.
inline constexpr base::Duration kLongestRetryAfter = base::seconds(60);
// How long a server that has served us may refuse us before we believe it: while it starts it does
// not know everybody's rights yet.
inline constexpr base::Duration kRefusalLimit = base::seconds(30);

// The random pauses after attempts that fail in a row. The longest that each may be doubles.
class RetryPause {
 public:
  // `dice`: from 0 to 1.
  base::Duration next(double dice) { return base::between(kShortestPause, longest_.next(), dice); }
  // The attempts that fail from now on are another row.
  void reset() { longest_.reset(); }

 private:
  base::Pause longest_{2 * kShortestPause, kLongestPause};
};

// Retry-After in seconds.
std::optional<base::Duration> read_retry_after(const net::HttpResponse& response);

// Whether an attempt that got no answer is worth another.
bool may_help_to_repeat(const base::Error& error);
// The same for one that was refused.
bool may_help_to_repeat(const Refusal& refusal);

// Whether a watch gives up; `well`: how long ago it was last served, none if never.
bool is_final(const base::Error& error, std::optional<base::Duration> well);

}  // namespace gangrun::kubernetes
