#include "cli/history.h"

#include <algorithm>

#include "base/format.h"
#include "base/letters.h"
#include "client/render.h"
#include "client/text.h"
#include "job/units.h"

namespace gangrun::cli {

namespace {

constexpr std::string_view kMomentForm = "dddd-dd-ddTdd:dd:dd";
constexpr std::size_t kDayLength = sizeof("2026-01-31") - 1;
constexpr std::size_t kMinuteLength = sizeof("2026-01-31T12:00") - 1;

// Whether `text` is a day, or a moment of one, as to_iso8601() would begin it.
bool is_moment(std::string_view text) {
  if (text.size() != kDayLength && text.size() != kMinuteLength &&
      text.size() != kMomentForm.size()) {
    return false;
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit = base::is_digit(text[i]);
    if (kMomentForm[i] == 'd' ? !digit : text[i] != kMomentForm[i]) return false;
  }
  return true;
}

std::vector<client::Span> row_of(const job::JobStatus& status) {
  const std::string cause = status.cause && status.state != job::JobState::kSucceeded
                                ? client::harmless(job::to_words(*status.cause))
                                : std::string();
  return {{client::harmless(status.id)},
          {client::state_words(status.state), client::paint_of(status.state)},
          // A cluster's list of its ended jobs does not say.
          {status.tasks.empty() ? "-" : std::to_string(status.tasks.size())},
          {client::harmless(status.submitted).substr(0, sizeof("2026-01-31T12:00:00") - 1)},
          {base::to_words(std::chrono::milliseconds(status.elapsed_ms))},
          {cause}};
}

}  // namespace

base::Result<HistoryFilter> history_filter(const std::optional<std::string>& since,
                                           const std::optional<std::string>& state,
                                           base::WallTime now) {
  HistoryFilter filter;
  if (since && is_moment(*since)) {
    filter.since = *since;
  } else if (since) {
    const auto ago = job::parse_duration(*since);
    if (!ago.ok()) {
      return base::invalid_argument(
          base::format("--since: {} is neither a duration before now (90 min, 2d) nor a date or "
                       "time in UTC (2026-01-31, 2026-01-31T12:00)",
                       job::in_quotes(*since)));
    }
    filter.since = base::to_iso8601(now - *ago);
  }
  if (state) {
    const auto known = job::choice_from<job::JobState>(*state);
    if (!known.ok() || !job::is_final(*known)) {
      return base::invalid_argument(
          base::format("--state: {} is not a final state; allowed: succeeded, failed, killed, lost",
                       job::in_quotes(*state)));
    }
    filter.state = *known;
  }
  return filter;
}

std::vector<job::JobStatus> history_of(std::vector<job::JobStatus> jobs,
                                       const HistoryFilter& filter) {
  std::erase_if(jobs, [&](const job::JobStatus& status) {
    return !job::is_final(status.state) || status.submitted < filter.since ||
           (filter.state && status.state != *filter.state);
  });
  return jobs;
}

client::Lines job_table(const std::vector<job::JobStatus>& jobs, std::size_t width) {
  std::vector<std::vector<client::Span>> rows;
  rows.reserve(jobs.size());
  for (const job::JobStatus& status : jobs) rows.push_back(row_of(status));
  return client::table(
      {{"JOB"}, {"STATE"}, {"TASKS", true}, {"SUBMITTED (UTC)"}, {"TIME", true}, {"CAUSE"}}, rows,
      width);
}

}  // namespace gangrun::cli
