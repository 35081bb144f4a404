#include "records/encoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/hex.h"
#include "records/decoder.h"
#include "records/framing.h"
#include "records/test_rows.h"

namespace gangrun::records {
namespace {

using testing::ElementsAre;

std::vector<std::string> read(const std::vector<Field>& fields, const std::string& file) {
  Decoder decoder(fields, {.file = "it"});
  const auto taken = decoder.take(file);
  EXPECT_TRUE(taken.ok()) << taken.error().message;
  EXPECT_EQ(*taken, file.size());
  const std::size_t rows = decoder.rows();
  return shown(fields, decoder.take_batch(), rows);
}

TEST(Encoder, IsWhatTensorFlowWrites) {
  // tf.train.Example of {"x": int64_list [1, 300]}, serialised.
  const std::vector<Field> fields{{.name = "x", .kind = Kind::kInt64, .is_list = true}};
  Column column;
  column.values.integers = {1, 300};
  column.list_offsets = {0, 2};
  std::string file;
  ASSERT_TRUE(encode(fields, std::vector{column.view(fields[0])}, 0, 1, file).ok());
  EXPECT_EQ(base::to_hex(*next_frame(file)->data), "0a0e0a0c0a017812071a050a0301ac02");
}

TEST(Encoder, EveryKindIsReadBackAsItWas) {
  const Sample sample = make_sample();
  std::string file;
  ASSERT_TRUE(encode(sample.fields, sample.views(), 0, 3, file).ok());
  EXPECT_THAT(read(sample.fields, file), sample.shown);
}

TEST(Encoder, RowsOfTheMiddleOfABufferAreThose) {
  Sample sample = make_sample();
  std::string file;
  ASSERT_TRUE(encode(sample.fields, sample.views(), 1, 2, file).ok());
  EXPECT_THAT(read(sample.fields, file), ElementsAre(sample.shown[1]));
  auto views = sample.views();
  for (ColumnView& view : views) view.row_offset = 2;
  file.clear();
  ASSERT_TRUE(encode(sample.fields, views, 0, 1, file).ok());
  EXPECT_THAT(read(sample.fields, file), ElementsAre(sample.shown[2]));
}

TEST(Encoder, NegativeNumbersTakeTenBytes) {
  const std::vector<Field> fields{{.name = "x", .kind = Kind::kInt64}};
  Column column;
  column.values.integers = {-1, std::numeric_limits<std::int64_t>::min()};
  std::string file;
  ASSERT_TRUE(encode(fields, std::vector{column.view(fields[0])}, 0, 2, file).ok());
  EXPECT_THAT(read(fields, file), ElementsAre("x=-1", "x=-9223372036854775808"));
}

TEST(Encoder, ANullInAnArrayIsRefused) {
  const std::vector<Field> fields{{.name = "x", .kind = Kind::kFloat, .is_list = true}};
  Column column;
  column.values.floats = {1, 2};
  column.list_offsets = {0, 2};
  ColumnView view = column.view(fields[0]);
  const std::vector<std::uint8_t> items{1};
  view.item_validity = items;
  std::string file;
  const auto done = encode(fields, std::vector{view}, 0, 1, file);
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().message,
            "column 'x': an array has a null in it, which a record has no place for");
}

TEST(Encoder, BuffersThatAreTooShortAreRefused) {
  const std::vector<Field> fields{{.name = "x", .kind = Kind::kBytes}};
  Column column;
  column.byte_offsets = {0, 4};
  column.bytes = "abc";
  std::string file;
  EXPECT_FALSE(encode(fields, std::vector{column.view(fields[0])}, 0, 1, file).ok());
  column.bytes = "abcd";
  EXPECT_TRUE(encode(fields, std::vector{column.view(fields[0])}, 0, 1, file).ok());
  EXPECT_FALSE(encode(fields, std::vector{column.view(fields[0])}, 0, 2, file).ok());
  EXPECT_FALSE(encode(fields, {}, 0, 1, file).ok());
}

// The lines of the writer that puts zeros behind them.
std::string written(const ZeroEndedLines::Lines& lines) {
  std::string made;
  for (const auto& [begin, end] : lines.places) {
    made += lines.bytes.substr(begin, end - begin);
    made += '\0';
  }
  return made;
}

TEST(ZeroEndedLines, MakeTheFileWhateverTheirLength) {
  const Sample sample = make_sample();
  for (const std::size_t line_bytes : {1U, 10U, 64U, 1'000U, 100'000U}) {
    for (const std::size_t rows : {1U, 2U, 7U, 500U}) {
      ZeroEndedLines lines(sample.fields);
      std::string file;
      for (std::size_t row = 0; row < rows; ++row) {
        const auto made = lines.add(sample.views(), row % 3, row % 3 + 1, line_bytes);
        ASSERT_TRUE(made.ok());
        file += written(*made);
      }
      const auto last = lines.end(line_bytes);
      ASSERT_TRUE(last.ok()) << last.error().message;
      file += written(*last);
      const auto found = read(sample.fields, file);
      ASSERT_EQ(found.size(), rows);
      for (std::size_t row = 0; row < rows; ++row) EXPECT_EQ(found[row], sample.shown[row % 3]);
    }
  }
}

TEST(ZeroEndedLines, EveryLastRecordCanEndInZero) {
  const std::vector<Field> fields{{.name = "x", .kind = Kind::kInt64}};
  Column column;
  constexpr std::size_t kRows = 500;
  for (std::int64_t value = 0; value < std::int64_t{kRows}; ++value)
    column.values.integers.push_back(value * value);
  for (std::size_t row = 0; row < kRows; ++row) {
    ZeroEndedLines lines(fields);
    std::string file = written(*lines.add(std::vector{column.view(fields[0])}, row, row + 1, 100));
    const auto last = lines.end(100);
    ASSERT_TRUE(last.ok());
    file += written(*last);
    EXPECT_LT(file.size(), 80U);
    EXPECT_EQ(read(fields, file)[0], "x=" + std::to_string(row * row));
  }
}

TEST(ZeroEndedLines, NoRowsAreNoFile) {
  ZeroEndedLines lines({{.name = "x"}});
  EXPECT_TRUE(lines.end(100)->places.empty());
}

}  // namespace
}  // namespace gangrun::records
