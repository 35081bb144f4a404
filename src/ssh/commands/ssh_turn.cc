#include "ssh/commands/ssh_turn.h"

#include <chrono>
#include <optional>
#include <utility>

#include "ssh/host_records.h"

namespace gangrun::ssh::commands {

namespace {

constexpr std::chrono::milliseconds kLookAgain(200);
// The other command has limits of its own.
constexpr std::chrono::hours kLongest(24);

}  // namespace

base::Result<base::UniqueFd> take_turn(net::EventLoop& loop, const std::string& hosts_file,
                                       const std::function<bool()>& is_cancelled,
                                       const client::Context& context) {
  auto lock = ssh::lock_host_records(hosts_file);
  if (lock.ok() && !*lock) {
    context.console.err(
        "gangrun: waits for another command that fetches or removes files of this job\n");
  }
  net::Timer again;
  const std::function<void()> look = [&] {
    lock = ssh::lock_host_records(hosts_file);
    if (lock.ok() && !*lock) again = loop.after(kLookAgain, look);
  };
  if (lock.ok() && !*lock) again = loop.after(kLookAgain, look);
  const bool is_over = loop.run_until(
      [&] { return !lock.ok() || lock->has_value() || is_cancelled(); }, loop.now() + kLongest);
  if (!lock.ok()) return lock.error();
  if (*lock) return std::move(**lock);
  return base::Error{base::Code::kCancelled,
                     is_over ? "stopped while another command fetched or removed files of this job"
                             : "another command fetches or removes files of this job for a day"};
}

}  // namespace gangrun::ssh::commands
