#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "feed/line.h"
#include "feed/ring.h"
#include "feed/wait.h"

namespace gangrun::feed {

// The node's end of the output ring, by which results go to the feeder whose turn it is. The ring
// is made with the first result. The turns are begun and ended by one thread, another writes.
class Outlet {
 public:
  explicit Outlet(std::size_t capacity) : capacity_(capacity) {}

  void begin_turn(std::uint64_t number, std::shared_ptr<Line> line);
  void end_turn(std::uint64_t number);

  // kUnavailable: it is not, or no longer, that turn. kDeadlineExceeded: no room in that time; of a
  // frame larger than the ring a part has gone then, and its feeder is sent away.
  base::Result<> write(std::uint16_t kind, std::string_view data, std::uint64_t turn,
                       base::Duration timeout, const Interrupted& interrupted);
  // Ends a write() that waits.
  void close();

 private:
  base::Result<> prepare(std::uint64_t turn);
  base::Result<> write_piece(std::uint16_t kind, std::uint16_t flags, std::string_view piece,
                             std::uint64_t turn, const Patience& patience);
  base::Result<bool> try_piece(std::uint16_t kind, std::uint16_t flags, std::string_view piece,
                               std::uint64_t turn);
  base::Result<> of_turn(std::uint64_t turn) const;

  const std::size_t capacity_;
  std::mutex mutex_;
  std::optional<RingWriter> writer_;
  std::shared_ptr<Line> line_;
  std::uint64_t turn_ = 0;
  bool passed_ = false;  // whose turn it is has the ring
  bool closed_ = false;
};

}  // namespace gangrun::feed
