#pragma once

#include <cstddef>
#include <cstdint>

namespace gangrun::kubernetes::loader {

// SHA-256 as FIPS 180-4 has it. It is our own, as no library has it that needs no C library.
class Sha256 {
 public:
  static constexpr std::size_t kDigits = 64;

  // Whether this processor has instructions for it, which take a fifth of the time.
  static bool has_instructions();

  explicit Sha256(bool by_instructions = has_instructions()) : by_instructions_{by_instructions} {}

  void add(const unsigned char* bytes, std::size_t size);

  // The digest of all that was added, in hexadecimal digits with a zero behind them. Nothing is
  // added after it.
  void finish(char (&digits)[kDigits + 1]);

 private:
  static constexpr std::size_t kBlock = 64;

  void add_block(const unsigned char* block);

  bool by_instructions_;
  std::uint32_t state_[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                             0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  unsigned char rest_[kBlock] = {};
  std::uint64_t bytes_ = 0;
};

}  // namespace gangrun::kubernetes::loader
