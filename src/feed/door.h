#pragma once

#include <sys/types.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/secret.h"
#include "base/unique_fd.h"
#include "feed/inlet.h"
#include "feed/line.h"
#include "feed/message.h"
#include "feed/outlet.h"

namespace gangrun::feed {

// The entrance of feeders: a thread that listens, knows who has the key, and gives the turn to one
// after the other in the order in which they came.
class Door {
 public:
  // The halves of a key, as the two ends show them to each other.
  struct Key {
    base::Secret first;
    base::Secret second;
  };

  // Inlet and outlet must outlive it.
  static base::Result<std::unique_ptr<Door>> open(const std::string& name, Key key, Inlet& inlet,
                                                  Outlet& outlet);
  Door(base::UniqueFd listening, base::UniqueFd alarm, Key key, Inlet& inlet, Outlet& outlet);
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;
  // Feeders find that the node has gone.
  ~Door();

  // Whoever is here or comes is told so and sent away.
  void refuse(std::string reason);
  // Those that are here and do not have the turn.
  [[nodiscard]] int waiting() const { return waiting_; }

 private:
  struct Guest {
    std::shared_ptr<Line> line;
    base::UniqueFd process;
    base::Instant came;
    bool has_key = false;
    std::uint64_t turn = 0;  // 0: not yet
    bool gone = false;
  };

  void run();
  void raise_alarm();
  void wait_for_something();
  void let_in();
  void hear(Guest& guest);
  void take(Guest& guest, const Received& received);
  void leave(Guest& guest, std::optional<std::string> broken);
  void send_away(Guest& guest, const std::string& reason);
  void give_turn();
  void tell_progress();

  const base::UniqueFd listening_;
  const base::UniqueFd alarm_;
  const Key key_;
  Inlet& inlet_;
  Outlet& outlet_;
  const pid_t owner_;

  std::mutex mutex_;
  std::string refused_;  // under mutex_

  // The thread's own.
  std::vector<std::unique_ptr<Guest>> guests_;
  std::uint64_t told_progress_ = 0;
  base::Instant next_tick_;
  bool full_ = false;  // no descriptors are left: not listening until the next tick

  std::atomic<int> waiting_ = 0;
  std::atomic<bool> stop_ = false;
  std::unique_ptr<std::thread> thread_;
};

}  // namespace gangrun::feed
