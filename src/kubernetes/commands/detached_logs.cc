#include "kubernetes/commands/detached_logs.h"

#include <utility>

namespace gangrun::kubernetes::commands {

namespace {

using base::Result;

// So many lines are given at once, and so long it may take until they are there.
constexpr std::size_t kMaxLines = 10'000;
constexpr std::chrono::seconds kReadingLimit(60);

}  // namespace

DetachedLogs::DetachedLogs(std::unique_ptr<PodsWay> way, const cluster::LogRequest& request)
    : way_(std::move(way)),
      since_(request.since),
      streams_(
          way_->loop, *way_->client, *way_->manifests,
          {[this](const job::TaskId& task, const std::string&, std::optional<base::WallTime> time,
                  std::string_view text) { on_line(task, time, text); },
           [this](const job::TaskId& task, const std::string&, const Result<>& ended) {
             on_ended(task, ended);
           }}) {
  if (since_) streams_.begin_at(*since_);
  if (request.tail) tail_ = static_cast<std::size_t>(*request.tail);
  for (const job::TaskId& task : way_->manifests->input().spec.task_ids()) {
    if (request.output && (!request.task || task == *request.task)) tasks_.push_back(task);
  }
}

void DetachedLogs::on_line(const job::TaskId& task, std::optional<base::WallTime> time,
                           std::string_view text) {
  if (since_ && time && *time < *since_) return;
  cluster::LogLine line{task, false, std::string(text), cluster::LineEnd::kNewline, time};
  if (!tail_) return lines_.push_back(std::move(line));
  std::deque<cluster::LogLine>& last = tails_[task];
  last.push_back(std::move(line));
  if (last.size() > *tail_) last.pop_front();
}

void DetachedLogs::on_ended(const job::TaskId& task, const Result<>& ended) {
  open_.erase(task);
  if (ended.ok()) return;
  // One that has not started has no lines yet; one that is gone has none any more.
  const base::Code code = ended.error().code;
  if (code != base::Code::kFailedPrecondition && code != base::Code::kNotFound) {
    trouble_ = ended.error();
  }
}

void DetachedLogs::read_all(bool follow) {
  for (const job::TaskId& task : tasks_) {
    if (open_.insert(task).second || !follow) streams_.read(task, "", follow);
  }
}

void DetachedLogs::give_tail() {
  tail_.reset();
  for (auto& [task, last] : std::exchange(tails_, {})) {
    for (cluster::LogLine& line : last) lines_.push_back(std::move(line));
  }
}

// Reads on in what is there now.
Result<> DetachedLogs::go_through() {
  const auto has_news = [this] { return open_.empty() || lines_.size() >= kMaxLines; };
  (void)way_->loop.run_until(has_news, way_->loop.now() + kReadingLimit);
  if (trouble_) return *std::exchange(trouble_, std::nullopt);
  if (!open_.empty()) {
    if (!lines_.empty()) return {};
    return base::deadline_exceeded("the API server does not send the logs in time");
  }
  stage_ = Stage::kThrough;
  give_tail();
  return {};
}

Result<std::vector<cluster::LogLine>> DetachedLogs::next(base::Instant deadline) {
  const bool waits = deadline > way_->loop.now();
  if (stage_ == Stage::kNew || (stage_ == Stage::kFollowing && !waits)) {
    stage_ = Stage::kGoingThrough;
    read_all(false);
  }
  if (stage_ == Stage::kGoingThrough) GANGRUN_TRY(go_through());
  if (lines_.empty() && waits) {
    stage_ = Stage::kFollowing;
    read_all(true);
    (void)way_->loop.run_until([this] { return !lines_.empty(); }, deadline);
    // The next call takes up what breaks off.
    trouble_.reset();
  }
  return std::exchange(lines_, {});
}

}  // namespace gangrun::kubernetes::commands
