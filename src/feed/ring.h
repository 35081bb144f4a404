#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/result.h"
#include "feed/ring_memory.h"

namespace gangrun::feed {

inline constexpr std::uint16_t kFirstPiece = 1;
inline constexpr std::uint16_t kLastPiece = 2;
// No frame: the writer goes on at the start of the ring.
inline constexpr std::uint16_t kSkip = 4;

// The head before the bytes of a piece, in the first kAlignment bytes of its region.
struct PieceHead {
  std::uint32_t mark;
  std::uint16_t kind;
  std::uint16_t flags;
  std::uint64_t size;
};

// A piece of a frame as it lies in the ring; most frames are one piece.
struct Piece {
  std::uint16_t kind = 0;
  std::uint16_t flags = 0;
  const char* data = nullptr;
  std::size_t size = 0;
  std::uint64_t begin = 0;  // positions of its region, head and padding included
  std::uint64_t end = 0;
};

// The writer's end of a ring. One thread uses it. It knows its own head, and believes the tail that
// the peer writes only as far as it can be.
class RingWriter {
 public:
  // Goes on at `head`, where a writer before it has ended; `tail` is what was free for sure then.
  RingWriter(std::shared_ptr<RingMemory> memory, std::uint64_t head, std::uint64_t tail);

  // The most bytes that a piece may have: with larger ones the two ends would wait in turns.
  [[nodiscard]] std::size_t largest_piece() const;
  // Bytes of the ring that a piece of `size` takes.
  static std::uint64_t room_for(std::size_t size);

  // The address of the bytes of the next piece; null when there is no room for them now. kDataLoss:
  // the peer's index is impossible. kResourceExhausted: no memory.
  base::Result<char*> reserve(std::size_t size);
  // Makes the bytes at reserve()'s address a piece: the reader sees it from now on.
  void commit(std::uint16_t kind, std::uint16_t flags, std::size_t size);

  [[nodiscard]] std::uint64_t head() const { return head_; }
  [[nodiscard]] RingMemory& memory() const { return *memory_; }
  [[nodiscard]] const std::shared_ptr<RingMemory>& shared_memory() const { return memory_; }

 private:
  base::Result<> look_at_tail();
  base::Result<> go_to_start();

  std::shared_ptr<RingMemory> memory_;
  std::uint64_t head_;
  std::uint64_t tail_;
};

// The reader's end. One thread uses it. It moves its position; what may be overwritten, the tail in
// the header, is its owner's to say.
class RingReader {
 public:
  RingReader(std::shared_ptr<RingMemory> memory, std::uint64_t position);

  // The piece at the position, if it has been committed whole before `limit`, and moves on behind
  // it. kDataLoss: what stands there is no piece, or the peer's index is impossible; the position
  // stays. `tail` is the reader's own, which bounds how far a writer may have come.
  base::Result<std::optional<Piece>> next(std::uint64_t tail, std::uint64_t limit);
  // How far the writer has come, or kDataLoss where that is impossible.
  base::Result<std::uint64_t> head(std::uint64_t tail);
  // The last one that was possible.
  [[nodiscard]] std::uint64_t seen_head() const { return seen_head_; }
  // Goes on at `position`, whatever is there.
  void go_to(std::uint64_t position);
  // From now on in another mapping of the same ring.
  void use(std::shared_ptr<RingMemory> memory) { memory_ = std::move(memory); }

  [[nodiscard]] std::uint64_t position() const { return position_; }

 private:
  std::shared_ptr<RingMemory> memory_;
  std::uint64_t position_;
  std::uint64_t seen_head_;
};

}  // namespace gangrun::feed
