#pragma once

#include <string>
#include <string_view>

namespace gangrun::base {

// A secret or token. It does not print, is compared in constant time and is wiped when it goes. The
// memory in which it is kept is left out of core files.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string value);
  Secret(const Secret& other);
  Secret(Secret&& other) noexcept;
  Secret& operator=(const Secret& other);
  Secret& operator=(Secret&& other) noexcept;
  ~Secret();

  // 256 random bits from the kernel, as 64 hexadecimal digits.
  static Secret generate();

  [[nodiscard]] bool empty() const { return value_.empty(); }
  // Takes the same time wherever the first difference is. An empty secret matches nothing.
  [[nodiscard]] bool matches(std::string_view candidate) const;
  // For the one place that must write it (a header, a 0600 file). Never for a log or a command
  // line.
  [[nodiscard]] const std::string& reveal() const { return value_; }

 private:
  std::string value_;
};

}  // namespace gangrun::base
