#pragma once

#include <cstdint>
#include <string_view>

namespace gangrun::records {

// CRC-32C of `bytes`, going on from `before`, that of what stands in front of them.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t before = 0);

// The same without the processor's instruction for it, where there is none.
std::uint32_t crc32c_by_table(std::string_view bytes, std::uint32_t before = 0);

// As TFRecord files have it: a checksum over bytes that contain checksums says little.
constexpr std::uint32_t masked(std::uint32_t crc) {
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

}  // namespace gangrun::records
