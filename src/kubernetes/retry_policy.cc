#include "kubernetes/retry_policy.h"

#include <algorithm>

#include "base/strings.h"
#include "kubernetes/refusal.h"

namespace gangrun::kubernetes {

namespace {

constexpr int kMaxDoublings = 10;

}  // namespace

base::Duration pause_after(int setbacks, double dice) {
  const int doublings = std::clamp(setbacks - 1, 0, kMaxDoublings);
  const base::Duration longest = std::min(kLongestPause, kShortestPause * (2 << doublings));
  const auto spread = static_cast<double>((longest - kShortestPause).count());
  return kShortestPause + base::Duration(static_cast<base::Duration::rep>(spread * dice));
}

std::optional<base::Duration> read_retry_after(const net::HttpResponse& response) {
  const auto field = response.headers.get("Retry-After");
  if (!field) return std::nullopt;
  const auto seconds = base::parse_integer(base::trim(*field));
  if (!seconds || *seconds < 0) return std::nullopt;
  return base::seconds(std::min<std::int64_t>(
      *seconds, std::chrono::duration_cast<base::seconds>(kLongestRetryAfter).count()));
}

bool may_help_to_repeat(const base::Error& error) {
  return error.code == base::Code::kUnavailable || error.code == base::Code::kDeadlineExceeded;
}

bool may_help_to_repeat(const Refusal& refusal) {
  switch (refusal.status) {
    case 429:
    case 500:
    case 502:
    case 503:
    case 504: return true;
    default: return is_quota_conflict(refusal);
  }
}

bool is_final(const base::Error& error, std::optional<base::Duration> well) {
  if (may_help_to_repeat(error) || error.code == base::Code::kResourceExhausted) return false;
  return !well || *well > kRefusalLimit;
}

}  // namespace gangrun::kubernetes
