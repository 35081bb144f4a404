#include "cli/history.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "cli/moment.h"
#include "client/render.h"
#include "client/text.h"
#include "job/described.h"
#include "job/json_text.h"
#include "job/units.h"
#include "jobfile/table_words.h"

namespace gangrun::cli {

namespace {

constexpr std::size_t kMomentLength = sizeof("2026-01-31T12:00:00") - 1;
constexpr std::size_t kYearLength = sizeof("2026-") - 1;
constexpr std::size_t kMinuteLength = sizeof("2026-01-31T12:00") - 1;

// A column of so many cells lets a cause be recognised.
constexpr std::size_t kCauseRoom = 30;
// A message may be as long as a page, also where no terminal has a width. --json has it whole.
constexpr std::size_t kMaxCauseWidth = 200;
constexpr std::string_view kUnreadable = "unreadable";

std::string moment_of(const job::JobStatus& status) {
  return client::harmless_sentence(status.submitted).substr(0, kMomentLength);
}

// "01-31 12:00".
std::string short_moment(const std::string& moment) {
  if (moment.size() < kMinuteLength) return moment;
  std::string text = moment.substr(kYearLength, kMinuteLength - kYearLength);
  std::replace(text.begin(), text.end(), 'T', ' ');
  return text;
}

std::string short_sentence(const std::string& text) {
  return client::cut(client::harmless_sentence(text), kMaxCauseWidth);
}

std::vector<client::Span> row_of(const cluster::ListedJob& job) {
  const job::JobStatus& status = job.status;
  if (!job.unreadable.empty()) {
    return {{client::harmless_sentence(status.id)},
            {std::string(kUnreadable), client::Paint::kRed},
            {"-"},
            {moment_of(status)},
            {"-"},
            {short_sentence(job.unreadable)}};
  }
  const std::string cause = status.cause && status.state != job::JobState::kSucceeded
                                ? short_sentence(jobfile::table_words(*status.cause))
                                : std::string();
  const bool may_have_ended = status.state == job::JobState::kLost || !job.silence.empty();
  const std::string least_mark = may_have_ended ? "≥ " : "";
  return {{client::harmless_sentence(status.id)},
          {client::state_words(status.state), client::paint_of(status.state)},
          // A cluster's list of its ended jobs does not say.
          {status.tasks.empty() ? "-" : std::to_string(status.tasks.size())},
          {moment_of(status)},
          {least_mark + base::to_words(std::chrono::milliseconds(status.elapsed_ms))},
          job.silence.empty() ? client::Span{cause}
                              : client::Span{short_sentence(job.silence), client::Paint::kYellow}};
}

}  // namespace

base::Result<HistoryFilter> history_filter(const std::optional<std::string>& since,
                                           const std::optional<std::string>& state,
                                           base::WallTime now) {
  HistoryFilter filter;
  if (const auto moment = moment_from(since.value_or(""))) {
    filter.since = base::to_iso8601(*moment);
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

bool has_ended(const cluster::ListedJob& job) {
  return !job.unreadable.empty() || job::is_final(job.status.state);
}

std::vector<cluster::ListedJob> history_of(std::vector<cluster::ListedJob> jobs,
                                           const HistoryFilter& filter) {
  std::erase_if(jobs, [&](const cluster::ListedJob& job) {
    const bool has_state = job.unreadable.empty() && job.status.state == filter.state;
    return !has_ended(job) || job.status.submitted < filter.since || (filter.state && !has_state);
  });
  return jobs;
}

// On a narrow terminal what tells least gives room to the causes; most ids have the time in them.
client::Lines job_table(const std::vector<cluster::ListedJob>& jobs, std::size_t width) {
  std::vector<client::Column> columns = {
      {"JOB"}, {"STATE"}, {"TASKS", true}, {"SUBMITTED (UTC)"}, {"TIME", true}, {"CAUSE"}};
  constexpr std::ptrdiff_t kTasks = 2;
  constexpr std::ptrdiff_t kSubmitted = 3;
  std::vector<std::vector<client::Span>> rows;
  rows.reserve(jobs.size());
  for (const cluster::ListedJob& job : jobs) rows.push_back(row_of(job));
  const auto lacks_room = [&] {
    const auto [room, needed] = client::last_column(columns, rows, width);
    return width > 0 && room < std::min(needed, kCauseRoom);
  };
  const auto take_away = [&](std::ptrdiff_t column) {
    columns.erase(columns.begin() + column);
    for (auto& row : rows) row.erase(row.begin() + column);
  };
  if (lacks_room()) {
    columns[kSubmitted].title = "AT (UTC)";
    for (auto& row : rows) row[kSubmitted].text = short_moment(row[kSubmitted].text);
  }
  if (lacks_room()) take_away(kSubmitted);
  if (lacks_room()) take_away(kTasks);
  return client::table(columns, rows, width);
}

base::Json to_json(const std::vector<cluster::ListedJob>& jobs) {
  base::Json list = base::Json::array();
  for (const cluster::ListedJob& job : jobs) {
    base::Json json = base::to_json(job.status);
    if (!job.unreadable.empty()) {
      json["state"] = kUnreadable;
      json["error"] = job::json_text(job.unreadable);
    }
    list.push_back(std::move(json));
  }
  return list;
}

void show_jobs(const std::vector<cluster::ListedJob>& jobs, bool json, client::Context& context) {
  if (json) {
    context.console.out(base::dump_json(to_json(jobs)) + "\n");
    return;
  }
  const auto size = context.console.size();
  context.console.out(job_table(jobs, size ? size->columns : 0));
}

}  // namespace gangrun::cli
