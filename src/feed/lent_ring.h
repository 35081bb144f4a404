#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "feed/ring.h"
#include "feed/ring_memory.h"

namespace gangrun::feed {

// The kind of the frame that follows the frames of a feeder which has not said END: its bytes say
// why. No writer can send it.
inline constexpr std::uint16_t kBroken = 0;

// The largest frame; one that has more is refused by both ends.
inline constexpr std::uint64_t kMaxFrameBytes = std::uint64_t{4} << 30;

base::Result<> check_frame_size(std::uint64_t size);

// A frame that was read: its bytes stay where they are as long as `hold` lives, in the ring or
// beside it.
struct Frame {
  std::uint16_t kind = 0;
  std::uint64_t turn = 0;
  std::string_view data = {};
  std::shared_ptr<const void> hold = {};
};

// The reader's end of a ring whose frames are lent to a caller: the room of one is free again when
// its `hold` goes, in whatever order and thread that is. Frames that are kept for long do not hold
// up the ring: once more than half of it waits behind the oldest, what is lent is copied to memory
// of its own, at the addresses where it is.
//
// Made by make(), because frames may outlive whoever read them.
class LentRing : public std::enable_shared_from_this<LentRing> {
  struct Key {};

 public:
  // `on_room` is called, in any thread, after the tail has moved; it must not come back here.
  static std::shared_ptr<LentRing> make(std::shared_ptr<RingMemory> memory, std::uint64_t position,
                                        std::function<void(std::uint64_t free)> on_room);
  LentRing(Key key, std::shared_ptr<RingMemory> memory, std::uint64_t position,
           std::function<void(std::uint64_t free)> on_room);

  // The next frame that ends before `limit`; none when it is not all there yet, or where it has so
  // many pieces that the caller should look at its clock: idle() tells. What is there of a frame of
  // many pieces is kept for the next call. kDataLoss: the peer broke the rules.
  base::Result<std::optional<Frame>> next(std::uint64_t limit);
  // Whether next() would find nothing to do.
  bool idle(std::uint64_t limit);
  // Drops the first pieces of a frame that will not be whole any more.
  void drop_pieces();
  // Nothing between here and `position` is read.
  void go_to(std::uint64_t position);

  base::Result<std::uint64_t> head();
  struct Places {
    std::uint64_t seen_head = 0;
    std::uint64_t position = 0;
    std::uint64_t tail = 0;
  };
  [[nodiscard]] Places places();
  [[nodiscard]] RingHeader& header() const { return *header_; }
  [[nodiscard]] std::uint64_t capacity() const { return fd_memory_->capacity(); }
  [[nodiscard]] int fd() const { return fd_memory_->fd(); }

 private:
  class Loan;
  class Region;
  struct Entry {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    Loan* loan = nullptr;  // null: given back
  };

  // `more`: there was a piece, and it was no whole frame.
  base::Result<std::optional<Frame>> next_piece(std::uint64_t limit, bool& more);
  base::Result<std::optional<Frame>> take(const Piece& piece);
  void add(const Piece& piece, Loan* loan);
  void give_back(std::uint64_t begin);
  // Moves the tail behind what has been given back; says whether it moved.
  bool move_tail();
  void tell_room();
  base::Result<> keep_lent();

  std::mutex mutex_;
  std::shared_ptr<RingMemory> fd_memory_;  // whose header and descriptor stay the same
  RingHeader* header_;
  std::shared_ptr<RingMemory> memory_;
  RingReader reader_;
  std::uint64_t tail_;
  std::deque<Entry> entries_;
  std::string pieces_;
  bool in_pieces_ = false;
  std::uint16_t pieces_kind_ = 0;
  const pid_t owner_;
  const std::function<void(std::uint64_t free)> on_room_;
};

}  // namespace gangrun::feed
