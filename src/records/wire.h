#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gangrun::records {

// How the fields of protobuf's messages lie one after another.
enum class WireType : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

struct WireField {
  std::uint32_t number = 0;
  WireType type = WireType::kVarint;
  std::uint64_t varint = 0;
  std::string_view bytes;  // of all but kVarint
};

// Goes through the fields of a message. After the last, or at what is no message, next() is false.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : bytes_(bytes) {}

  bool next(WireField& field);
  // Reads a number that stands alone, as in a packed list.
  bool varint(std::uint64_t& value);
  // Whether all was read: else there was something that is no message.
  [[nodiscard]] bool at_end() const { return bytes_.empty(); }

 private:
  bool take(std::uint64_t size, std::string_view& taken);

  std::string_view bytes_;
};

constexpr std::size_t varint_size(std::uint64_t value) {
  return (static_cast<std::size_t>(std::bit_width(value | 1)) + 6) / 7;
}

// Writes at `at`, and returns what is behind it.
char* put_varint(char* at, std::uint64_t value);
constexpr char tag_of(std::uint32_t number, WireType type) {
  return static_cast<char>(number << 3 | static_cast<std::uint32_t>(type));
}

}  // namespace gangrun::records
