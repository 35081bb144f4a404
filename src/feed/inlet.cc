#include "feed/inlet.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/format.h"

namespace gangrun::feed {

namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

}  // namespace

base::Result<std::unique_ptr<Inlet>> Inlet::make(std::size_t capacity) {
  GANGRUN_ASSIGN(auto memory, RingMemory::create(capacity, RingMemory::Access::kRead));
  auto waker = std::make_shared<Waker>();
  RingHeader& header = memory->header();
  // The ring outlives the call, the waker what it captures.
  auto frames = LentRing::make(memory, 0,
                               [waker, &header](std::uint64_t free) { waker->look(header, free); });
  return std::make_unique<Inlet>(Key{}, std::move(frames), std::move(waker));
}

Inlet::Inlet(Key /*key*/, std::shared_ptr<LentRing> frames, std::shared_ptr<Waker> waker)
    : frames_(std::move(frames)), waker_(std::move(waker)) {}

Inlet::Turn Inlet::begin_turn(std::shared_ptr<Line> line) {
  const std::lock_guard lock(mutex_);
  turns_.push_back({.number = ++number_});
  frames_->header().head.store(end_);
  frames_->header().feeder_wants.store(0);
  waker_->set(std::move(line));
  return {.number = number_, .head = end_, .tail = frames_->places().tail};
}

void Inlet::end_turn(std::uint64_t number, std::optional<std::string> broken) {
  {
    const std::lock_guard lock(mutex_);
    if (number == number_) waker_->set(nullptr);
    if (turns_.empty() || turns_.back().number != number || turns_.back().end.has_value()) return;
    const auto head = frames_->head();
    Written& turn = turns_.back();
    turn.broken = head.ok() ? std::move(broken) : std::optional(head.error().message);
    // It began at the end of the one before, or at `end_` as that still is.
    if (head.ok() && *head < end_) turn.broken = "the feeder's index went back";
    end_ = std::max(end_, head.ok() ? *head : frames_->places().seen_head);
    turn.end = end_;
  }
  wake(frames_->header().bell);
}

base::Result<std::optional<Frame>> Inlet::read(base::Duration timeout,
                                               const Interrupted& interrupted) {
  const Patience patience(timeout, interrupted);
  RingHeader& header = frames_->header();
  while (true) {
    touch();
    const std::uint32_t seen = header.bell.load(std::memory_order_seq_cst);
    if (closed_) {
      return base::Error{base::Code::kFailedPrecondition, "the feed has been closed"};
    }
    auto found = next();
    if (!found.ok()) return found;
    if (found->has_value()) {
      last_turn_ = (*found)->turn;
      frames_read_.fetch_add(1, std::memory_order_relaxed);
      bytes_read_.fetch_add((*found)->data.size(), std::memory_order_relaxed);
      return found;
    }
    const base::Duration slice = patience.slice();
    if (slice <= base::Duration::zero()) return std::optional<Frame>();
    GANGRUN_TRY(patience.check_interrupted());
    const base::Instant start = now();
    header.node_waits.store(1, std::memory_order_seq_cst);
    if (nothing_to_do()) wait_on(header.bell, seen, slice);
    header.node_waits.store(0, std::memory_order_seq_cst);
    waited_ns_.fetch_add((now() - start).count(), std::memory_order_relaxed);
  }
}

base::Result<std::optional<Frame>> Inlet::next() {
  const std::lock_guard lock(mutex_);
  while (!turns_.empty()) {
    Written& turn = turns_.front();
    auto frame = frames_->next(turn.end.value_or(kUnlimited));
    if (!frame.ok()) {
      if (frame.error().code != base::Code::kDataLoss) return std::move(frame).error();
      break_turn(turn, std::move(frame).error().message);
      continue;
    }
    if (frame->has_value()) {
      (*frame)->turn = turn.number;
      return frame;
    }
    if (!turn.end.has_value() || frames_->places().position < *turn.end) break;
    frames_->drop_pieces();
    const Written done = std::move(turn);
    turns_.pop_front();
    if (!done.broken.has_value()) continue;
    const auto why = std::make_shared<const std::string>(*done.broken);
    return std::optional(Frame{.kind = kBroken, .turn = done.number, .data = *why, .hold = why});
  }
  return std::optional<Frame>();
}

// The rest of a turn cannot be read on. Where it is over its end is known, and the next one's
// frames start there; else its feeder is sent away.
void Inlet::break_turn(Written& turn, std::string why) {
  turn.broken = base::format("the feeder broke the feed's rules: {}", why);
  if (!turn.end.has_value()) {
    turn.end = end_ = frames_->places().position;
    waker_->drop();
  }
  frames_->go_to(*turn.end);
}

bool Inlet::nothing_to_do() {
  const std::lock_guard lock(mutex_);
  if (closed_) return false;
  if (turns_.empty()) return true;
  const Written& turn = turns_.front();
  return !turn.end.has_value() && frames_->idle(kUnlimited);
}

void Inlet::close() {
  closed_ = true;
  wake(frames_->header().bell);
}

Inlet::Figures Inlet::figures() {
  const LentRing::Places places = frames_->places();
  const std::uint64_t there = frames_->header().head.load(std::memory_order_seq_cst);
  // The feeder's words about itself are shown, not believed.
  const std::uint64_t waited = frames_->header().feeder_waited_ns.load(std::memory_order_relaxed);
  return {.frames = frames_read_,
          .bytes = bytes_read_,
          .queued_bytes =
              std::min(std::max(places.seen_head, there) - places.position, frames_->capacity()),
          .node_waited = base::Duration(waited_ns_),
          .feeder_waited = base::Duration(static_cast<std::int64_t>(waited & kUnlimited >> 1))};
}

}  // namespace gangrun::feed
