#include "cluster/all_or_nothing.h"

#include <algorithm>
#include <utility>

namespace gangrun::cluster {

AllOrNothing::AllOrNothing(Options options)
    : options_(std::move(options)),
      doubled_(base::Duration(0), options_.doubles_up_to.value_or(base::Duration(0))) {}

void AllOrNothing::on_held(std::size_t held, base::Instant now) {
  if (held == 0) return on_none_held();
  const bool is_more = held > std::exchange(most_held_, std::max(most_held_, held));
  if (!held_since_ || (is_more && options_.is_renewed)) held_since_ = now;
}

void AllOrNothing::on_none_held() {
  most_held_ = 0;
  held_since_.reset();
}

std::optional<base::Instant> AllOrNothing::give_back_at() const {
  if (!held_since_) return std::nullopt;
  return *held_since_ + options_.hold;
}

base::Duration AllOrNothing::give_back(base::Instant now) {
  on_none_held();
  base::Duration pause =
      base::between(options_.shortest_pause, options_.longest_pause, options_.random());
  if (options_.doubles_up_to) pause = doubled_.next(pause);
  ask_again_at_ = now + pause;
  return pause;
}

void AllOrNothing::on_time(base::Instant now) {
  if (ask_again_at_ && now >= *ask_again_at_) ask_again_at_.reset();
}

}  // namespace gangrun::cluster
