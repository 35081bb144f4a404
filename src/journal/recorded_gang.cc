#include "journal/recorded_gang.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "base/overloaded.h"

namespace gangrun::journal {

namespace {

bool gives_out(const gang::Decision& decision) {
  return std::visit(
      base::Overloaded{
          [](const gang::Allocate&) { return true; }, [](const gang::Publish&) { return true; },
          [](const gang::Start&) { return true; }, [](const gang::Stop&) { return false; },
          [](const gang::End&) { return false; }, [](const gang::Kill&) { return false; },
          [](const gang::Warn&) { return false; }, [](const gang::Finish&) { return false; }},
      decision);
}

}  // namespace

RecordedGang::RecordedGang(gang::Gang gang, Writer& writer, bool can_be_followed)
    : gang_(std::move(gang)), writer_(writer), can_be_followed_(can_be_followed) {}

// The passing of time is no news: the gang's deadlines stand until it is handled.
void RecordedGang::add(gang::Event event, std::optional<PlaceRecord> place) {
  if (gang::is_time(event) && !events_.empty()) return;
  if (!events_.empty() && gang::is_time(events_.front().event)) events_.pop_front();
  const bool asks_for_end = gang::asks_for_end(event);
  Item item{std::move(event), std::move(place)};
  if (asks_for_end && waiting_) {
    end_requested_ = true;
    events_.push_front(std::move(item));
  } else {
    events_.push_back(std::move(item));
  }
}

std::optional<RecordedGang::Handled> RecordedGang::next(base::Instant now) {
  while (!events_.empty()) {
    Item& item = events_.front();
    if (!gang_.matters(item.event, now)) {
      events_.pop_front();
      continue;
    }
    if (!incomplete_ || !can_be_followed_) {
      if (!may_try(now) || waits_on(record(item, now), now)) return std::nullopt;
    }
    Handled handled{std::move(item.event), {}};
    events_.pop_front();
    handled.decisions = incomplete_ && can_be_followed_ ? handle_unrecorded(handled.event, now)
                                                        : gang_.step(handled.event, now);
    return handled;
  }
  // If it has finished, its verdict may wait.
  if (!gang_.finished()) waiting_.reset();
  return std::nullopt;
}

base::Result<> RecordedGang::record(Item& item, base::Instant now) {
  if (item.place) {
    GANGRUN_TRY(writer_.append(*item.place));
    item.place.reset();
  }
  return writer_.event(item.event, now);
}

bool RecordedGang::may_try(base::Instant now) const {
  return !waiting_ || end_requested_ || now >= waiting_->retry_at;
}

// Whether room is awaited. Where it is not, or not any more, there is a gap from here on.
bool RecordedGang::waits_on(const base::Result<>& written, base::Instant now) {
  const bool in_a_hurry = std::exchange(end_requested_, false);
  if (written.ok()) {
    waiting_.reset();
    trouble_.clear();
    return false;
  }
  trouble_ = written.error().message;
  if (!waiting_) waiting_ = Waiting{now + kRoomTimeout, now};
  waiting_->retry_at = now + kRoomRetry;
  if (can_be_followed_ && !in_a_hurry && now < waiting_->until) return true;
  waiting_.reset();
  incomplete_ = true;
  return false;
}

// An event that gives out something is not handled as it came, but after the job has failed.
std::vector<gang::Decision> RecordedGang::handle_unrecorded(const gang::Event& event,
                                                            base::Instant now) {
  gang::Gang before = gang_;
  std::vector<gang::Decision> decisions = gang_.step(event, now);
  if (std::none_of(decisions.begin(), decisions.end(), gives_out)) return decisions;
  gang_ = std::move(before);
  decisions = gang_.step(
      gang::ClusterGone{base::format("the journal can no longer be written: {}", trouble_)}, now);
  for (gang::Decision& decision : gang_.step(event, now)) decisions.push_back(std::move(decision));
  return decisions;
}

bool RecordedGang::verdict(const job::JobStatus& status, base::Instant now) {
  if (incomplete_) {
    // Readers are glad of it where there is room again; nobody goes on from here.
    (void)writer_.append(VerdictRecord{status});
    return true;
  }
  return may_try(now) && !waits_on(writer_.append(VerdictRecord{status}), now);
}

std::optional<base::Instant> RecordedGang::next_deadline() const {
  if (waiting_) return waiting_->retry_at;
  return gang_.next_deadline();
}

std::string RecordedGang::waiting_for(base::Instant now) const {
  if (!waiting_) return gang_.waiting_for(now);
  return base::format("room for the journal: {}; limit in {}", trouble_,
                      base::to_words(std::max(waiting_->until - now, base::Duration(0))));
}

}  // namespace gangrun::journal
