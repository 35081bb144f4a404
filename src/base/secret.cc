#include "base/secret.h"

#include <array>
#include <cstddef>
#include <cstring>

#include "base/check.h"
#include "base/format.h"
#include "base/random.h"

namespace gangrun::base {

namespace {

void wipe(std::string& value) {
  if (!value.empty()) explicit_bzero(value.data(), value.size());
  value.clear();
}

}  // namespace

// Copied and wiped: a moved-from short string keeps its bytes.
Secret::Secret(Secret&& other) noexcept
    : value_(other.value_) {  // NOLINT(performance-move-constructor-init)
  wipe(other.value_);
}

Secret& Secret::operator=(const Secret& other) {
  if (this == &other) return *this;
  wipe(value_);
  value_ = other.value_;
  return *this;
}

Secret& Secret::operator=(Secret&& other) noexcept {
  if (this == &other) return *this;
  wipe(value_);
  value_ = other.value_;
  wipe(other.value_);
  return *this;
}

Secret::~Secret() { wipe(value_); }

Secret Secret::generate() {
  const auto bytes = random_number<std::array<unsigned char, 32>>();
  std::string text;
  for (const unsigned char byte : bytes) text += format("{:02x}", byte);
  return Secret(std::move(text));
}

bool Secret::matches(std::string_view candidate) const {
  if (value_.empty() || candidate.size() != value_.size()) return false;
  volatile unsigned char difference = 0;
  for (std::size_t i = 0; i < value_.size(); ++i) {
    difference = difference | static_cast<unsigned char>(value_[i] ^ candidate[i]);
  }
  return difference == 0;
}

}  // namespace gangrun::base
