#include "base/secret.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "base/format.h"
#include "base/random.h"

namespace gangrun::base {

namespace {

void wipe(std::string& value) {
  if (!value.empty()) explicit_bzero(value.data(), value.size());
  value.clear();
}

// Its pages stay so when they are used for something else, which does no harm. A text so short that
// it is in the object is no secret of ours.
void keep_out_of_core_files(const std::string& value) {
  const auto size = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<std::uintptr_t>(value.data());
  const auto object = reinterpret_cast<std::uintptr_t>(&value);
  if (value.empty() || (first >= object && first < object + sizeof value)) return;
  const std::uintptr_t page = first / size * size;
  // If the kernel cannot, the process as a whole leaves no core file.
  (void)::madvise(reinterpret_cast<void*>(page), first + value.size() - page, MADV_DONTDUMP);
}

}  // namespace

Secret::Secret(std::string value) : value_(std::move(value)) { keep_out_of_core_files(value_); }

Secret::Secret(const Secret& other) : value_(other.value_) { keep_out_of_core_files(value_); }

// Copied and wiped: a moved-from short string keeps its bytes.
Secret::Secret(Secret&& other) noexcept
    : value_(other.value_) {  // NOLINT(performance-move-constructor-init)
  keep_out_of_core_files(value_);
  wipe(other.value_);
}

Secret& Secret::operator=(const Secret& other) {
  if (this == &other) return *this;
  wipe(value_);
  value_ = other.value_;
  keep_out_of_core_files(value_);
  return *this;
}

Secret& Secret::operator=(Secret&& other) noexcept {
  if (this == &other) return *this;
  wipe(value_);
  value_ = other.value_;
  keep_out_of_core_files(value_);
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
