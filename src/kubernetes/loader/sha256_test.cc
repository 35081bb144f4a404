#include "kubernetes/loader/sha256.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace gangrun::kubernetes::loader {
namespace {

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

// By instructions too, where this processor has them.
std::vector<bool> ways() {
  return Sha256::has_instructions() ? std::vector<bool>{false, true} : std::vector<bool>{false};
}

std::string digest_of(std::string_view text, bool by_instructions, std::size_t piece) {
  Sha256 digest(by_instructions);
  for (std::size_t at = 0; at < text.size(); at += piece) {
    const std::string_view part = text.substr(at, piece);
    digest.add(bytes_of(part), part.size());
  }
  char digits[Sha256::kDigits + 1] = {};
  digest.finish(digits);
  return digits;
}

struct Vector {
  std::string text;
  std::string digest;
};

// The vectors of FIPS 180-4, as NIST's examples and its file of short messages have them.
const std::vector<Vector> kVectors{
    {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnop"
     "qrs"
     "mnopqrstnopqrstu",
     "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
    {std::string(1'000'000, 'a'),
     "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
};

TEST(Sha256, HasTheStandardsDigests) {
  for (const bool by_instructions : ways()) {
    for (const Vector& one : kVectors) {
      EXPECT_EQ(digest_of(one.text, by_instructions, 1U << 20U), one.digest) << by_instructions;
    }
  }
}

TEST(Sha256, IsTheSameInPiecesOfAnySize) {
  std::string text;
  for (int at = 0; at < 300; ++at) text.push_back(static_cast<char>(at * 7));
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const std::string_view start = std::string_view(text).substr(0, size);
    const std::string whole = digest_of(start, false, 1024);
    for (const bool by_instructions : ways()) {
      for (const std::size_t piece : {1U, 55U, 63U, 64U, 65U, 300U}) {
        ASSERT_EQ(digest_of(start, by_instructions, piece), whole) << size << " " << piece;
      }
    }
  }
}

}  // namespace
}  // namespace gangrun::kubernetes::loader
