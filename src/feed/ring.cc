#include "feed/ring.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/format.h"

namespace gangrun::feed {

namespace {

constexpr std::uint32_t kRingMark = 0x47524631;
// While the reader keeps up, only so much of the ring is used, which stays in the processor's
// cache.
constexpr std::uint64_t kWarm = 4 << 20;

base::Error impossible(std::string message) {
  return base::Error{base::Code::kDataLoss, std::move(message)};
}

}  // namespace

RingWriter::RingWriter(std::shared_ptr<RingMemory> memory, std::uint64_t head, std::uint64_t tail)
    : memory_(std::move(memory)), head_(head), tail_(tail) {}

std::size_t RingWriter::largest_piece() const {
  return memory_->capacity() / 4 / kAlignment * kAlignment - kAlignment;
}

std::uint64_t RingWriter::room_for(std::size_t size) {
  return kAlignment + (std::uint64_t{size} + kAlignment - 1) / kAlignment * kAlignment;
}

base::Result<> RingWriter::look_at_tail() {
  const std::uint64_t tail = memory_->header().tail.load(std::memory_order_seq_cst);
  if (tail < tail_ || tail > head_) {
    return impossible(
        base::format("the reader says that it has read up to {}, of {} to {}", tail, tail_, head_));
  }
  tail_ = tail;
  return {};
}

base::Result<> RingWriter::go_to_start() {
  GANGRUN_TRY(memory_->populate(head_, kAlignment));
  const std::uint64_t rest = memory_->capacity() - head_ % memory_->capacity();
  const PieceHead head{.mark = kRingMark, .kind = 0, .flags = kSkip, .size = rest - kAlignment};
  std::memcpy(memory_->at(head_), &head, sizeof head);
  head_ += rest;
  memory_->header().head.store(head_, std::memory_order_seq_cst);
  return {};
}

base::Result<char*> RingWriter::reserve(std::size_t size) {
  const std::uint64_t wanted = room_for(size);
  const std::uint64_t capacity = memory_->capacity();
  if (head_ + wanted - tail_ > capacity || head_ % capacity > kWarm) {
    GANGRUN_TRY(look_at_tail());
    const std::uint64_t rest = capacity - head_ % capacity;
    if (tail_ == head_ && head_ % capacity > kWarm && rest + wanted <= capacity) {
      GANGRUN_TRY(go_to_start());
    }
  }
  if (head_ + wanted - tail_ > capacity) return nullptr;
  GANGRUN_TRY(memory_->populate(head_, wanted));
  return memory_->at(head_) + kAlignment;
}

void RingWriter::commit(std::uint16_t kind, std::uint16_t flags, std::size_t size) {
  const PieceHead head{.mark = kRingMark, .kind = kind, .flags = flags, .size = size};
  std::memcpy(memory_->at(head_), &head, sizeof head);
  head_ += room_for(size);
  memory_->header().head.store(head_, std::memory_order_seq_cst);
}

RingReader::RingReader(std::shared_ptr<RingMemory> memory, std::uint64_t position)
    : memory_(std::move(memory)), position_(position), seen_head_(position) {}

base::Result<std::uint64_t> RingReader::head(std::uint64_t tail) {
  const std::uint64_t head = memory_->header().head.load(std::memory_order_seq_cst);
  if (head < seen_head_ || head - tail > memory_->capacity() || head % kAlignment != 0) {
    return impossible(base::format("the writer says that it has written up to {}, of {} to {}",
                                   head, seen_head_, tail + memory_->capacity()));
  }
  seen_head_ = head;
  return head;
}

base::Result<std::optional<Piece>> RingReader::next(std::uint64_t tail, std::uint64_t limit) {
  // The bytes after the limit are not read: they may be anything.
  if (position_ >= limit) return std::optional<Piece>();
  if (position_ >= seen_head_) {
    GANGRUN_TRY(head(tail));
    // Whatever the index says by then, it is not what the next writer has written.
    seen_head_ = std::min(seen_head_, limit);
  }
  const std::uint64_t end = std::min(seen_head_, limit);
  if (position_ >= end) return std::optional<Piece>();
  GANGRUN_TRY(memory_->populate(position_, kAlignment));
  PieceHead read{};
  std::memcpy(&read, memory_->at(position_), sizeof read);
  const std::uint64_t there = end - position_;
  if (read.mark != kRingMark || read.size > there ||
      RingWriter::room_for(static_cast<std::size_t>(read.size)) > there) {
    return impossible(base::format("no frame at {}: mark {:x}, {} bytes of {}", position_,
                                   read.mark, read.size, there));
  }
  Piece piece{.kind = read.kind,
              .flags = read.flags,
              .data = memory_->at(position_) + kAlignment,
              .size = static_cast<std::size_t>(read.size),
              .begin = position_};
  position_ += RingWriter::room_for(piece.size);
  piece.end = position_;
  if ((piece.flags & kSkip) == 0) {
    GANGRUN_TRY(memory_->populate(piece.begin, piece.end - piece.begin));
  }
  return std::optional<Piece>(piece);
}

void RingReader::go_to(std::uint64_t position) { position_ = seen_head_ = position; }

}  // namespace gangrun::feed
