#include "net/digests.h"

#include <gtest/gtest.h>

#include "base/hex.h"

namespace gangrun::net {
namespace {

TEST(Digests, Md5GivesWhatItsSpecificationSays) {  // RFC 1321, A.5
  ASSERT_TRUE(check_md5().ok());
  EXPECT_EQ(base::to_hex(md5("")), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(base::to_hex(md5("message digest")), "f96b697d7cb7938d525a2f31aaf161d0");
}

TEST(Digests, HmacGivesWhatItsSpecificationSays) {  // RFC 2202, 2
  EXPECT_EQ(base::to_hex(hmac_md5(std::string(16, '\x0b'), "Hi There")),
            "9294727a3638bb1c13f48ef8158bfc9d");
  EXPECT_EQ(base::to_hex(hmac_md5("Jefe", "what do ya want for nothing?")),
            "750c783e6ab0b503eaa86e310a5db738");
  EXPECT_EQ(base::to_hex(hmac_md5(std::string(80, '\xaa'),
                                  "Test Using Larger Than Block-Size Key - Hash Key First")),
            "6b1ab7fe4bd7bf8f0b62e6ce61b9d0cd");
}

TEST(Digests, HmacOfSha256GivesWhatItsSpecificationSays) {  // RFC 4231, 4
  EXPECT_EQ(base::to_hex(hmac_sha256(std::string(20, '\x0b'), "Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(base::to_hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(base::to_hex(hmac_sha256(std::string(131, '\xaa'),
                                     "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(Digests, Base64GivesWhatItsSpecificationSays) {  // RFC 4648, 10
  EXPECT_EQ(to_base64(""), "");
  EXPECT_EQ(to_base64("f"), "Zg==");
  EXPECT_EQ(to_base64("fo"), "Zm8=");
  EXPECT_EQ(to_base64("foo"), "Zm9v");
  EXPECT_EQ(to_base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(to_base64(std::string(100, 'a')).find('\n'), std::string::npos);
}

TEST(Digests, Base64IsReadInBothAlphabetsAndWithoutItsPadding) {
  for (const std::string bytes : {"", "f", "fo", "foo", "foobar", "\xff\xfe\xfb"}) {
    const std::string text = to_base64(bytes);
    EXPECT_EQ(from_base64(text), bytes);
    EXPECT_EQ(from_base64(text.substr(0, text.find('='))), bytes);
  }
  EXPECT_EQ(from_base64("-_-_"), from_base64("+/+/"));
  for (const std::string text :
       {"Z", "Zg=", "Zg===", "Z===", "Zh==", "Zm9=", "Zm 9", "Zg==Zg==", "="}) {
    EXPECT_EQ(from_base64(text), std::nullopt) << text;
  }
}

TEST(Digests, RandomBytesDiffer) {
  EXPECT_EQ(random_bytes(16).size(), 16U);
  EXPECT_NE(random_bytes(16), random_bytes(16));
}

TEST(Digests, Sha256OfPieces) {
  Sha256Stream empty;
  EXPECT_EQ(base::to_hex(empty.finish()),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  Sha256Stream pieces;  // FIPS 180-2's example
  pieces.put("a");
  pieces.put("");
  pieces.put("bc");
  EXPECT_EQ(base::to_hex(pieces.finish()),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace gangrun::net
