#include "master/decision_gate.h"

#include <utility>
#include <variant>

#include "base/overloaded.h"

namespace gangrun::master {

namespace {

// Whether it waits for the far copy of the journal, and whether that copy must not take its time.
enum class Wait { kNone, kForCopy, kForCopyAtOnce };

Wait wait_of(const gang::Decision& decision) {
  return std::visit(
      base::Overloaded{
          [](const base::OneOf<gang::Allocate, gang::Stop, gang::End, gang::Kill,
                               gang::Warn> auto&) { return Wait::kNone; },
          [](const base::OneOf<gang::Publish, gang::Start> auto&) { return Wait::kForCopy; },
          [](const gang::Finish&) { return Wait::kForCopyAtOnce; },
      },
      decision);
}

}  // namespace

DecisionGate::DecisionGate(journal::FarCopy* far_copy,
                           std::function<void(const gang::Decision&)> carry_out)
    : far_copy_(far_copy), carry_out_(std::move(carry_out)) {}

void DecisionGate::pass(const std::vector<gang::Decision>& decisions) {
  std::size_t holding = 0;
  for (const gang::Decision& decision : decisions) {
    const Wait wait = wait_of(decision);
    if (far_copy_ == nullptr || (held_.empty() && wait == Wait::kNone)) {
      carry_out_(decision);
      continue;
    }
    if (wait == Wait::kForCopyAtOnce) far_copy_->hurry();
    held_.push_back(decision);
    ++holding;
  }
  if (holding > 0) far_copy_->copy([this, holding] { release(holding); });
}

void DecisionGate::release(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const gang::Decision decision = std::move(held_.front());
    held_.pop_front();
    carry_out_(decision);
  }
}

}  // namespace gangrun::master
