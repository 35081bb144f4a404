#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "feed/door.h"
#include "feed/inlet.h"
#include "feed/lent_ring.h"
#include "feed/outlet.h"
#include "feed/wait.h"

namespace gangrun::feed {

inline constexpr std::size_t kMinKeyBytes = 32;
inline constexpr std::size_t kMaxKeyBytes = 2 * kMaxTextBytes;

// The halves of a key; kInvalidArgument where it is too short or too long.
base::Result<Door::Key> split_key(std::string_view key);

// The node's side of a feed: feeders of the same machine come to its name, and what they write is
// read here. One thread reads and one writes; the other calls come from any.
class Listener {
 public:
  // The rings are of `memory_bytes` together, and take memory as they fill.
  static base::Result<std::unique_ptr<Listener>> open(const std::string& name, std::string_view key,
                                                      std::size_t memory_bytes);
  Listener(std::unique_ptr<Inlet> inlet, std::unique_ptr<Outlet> outlet,
           std::unique_ptr<Door> door);
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener();

  base::Result<std::optional<Frame>> read(base::Duration timeout, const Interrupted& interrupted);
  // To the feeder of `turn`, or, with 0, of the frame that was read last.
  base::Result<> write(std::uint16_t kind, std::string_view data, std::uint64_t turn,
                       base::Duration timeout, const Interrupted& interrupted);
  void refuse(std::string reason);
  void touch() { inlet_->touch(); }
  // Feeders find that the node has gone; what was lent stays as long as it is held.
  void close();

  struct Stats {
    Inlet::Figures input;
    int feeders_waiting = 0;
  };
  Stats stats();

 private:
  base::Result<> check_process() const;

  const pid_t owner_;
  std::unique_ptr<Inlet> inlet_;
  std::unique_ptr<Outlet> outlet_;
  std::mutex door_mutex_;
  std::unique_ptr<Door> door_;  // none when closed
};

}  // namespace gangrun::feed
