#include "kubernetes/node/head_summary.h"

#include <algorithm>

namespace gangrun::kubernetes::node {

records::HeadSummary summary_of(const job::JobSpec& spec, const job::JobStatus& status,
                                const std::string& user, std::optional<base::WallTime> kept_until) {
  records::HeadSummary summary{.name = status.name,
                               .user = user,
                               .state = std::string(job::to_string(status.state)),
                               .submitted = status.submitted,
                               .ended = status.ended,
                               .tasks = static_cast<int>(spec.task_ids().size())};
  const auto submitted = base::parse_iso8601(status.submitted);
  if (submitted.ok() && status.all_started_ms >= 0) {
    summary.started =
        base::to_iso8601(*submitted + std::chrono::milliseconds(status.all_started_ms));
  }
  if (status.cause) summary.reason = std::string(job::to_string(status.cause->why.reason));
  if (kept_until) summary.kept_until = base::to_iso8601(*kept_until);
  return summary;
}

void SummaryPace::changed() {
  if (timer_.pending()) return;
  const base::Instant now = loop_.now();
  // By the loop: who tells of a change may be in the midst of it.
  timer_ = loop_.at(told_at_ ? std::max(now, *told_at_ + pause_) : now, [this] {
    told_at_ = loop_.now();
    tell_();
  });
}

}  // namespace gangrun::kubernetes::node
