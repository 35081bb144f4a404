#include "net/cipher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/hex.h"

namespace gangrun::net {
namespace {

const base::Secret kKey(std::string(kCipherKeyBytes, 'k'));

TEST(Cipher, OpensWhatIsSealed) {
  for (const std::string& plain : {std::string(), std::string("a"), std::string(100'000, 'x')}) {
    const auto sealed = seal(kKey, plain, "about");
    ASSERT_TRUE(sealed.ok());
    EXPECT_EQ(sealed->size(), kCipherNonceBytes + plain.size() + kCipherTagBytes);
    const auto opened = unseal(kKey, *sealed, "about");
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    EXPECT_EQ(*opened, plain);
  }
}

TEST(Cipher, SealsEqualBytesToOthers) {
  EXPECT_NE(seal(kKey, "plain", "about").value(), seal(kKey, "plain", "about").value());
}

// Test case 16 of the specification of GCM, the one with a key of 256 bits and further data.
TEST(Cipher, OpensWhatOthersHaveSealed) {
  const auto bytes = [](const std::string& digits) { return base::from_hex(digits).value(); };
  const base::Secret key(bytes("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"));
  const std::string sealed = bytes(
      "cafebabefacedbaddecaf888"
      "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056"
      "828838c5f61e6393ba7a0abcc9f662"
      "76fc6ece0f4e1768cddf8853bb2d551b");
  const auto opened = unseal(key, sealed, bytes("feedfacedeadbeeffeedfacedeadbeefabaddad2"));
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  EXPECT_EQ(*opened, bytes("d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c"
                           "95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"));
}

void expect_damaged(const base::Secret& key, const std::string& sealed, const std::string& about) {
  const auto opened = unseal(key, sealed, about);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, base::Code::kDataLoss) << opened.error().message;
}

TEST(Cipher, RefusesEachChangedByte) {
  const std::string sealed = seal(kKey, "a few bytes", "about").value();
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    std::string changed = sealed;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    expect_damaged(kKey, changed, "about");
    expect_damaged(kKey, sealed.substr(0, i), "about");
  }
  expect_damaged(kKey, sealed + "x", "about");
}

TEST(Cipher, RefusesAnotherKeyAndAnotherPlace) {
  const std::string sealed = seal(kKey, "a few bytes", "about").value();
  expect_damaged(base::Secret(std::string(kCipherKeyBytes, 'K')), sealed, "about");
  expect_damaged(kKey, sealed, "abouT");
  expect_damaged(kKey, sealed, "");
}

}  // namespace
}  // namespace gangrun::net
