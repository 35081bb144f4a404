#include "hadoop/token_schedule.h"

#include <algorithm>

#include "base/format.h"

namespace gangrun::hadoop {

namespace {

constexpr int kTriesLeft = 8;  // at least so many before the end, while the pauses shrink with it

}  // namespace

base::WallTime replacement_time(const TokenLife& life) {
  return life.issued +
         std::max<base::WallTime::duration>((life.ends - life.issued) / 4 * 3, kShortestPause);
}

base::WallTime retry_time(const TokenLife& life, base::WallTime now) {
  const base::WallTime::duration left = life.ends - now;
  if (left <= base::WallTime::duration::zero()) return now + kLongestPause;
  return now +
         std::clamp<base::WallTime::duration>(left / kTriesLeft, kShortestPause, kLongestPause);
}

TokenSchedule::TokenSchedule(TokenLife life, bool can_replace)
    : life_(life),
      can_replace_(can_replace),
      next_(can_replace ? replacement_time(life) : life.ends) {}

void TokenSchedule::on_replaced(const TokenLife& life) {
  life_ = life;
  next_ = replacement_time(life);
}

void TokenSchedule::on_failed(base::WallTime now) { next_ = retry_time(life_, now); }

void TokenSchedule::on_told() { next_.reset(); }

std::string TokenSchedule::sentence() const {
  const auto age = std::chrono::duration_cast<base::Duration>(life_.ends - life_.issued);
  if (can_replace_) {
    return base::format("the job's Hadoop tokens have ended at {}, and no others could be got",
                        base::to_iso8601(life_.ends));
  }
  return base::format(
      "the job's Hadoop tokens have ended at {}, {} after it was submitted: a job that runs longer "
      "needs --principal and --keytab",
      base::to_iso8601(life_.ends), base::to_words(age));
}

}  // namespace gangrun::hadoop
