#include "hadoop/variable_integer.h"

namespace gangrun::hadoop {

namespace {

constexpr int kSmallest = -112;         // that is its own byte
constexpr int kNegativeLengths = -120;  // first bytes below this: -120 - length, complemented
constexpr unsigned kBitsOfAByte = 8;

}  // namespace

void append_variable_integer(std::string& out, std::int64_t value) {
  if (value >= kSmallest && value <= 127) {
    out += static_cast<char>(value);
    return;
  }
  const bool negative = value < 0;
  const auto magnitude = static_cast<std::uint64_t>(negative ? ~value : value);
  int length = 1;
  while (length < 8 && magnitude >> (static_cast<unsigned>(length) * kBitsOfAByte) != 0) ++length;
  out += static_cast<char>((negative ? kNegativeLengths : kSmallest) - length);
  for (int i = length - 1; i >= 0; --i) {
    out += static_cast<char>(magnitude >> (static_cast<unsigned>(i) * kBitsOfAByte));
  }
}

std::optional<std::int64_t> take_variable_integer(std::string_view& bytes) {
  if (bytes.empty()) return std::nullopt;
  const auto byte = static_cast<unsigned char>(bytes.front());
  const int first = byte < 128 ? byte : byte - 256;
  if (first >= kSmallest) {
    bytes.remove_prefix(1);
    return first;
  }
  const bool negative = first < kNegativeLengths;
  const auto length = static_cast<std::size_t>((negative ? kNegativeLengths : kSmallest) - first);
  if (bytes.size() < 1 + length) return std::nullopt;
  std::uint64_t magnitude = 0;
  for (const char digit : bytes.substr(1, length)) {
    magnitude = magnitude << kBitsOfAByte | static_cast<unsigned char>(digit);
  }
  bytes.remove_prefix(1 + length);
  return static_cast<std::int64_t>(negative ? ~magnitude : magnitude);
}

}  // namespace gangrun::hadoop
