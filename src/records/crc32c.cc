#include "records/crc32c.h"

#include <array>
#include <cstddef>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace gangrun::records {

namespace {

constexpr std::uint32_t kPolynomial = 0x82f63b78;  // Castagnoli's, its bits turned round
constexpr std::size_t kWord = sizeof(std::uint64_t);

using Table = std::array<std::array<std::uint32_t, 256>, kWord>;

// tables[n][b]: what the byte b becomes with n bytes of zeros behind it.
constexpr Table make_tables() {
  Table tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (std::size_t zeros = 1; zeros < kWord; ++zeros) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t crc = tables[zeros - 1][byte];
      tables[zeros][byte] = (crc >> 8) ^ tables[0][crc & 0xff];
    }
  }
  return tables;
}

constexpr Table kTables = make_tables();

std::uint64_t word_at(const char* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, kWord);
  return word;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t by_instruction(std::string_view bytes,
                                                               std::uint32_t before) {
  std::uint64_t crc = ~before;
  const char* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= kWord; left -= kWord, at += kWord) crc = _mm_crc32_u64(crc, word_at(at));
  auto short_crc = static_cast<std::uint32_t>(crc);
  for (; left > 0; --left, ++at) {
    short_crc = _mm_crc32_u8(short_crc, static_cast<unsigned char>(*at));
  }
  return ~short_crc;
}
#endif

}  // namespace

std::uint32_t crc32c_by_table(std::string_view bytes, std::uint32_t before) {
  std::uint32_t crc = ~before;
  const char* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= kWord; left -= kWord, at += kWord) {
    const std::uint64_t word = word_at(at) ^ crc;
    crc = 0;
    for (std::size_t byte = 0; byte < kWord; ++byte) {
      crc ^= kTables[kWord - 1 - byte][(word >> (8 * byte)) & 0xff];
    }
  }
  for (; left > 0; --left, ++at) {
    crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<unsigned char>(*at)) & 0xff];
  }
  return ~crc;
}

std::uint32_t crc32c(std::string_view bytes, std::uint32_t before) {
#if defined(__x86_64__)
  static const bool kHasInstruction = __builtin_cpu_supports("sse4.2") != 0;
  if (kHasInstruction) return by_instruction(bytes, before);
#endif
  return crc32c_by_table(bytes, before);
}

}  // namespace gangrun::records
