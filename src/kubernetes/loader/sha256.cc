#include "kubernetes/loader/sha256.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace gangrun::kubernetes::loader {

namespace {

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr std::uint32_t kRounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

constexpr std::uint32_t turned(std::uint32_t word, unsigned by) {
  return word >> by | word << (32U - by);
}

std::uint32_t word_at(const unsigned char* bytes) {
  return std::uint32_t{bytes[0]} << 24U | std::uint32_t{bytes[1]} << 16U |
         std::uint32_t{bytes[2]} << 8U | std::uint32_t{bytes[3]};
}

void add_in_steps(std::uint32_t (&state)[8], const unsigned char* block) {
  std::uint32_t words[64];
  for (unsigned at = 0; at < 16; ++at) words[at] = word_at(block + std::size_t{at} * 4);
  for (unsigned at = 16; at < 64; ++at) {
    const std::uint32_t early = words[at - 15];
    const std::uint32_t late = words[at - 2];
    words[at] = words[at - 16] + (turned(early, 7) ^ turned(early, 18) ^ early >> 3U) +
                words[at - 7] + (turned(late, 17) ^ turned(late, 19) ^ late >> 10U);
  }
  std::uint32_t a = state[0];
  std::uint32_t b = state[1];
  std::uint32_t c = state[2];
  std::uint32_t d = state[3];
  std::uint32_t e = state[4];
  std::uint32_t f = state[5];
  std::uint32_t g = state[6];
  std::uint32_t h = state[7];
  for (unsigned at = 0; at < 64; ++at) {
    const std::uint32_t first = h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) +
                                ((e & f) ^ (~e & g)) + kRounds[at] + words[at];
    const std::uint32_t second =
        (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  const std::uint32_t added[8] = {a, b, c, d, e, f, g, h};
  for (unsigned at = 0; at < 8; ++at) state[at] += added[at];
}

#if defined(__x86_64__)

bool has_sha() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  constexpr unsigned kNeeded = bit_SSSE3 | bit_SSE4_1;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & kNeeded) == kNeeded &&
         __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_SHA) != 0;
}

// The instructions have the state as the words a b e f and c d g h, the first in the highest bits.
[[gnu::target("sha,sse4.1,ssse3")]] void add_by_instructions(std::uint32_t (&state)[8],
                                                             const unsigned char* block) {
  const auto at = [](const void* place) { return static_cast<const __m128i*>(place); };
  const auto word = [&state](unsigned place) { return static_cast<int>(state[place]); };
  const __m128i to_words = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  const __m128i abef_before = _mm_set_epi32(word(0), word(1), word(4), word(5));
  const __m128i cdgh_before = _mm_set_epi32(word(2), word(3), word(6), word(7));
  __m128i abef = abef_before;
  __m128i cdgh = cdgh_before;
  __m128i words[16];
  for (unsigned four = 0; four < 16; ++four) {
    if (four < 4) {
      words[four] = _mm_shuffle_epi8(_mm_loadu_si128(at(block + std::size_t{four} * 16)), to_words);
    } else {
      const __m128i last = words[four - 1];
      words[four] =
          _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(words[four - 4], words[four - 3]),
                                             _mm_alignr_epi8(last, words[four - 2], 4)),
                               last);
    }
    const __m128i added =
        _mm_add_epi32(words[four], _mm_loadu_si128(at(kRounds + std::size_t{four} * 4)));
    cdgh = _mm_sha256rnds2_epu32(cdgh, abef, added);
    abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(added, 0x0e));
  }
  abef = _mm_add_epi32(abef, abef_before);
  cdgh = _mm_add_epi32(cdgh, cdgh_before);
  alignas(16) std::uint32_t found[8];
  _mm_store_si128(reinterpret_cast<__m128i*>(found), abef);
  _mm_store_si128(reinterpret_cast<__m128i*>(found + 4), cdgh);
  const std::uint32_t after[8] = {found[3], found[2], found[7], found[6],
                                  found[1], found[0], found[5], found[4]};
  for (unsigned place = 0; place < 8; ++place) state[place] = after[place];
}

#else

bool has_sha() { return false; }

void add_by_instructions(std::uint32_t (&state)[8], const unsigned char* block) {
  add_in_steps(state, block);
}

#endif

}  // namespace

bool Sha256::has_instructions() { return has_sha(); }

void Sha256::add(const unsigned char* bytes, std::size_t size) {
  std::size_t kept = bytes_ % kBlock;
  bytes_ += size;
  while (size > 0) {
    if (kept == 0 && size >= kBlock) {
      add_block(bytes);
      bytes += kBlock;
      size -= kBlock;
      continue;
    }
    rest_[kept++] = *bytes++;
    --size;
    if (kept == kBlock) {
      add_block(rest_);
      kept = 0;
    }
  }
}

void Sha256::finish(char (&digits)[kDigits + 1]) {
  const std::uint64_t bits = bytes_ * 8U;
  const unsigned char one = 0x80;
  const unsigned char zero = 0;
  add(&one, 1);
  while (bytes_ % kBlock != kBlock - sizeof bits) add(&zero, 1);
  for (unsigned shift = 64; shift > 0; shift -= 8) {
    const auto byte = static_cast<unsigned char>(bits >> (shift - 8U));
    add(&byte, 1);
  }
  for (std::size_t place = 0; place < kDigits; ++place) {
    digits[place] = "0123456789abcdef"[state_[place / 8] >> (28U - place % 8 * 4U) & 0xfU];
  }
  digits[kDigits] = '\0';
}

void Sha256::add_block(const unsigned char* block) {
  by_instructions_ ? add_by_instructions(state_, block) : add_in_steps(state_, block);
}

}  // namespace gangrun::kubernetes::loader
