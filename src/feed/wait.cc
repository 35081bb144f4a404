#include "feed/wait.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <ctime>

namespace gangrun::feed {

namespace {

// A limit of a year is as good as none, and can be added to any time.
constexpr base::Duration kLongest = std::chrono::hours(24 * 365);

}  // namespace

void wait_on(std::atomic<std::uint32_t>& word, std::uint32_t seen, base::Duration limit) {
  if (limit <= base::Duration::zero()) return;
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(limit);
  timespec relative{};
  relative.tv_sec = whole.count();
  relative.tv_nsec = (limit - whole).count();
  // Whatever ends it (a wake, a signal, the limit), the caller looks again.
  ::syscall(SYS_futex, &word, FUTEX_WAIT, seen, &relative, nullptr, 0);
}

void wake(std::atomic<std::uint32_t>& word) {
  word.fetch_add(1, std::memory_order_seq_cst);
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

Patience::Patience(base::Duration timeout, const Interrupted& interrupted)
    : deadline_(now() + std::min(timeout, kLongest)), interrupted_(interrupted) {}

base::Duration Patience::slice() const { return std::min(deadline_ - now(), kSlice); }

base::Result<> Patience::check_interrupted() const {
  if (interrupted_ && interrupted_()) {
    return base::Error{base::Code::kCancelled, "the wait was interrupted"};
  }
  return {};
}

}  // namespace gangrun::feed
