#pragma once

#include <cstddef>

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

}  // namespace gangrun::kubernetes
