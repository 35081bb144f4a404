#include "feed/outlet.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/format.h"
#include "feed/lent_ring.h"

namespace gangrun::feed {

void Outlet::begin_turn(std::uint64_t number, std::shared_ptr<Line> line) {
  const std::lock_guard lock(mutex_);
  turn_ = number;
  line_ = std::move(line);
  passed_ = false;
  if (!writer_.has_value()) return;
  // Results that the feeder before has left unread are nobody's.
  const auto memory = writer_->shared_memory();
  const std::uint64_t head = writer_->head();
  memory->header().head.store(head);
  memory->header().tail.store(head);
  memory->header().feeder_wants.store(0);
  writer_.emplace(memory, head, head);
}

void Outlet::end_turn(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  if (turn_ != number) return;
  line_ = nullptr;
  if (writer_.has_value()) wake(writer_->memory().header().bell);
}

void Outlet::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  if (writer_.has_value()) wake(writer_->memory().header().bell);
}

base::Result<> Outlet::of_turn(std::uint64_t turn) const {
  if (closed_) return base::Error{base::Code::kFailedPrecondition, "the feed has been closed"};
  if (turn == turn_ && line_ != nullptr) return {};
  return base::unavailable(
      base::format("the feeder of turn {}, to which these results go, has gone", turn));
}

base::Result<> Outlet::prepare(std::uint64_t turn) {
  const std::lock_guard lock(mutex_);
  GANGRUN_TRY(of_turn(turn));
  if (!writer_.has_value()) {
    GANGRUN_ASSIGN(auto memory, RingMemory::create(capacity_, RingMemory::Access::kWrite));
    writer_.emplace(std::move(memory), 0, 0);
  }
  if (passed_) return {};
  GANGRUN_ASSIGN(const bool sent, line_->send({.type = MessageType::kOutput, .b = writer_->head()},
                                              writer_->memory().fd()));
  if (!sent) return base::unavailable("the feeder reads nothing that it is sent");
  passed_ = true;
  return {};
}

base::Result<> Outlet::write(std::uint16_t kind, std::string_view data, std::uint64_t turn,
                             base::Duration timeout, const Interrupted& interrupted) {
  GANGRUN_TRY(check_frame_size(data.size()));
  GANGRUN_TRY(prepare(turn));
  const Patience patience(timeout, interrupted);
  std::uint16_t flags = kFirstPiece;
  do {
    const std::size_t size = std::min(data.size(), writer_->largest_piece());
    if (size == data.size()) flags |= kLastPiece;
    auto written = write_piece(kind, flags, data.substr(0, size), turn, patience);
    if (!written.ok()) {
      const std::lock_guard lock(mutex_);
      if ((flags & kFirstPiece) == 0 && turn == turn_ && line_ != nullptr) line_->drop();
      return written;
    }
    data.remove_prefix(size);
    flags &= static_cast<std::uint16_t>(~kFirstPiece);
  } while (!data.empty());
  return {};
}

base::Result<> Outlet::write_piece(std::uint16_t kind, std::uint16_t flags, std::string_view piece,
                                   std::uint64_t turn, const Patience& patience) {
  RingHeader& header = writer_->memory().header();
  while (true) {
    const std::uint32_t seen = header.bell.load(std::memory_order_seq_cst);
    header.node_waits.store(1, std::memory_order_seq_cst);
    const auto written = try_piece(kind, flags, piece, turn);
    if (!written.ok() || *written) {
      header.node_waits.store(0, std::memory_order_seq_cst);
      return written.ok() ? base::Result<>() : written.error();
    }
    const base::Duration slice = patience.slice();
    if (slice <= base::Duration::zero()) {
      return base::deadline_exceeded("the feeder did not read its results in that time");
    }
    GANGRUN_TRY(patience.check_interrupted());
    wait_on(header.bell, seen, slice);
  }
}

base::Result<bool> Outlet::try_piece(std::uint16_t kind, std::uint16_t flags,
                                     std::string_view piece, std::uint64_t turn) {
  const std::lock_guard lock(mutex_);
  GANGRUN_TRY(of_turn(turn));
  auto room = writer_->reserve(piece.size());
  if (!room.ok()) {
    if (room.error().code == base::Code::kDataLoss) line_->drop();
    return std::move(room).error();
  }
  if (*room == nullptr) return false;
  if (!piece.empty()) std::memcpy(*room, piece.data(), piece.size());
  writer_->commit(kind, flags, piece.size());
  if (writer_->memory().header().feeder_wants.exchange(0, std::memory_order_seq_cst) != 0) {
    static_cast<void>(line_->send({.type = MessageType::kWake}));
  }
  return true;
}

}  // namespace gangrun::feed
