#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "feed/lent_ring.h"
#include "feed/line.h"
#include "feed/wait.h"

namespace gangrun::feed {

// The node's end of the input ring: which part of it was written in whose turn, and the reading of
// it. The turns are begun and ended by one thread, the frames read by another.
class Inlet {
  struct Key {};

 public:
  static base::Result<std::unique_ptr<Inlet>> make(std::size_t capacity);
  Inlet(Key key, std::shared_ptr<LentRing> frames, std::shared_ptr<Waker> waker);

  struct Turn {
    std::uint64_t number = 0;
    std::uint64_t head = 0;
    std::uint64_t tail = 0;
  };
  // The next feeder may write, from `head` on; the one before has ended.
  Turn begin_turn(std::shared_ptr<Line> line);
  // All that it has written counts. With `broken` (why) the reader is told that more should have
  // come. Nothing happens where the turn was ended before.
  void end_turn(std::uint64_t number, std::optional<std::string> broken);

  // The next frame of whoever's turn it was; none when there was none in that time.
  base::Result<std::optional<Frame>> read(base::Duration timeout, const Interrupted& interrupted);
  // The node is alive: what feeders' limits are about. read() does it too.
  void touch() { progress_.fetch_add(1, std::memory_order_relaxed); }
  // Whoever reads stops waiting: kFailedPrecondition, now and later.
  void close();

  struct Figures {
    std::uint64_t frames = 0;
    std::uint64_t bytes = 0;
    std::uint64_t queued_bytes = 0;
    base::Duration node_waited{};
    base::Duration feeder_waited{};
  };
  Figures figures();
  // Changes whenever the node has done something.
  [[nodiscard]] std::uint64_t progress() const { return progress_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t turn_of_last_frame() const { return last_turn_.load(); }
  [[nodiscard]] int ring_fd() const { return frames_->fd(); }

 private:
  struct Written {
    std::uint64_t number = 0;
    std::optional<std::uint64_t> end = {};
    std::optional<std::string> broken = {};
  };

  base::Result<std::optional<Frame>> next();
  void break_turn(Written& turn, std::string why);
  bool nothing_to_do();

  std::shared_ptr<LentRing> frames_;
  std::shared_ptr<Waker> waker_;
  std::mutex mutex_;
  std::deque<Written> turns_;
  std::uint64_t number_ = 0;
  std::uint64_t end_ = 0;  // of the last turn that has one
  std::atomic<bool> closed_ = false;
  std::atomic<std::uint64_t> progress_ = 0;
  std::atomic<std::uint64_t> last_turn_ = 0;
  std::atomic<std::uint64_t> frames_read_ = 0;
  std::atomic<std::uint64_t> bytes_read_ = 0;
  std::atomic<std::int64_t> waited_ns_ = 0;
};

}  // namespace gangrun::feed
