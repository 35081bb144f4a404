#include "master/decision_gate.h"

#include <utility>
#include <variant>

#include "base/overloaded.h"

namespace gangrun::master {

namespace {

bool must_be_known(const gang::Decision& decision) {
  return std::visit(
      base::Overloaded{
          [](const gang::Allocate&) { return false; }, [](const gang::Publish&) { return true; },
          [](const gang::Start&) { return true; }, [](const gang::Stop&) { return false; },
          [](const gang::End&) { return false; }, [](const gang::Kill&) { return false; },
          [](const gang::Warn&) { return false; }, [](const gang::Finish&) { return true; }},
      decision);
}

}  // namespace

DecisionGate::DecisionGate(journal::FarCopy* far_copy,
                           std::function<void(const gang::Decision&)> carry_out)
    : far_copy_(far_copy), carry_out_(std::move(carry_out)) {}

void DecisionGate::pass(const std::vector<gang::Decision>& decisions) {
  std::size_t holding = 0;
  for (const gang::Decision& decision : decisions) {
    if (far_copy_ == nullptr || (held_.empty() && !must_be_known(decision))) {
      carry_out_(decision);
      continue;
    }
    if (std::holds_alternative<gang::Finish>(decision)) far_copy_->hurry();
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
