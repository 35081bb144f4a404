#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/clock.h"
#include "hadoop/delegation_token.h"

// When the tokens of a job are replaced that runs longer than they live. Pure.
namespace gangrun::hadoop {

// However short a life is, or a KDC is away: not more often than this.
inline constexpr base::seconds kShortestPause{1};
// While nothing helps, a try that does may not be far off.
inline constexpr std::chrono::minutes kLongestPause{10};

// When the next ones are to be got while these are good: after three quarters of their life, so
// that there is time for more than one try.
base::WallTime replacement_time(const TokenLife& life);

// When to try again after a failure at `now`: soon at first, as long as these are good; at the
// longest pause when they are not any more, since a server may have been away all the time.
base::WallTime retry_time(const TokenLife& life, base::WallTime now);

// The next thing that the master has to do about tokens, and when.
class TokenSchedule {
 public:
  // With `can_replace`, new ones can be got: the job has brought a keytab.
  TokenSchedule(TokenLife life, bool can_replace);

  // When something is to be done next; none: nothing any more.
  [[nodiscard]] const std::optional<base::WallTime>& next() const { return next_; }
  // Whether that is to get new ones; else it is to tell that these have ended.
  [[nodiscard]] bool replaces() const { return can_replace_; }
  [[nodiscard]] bool ended(base::WallTime now) const { return now >= life_.ends; }

  void on_replaced(const TokenLife& life);
  void on_failed(base::WallTime now);
  // The end was told: once is enough.
  void on_told();

  // For the user: that the job's tokens have ended, and what would have helped.
  [[nodiscard]] std::string sentence() const;

 private:
  TokenLife life_;
  const bool can_replace_;
  std::optional<base::WallTime> next_;
};

}  // namespace gangrun::hadoop
