#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "base/clock.h"
#include "base/pause.h"

namespace gangrun::cluster {

// All or nothing, where the places of a gang come one by one: those that have come are held until
// there is one for each task. Two jobs that fit alone but not together may then each hold what the
// other lacks. So who has held a part for too long returns it and asks again after a random pause:
// one of the two gets its turn. Pure: its owner counts, gives back and asks.
class AllOrNothing {
 public:
  struct Options {
    base::Duration hold{};    // how long a part is held
    bool is_renewed = false;  // that time begins again with each further place
    // The pause is one between these.
    base::Duration shortest_pause{};
    base::Duration longest_pause{};
    // If set: each is at least twice as long as the one before it, up to this.
    std::optional<base::Duration> doubles_up_to{};
    std::function<double()> random{};  // from 0 to 1
  };

  explicit AllOrNothing(Options options);

  // The number of places that are held now, which are not all.
  void on_held(std::size_t held, base::Instant now);
  void on_none_held();
  // None: nothing is held.
  [[nodiscard]] std::optional<base::Instant> give_back_at() const;

  // All that is held is given back now. Returns the pause, which begins.
  base::Duration give_back(base::Instant now);
  // When the pause is over. None: there was none since on_time() ended the last.
  [[nodiscard]] std::optional<base::Instant> ask_again_at() const { return ask_again_at_; }
  void on_time(base::Instant now);

 private:
  Options options_;
  base::Pause doubled_;
  std::size_t most_held_ = 0;  // at a time, since none was
  std::optional<base::Instant> held_since_;
  std::optional<base::Instant> ask_again_at_;
};

}  // namespace gangrun::cluster
