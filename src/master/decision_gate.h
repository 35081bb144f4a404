#pragma once

#include <deque>
#include <functional>
#include <vector>

#include "gang/decision.h"
#include "journal/far_copy.h"

namespace gangrun::master {

// Holds back decisions until a next master on another host would know of what they follow from: a
// generation, a start, the end. What comes after a held one waits too, since their order counts.
class DecisionGate {
 public:
  // Without a far copy nothing is held. `carry_out` is called in the order of the decisions, from
  // pass() or later from the far copy.
  DecisionGate(journal::FarCopy* far_copy, std::function<void(const gang::Decision&)> carry_out);

  void pass(const std::vector<gang::Decision>& decisions);

 private:
  void release(std::size_t count);

  journal::FarCopy* far_copy_;
  std::function<void(const gang::Decision&)> carry_out_;
  std::deque<gang::Decision> held_;
};

}  // namespace gangrun::master
