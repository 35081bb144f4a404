#include "agent/notice.h"

#include <unistd.h>

#include <csignal>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "job/spec_names.h"
#include "process/signal_catchers.h"

namespace gangrun::agent {

TaskNotice::TaskNotice(base::Logger& logger, std::string file, job::NoticeSignal signal)
    : logger_(logger), file_(std::move(file)), signal_(signal) {}

void TaskNotice::tell(std::optional<std::chrono::milliseconds> left, base::Instant now,
                      base::WallTime wall_now, const std::vector<pid_t>& processes) {
  const bool is_known = deadline_ && now <= *deadline_;
  base::Json json = {{"reason", "signal"}};
  if (left) {
    deadline_ = now + *left;
    const std::chrono::duration<double> since_epoch = (wall_now + *left).time_since_epoch();
    json = {{"reason", "preemption"}, {"deadline", since_epoch.count()}};
  }
  // A notice that says when is not replaced by one that does not.
  if (left || !is_known) {
    const auto written = base::write_file_atomically(file_, base::dump_json(json), 0600);
    if (!written.ok()) logger_.warning("the notice: {}", written.error().message);
  }
  const int number = job::number_of(signal_);
  if ((left && is_known) || number == 0) return;
  const std::vector<pid_t> catchers = process::signal_catchers(processes, number);
  for (const pid_t pid : catchers) (void)::kill(pid, number);
  logger_.info("may be ended {}; {} of its processes got SIG{}",
               left ? base::format("in {}", base::to_words(*left)) : "by its place",
               catchers.size(), job::to_string(signal_));
}

void TaskNotice::begin_run(base::Instant now) {
  if (!is_pending(now)) base::remove_if_there(file_);
}

bool TaskNotice::is_pending(base::Instant now) const {
  return deadline_ && now <= *deadline_ + kNoticeSlack;
}

}  // namespace gangrun::agent
