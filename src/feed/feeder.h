#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "base/secret.h"
#include "base/unique_fd.h"
#include "feed/lent_ring.h"
#include "feed/message.h"
#include "feed/ring.h"
#include "feed/wait.h"

namespace gangrun::feed {

// The other side of a feed: writes frames into the ring of a node on the same machine, when it is
// its turn, and reads results. One thread uses it.
//
// Errors: kUnavailable: the node has gone; kFailedPrecondition: it wants no more, and why;
// kDeadlineExceeded: it has made no progress for too long. The same one again from then on.
class Feeder {
 public:
  struct Limits {
    base::Duration answer;       // until the node says who it is
    base::Duration no_progress;  // of the node, while something of it is awaited
  };
  // Waits for its turn. kNotFound at once where nobody listens.
  static base::Result<std::unique_ptr<Feeder>> connect(const std::string& name,
                                                       std::string_view key, Limits limits,
                                                       Interrupted interrupted);
  Feeder(base::UniqueFd socket, base::UniqueFd process, Limits limits, Interrupted interrupted);

  base::Result<> write(std::uint16_t kind, std::string_view data);
  // False when there was no room in that time, or when results can be read, and nothing of it was
  // written. A frame larger than the ring is begun when there is room for its first piece, and then
  // waits as write() does.
  base::Result<bool> try_write(std::uint16_t kind, std::string_view data, base::Duration timeout);

  // The place in which the bytes of the next frame may be put together, in the ring where it has
  // room for so much in one piece. commit() sends as many of them. One at a time.
  struct Room {
    std::span<char> bytes;
    std::shared_ptr<void> hold;
  };
  base::Result<Room> reserve(std::size_t size);
  base::Result<> commit(std::uint16_t kind, std::optional<std::size_t> size);

  // None when there was no result in that time.
  base::Result<std::optional<Frame>> read(base::Duration timeout);
  // All is written: the next feeder's turn. Nothing else may be called afterwards.
  base::Result<> end();

 private:
  base::Result<> greet(std::string_view first_half, const base::Secret& second_half);
  base::Result<> wait_for_turn();
  base::Result<> hear(base::Duration limit);
  base::Result<> take(Received received);
  base::Result<> look_around();
  base::Result<> keep(base::Error error);
  base::Result<> check_progress(base::Instant waits_since) const;
  base::Result<char*> wait_for_room(std::size_t size, const Patience& patience, bool for_results);
  base::Result<bool> write_within(std::uint16_t kind, std::string_view data,
                                  const Patience& patience, bool for_results);
  void commit_piece(std::uint16_t kind, std::uint16_t flags, std::size_t size);
  bool has_results();
  base::Result<std::optional<Frame>> next_result();

  base::UniqueFd socket_;
  base::UniqueFd process_;
  const Limits limits_;
  const Interrupted interrupted_;
  std::optional<base::Error> error_;
  base::Instant last_progress_;
  base::Instant last_look_;
  std::optional<RingWriter> writer_;
  std::shared_ptr<LentRing> results_;
  // The reserved bytes: in the ring, or beside it.
  std::optional<std::size_t> reserved_;
  std::shared_ptr<std::string> beside_;
};

}  // namespace gangrun::feed
