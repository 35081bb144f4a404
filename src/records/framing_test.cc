#include "records/framing.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/hex.h"
#include "records/crc32c.h"
#include "records/test_rows.h"

namespace gangrun::records {
namespace {

TEST(Framing, IsWhatTensorFlowWrites) {
  std::string file;
  append_frame(file, "abc");
  EXPECT_EQ(base::to_hex(file), "0300000000000000b099490e6162636e57f121");
}

TEST(Framing, GivesWhatWasPutInWhereverTheBytesEnd) {
  std::string file;
  append_frame(file, "");
  append_frame(file, "abc");
  for (std::size_t size = 0; size < file.size(); ++size) {
    const auto first = next_frame(std::string_view(file).substr(0, size));
    ASSERT_TRUE(first.ok());
    EXPECT_EQ(first->data.has_value(), size >= 16) << size;
    EXPECT_EQ(first->size, size < 12 ? 12 : 16) << size;
    if (size < 16) continue;
    const auto second = next_frame(std::string_view(file).substr(16, size - 16));
    ASSERT_TRUE(second.ok());
    EXPECT_FALSE(second->data.has_value());
    EXPECT_EQ(second->size, size < 28 ? 12 : 19) << size;
  }
  EXPECT_EQ(*next_frame(file.substr(16))->data, "abc");
}

TEST(Framing, EveryBitThatIsTurnedIsNoticed) {
  std::string file;
  append_frame(file, "abcd");
  for (std::size_t bit = 0; bit < file.size() * 8; ++bit) {
    std::string bad = file;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    const auto read = next_frame(bad);
    ASSERT_FALSE(read.ok()) << bit;
    EXPECT_EQ(read.error().code, base::Code::kDataLoss);
    EXPECT_EQ(read.error().message,
              bit < 96 ? "the CRC of the length is wrong" : "the CRC of the data is wrong");
  }
}

TEST(Framing, ARecordBeyondTheLimitIsRefusedBeforeItIsRead) {
  std::string header(kHeaderBytes, '\0');
  const std::uint64_t length = kMaxRecordBytes + 1;
  std::memcpy(header.data(), &length, sizeof length);
  const std::uint32_t crc = masked(crc32c(header.substr(0, 8)));
  std::memcpy(header.data() + 8, &crc, sizeof crc);
  EXPECT_TRUE(begins_with_a_record(header));
  const auto read = next_frame(header);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().message, "a record of 1073741825 bytes; allowed: at most 1073741824");
}

TEST(Framing, WhatIsPackedDoesNotBeginWithARecord) {
  EXPECT_FALSE(begins_with_a_record("\x1f\x8b\x08"));
  EXPECT_FALSE(begins_with_a_record(std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03\x01\x02", 12)));
}

}  // namespace
}  // namespace gangrun::records
