#include "records/crc32c.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace gangrun::records {
namespace {

TEST(Crc32c, IsWhatRfc3720SaysOfItsExamples) {
  const std::string zeros(32, '\0');
  const std::string ones(32, '\xff');
  std::string counting;
  for (char byte = 0; byte < 32; ++byte) counting += byte;
  EXPECT_EQ(crc32c(zeros), 0x8a9136aaU);
  EXPECT_EQ(crc32c(ones), 0x62a8ab43U);
  EXPECT_EQ(crc32c(counting), 0x46dd794eU);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283U);
  EXPECT_EQ(crc32c(""), 0U);
}

TEST(Crc32c, IsTheSameByTableAndInParts) {
  std::string bytes;
  for (int i = 0; i < 100; ++i) bytes += static_cast<char>(i * 37);
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    const std::string_view front = std::string_view(bytes).substr(0, cut);
    const std::string_view rest = std::string_view(bytes).substr(cut);
    EXPECT_EQ(crc32c(front), crc32c_by_table(front)) << cut;
    EXPECT_EQ(crc32c(rest, crc32c(front)), crc32c(bytes)) << cut;
    EXPECT_EQ(crc32c_by_table(rest, crc32c(front)), crc32c(bytes)) << cut;
  }
}

TEST(Crc32c, AMaskedOneIsWhatTensorFlowWrites) {
  // The length of a record of 3 bytes, and what stands behind it in a file of TensorFlow.
  EXPECT_EQ(masked(crc32c(std::string("\x03\0\0\0\0\0\0\0", 8))), 0x0e4999b0U);
}

}  // namespace
}  // namespace gangrun::records
