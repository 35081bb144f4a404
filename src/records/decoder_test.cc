#include "records/decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "base/format.h"
#include "records/encoder.h"
#include "records/framing.h"
#include "records/test_rows.h"

namespace gangrun::records {
namespace {

using testing::ElementsAre;

std::string framed(std::string_view example) {
  std::string file;
  append_frame(file, example);
  return file;
}

// A file of one example with one feature, called x.
std::string file_of(const std::string& feature) {
  return framed(field_of(1, entry_of("x", feature)));
}

const std::string kIntegers = field_of(3, field_of(1, "\x01\xac\x02"));  // 1 and 300

// The examples of one file as rows, or the error.
std::string rows_of(const std::vector<Field>& fields, const std::string& file,
                    bool ignores_others = false) {
  Decoder decoder(fields, {.file = "part-0", .ignores_others = ignores_others});
  const auto taken = decoder.take(file);
  if (!taken.ok()) return taken.error().message;
  const auto ended = decoder.end(std::string_view(file).substr(*taken));
  if (!ended.ok()) return ended.error().message;
  const std::size_t rows = decoder.rows();
  return base::format("{}", base::join(shown(fields, decoder.take_batch(), rows), "; "));
}

const Field kX{.name = "x", .kind = Kind::kInt64, .is_list = true};
const Field kOneX{.name = "x", .kind = Kind::kInt64};

TEST(Decoder, ReadsAFileInPartsOfAnySize) {
  const Sample sample = make_sample();
  std::string file;
  ASSERT_TRUE(encode(sample.fields, sample.views(), 0, 3, file).ok());
  for (std::size_t part = 1; part <= file.size(); ++part) {
    Decoder decoder(sample.fields, {.file = "part-0"});
    std::string held;
    for (std::size_t at = 0; at < file.size(); at += part) {
      held += file.substr(at, part);
      const auto taken = decoder.take(held);
      ASSERT_TRUE(taken.ok()) << taken.error().message;
      held.erase(0, *taken);
      EXPECT_TRUE(held.empty() || decoder.wanted() > held.size()) << at;
    }
    EXPECT_TRUE(decoder.end(held).ok());
    EXPECT_EQ(shown(sample.fields, decoder.take_batch(), 3), sample.shown) << part;
  }
}

TEST(Decoder, ABatchHasItsLimits) {
  const std::string file = file_of(kIntegers);
  Decoder decoder({kX}, {.file = "part-0", .max_rows = 2});
  EXPECT_EQ(*decoder.take(file + file + file), 2 * file.size());
  EXPECT_TRUE(decoder.is_full());
  EXPECT_THAT(shown({kX}, decoder.take_batch(), 2), ElementsAre("x=[1,300]", "x=[1,300]"));
  EXPECT_EQ(*decoder.take(file), file.size());
  EXPECT_THAT(shown({kX}, decoder.take_batch(), 1), ElementsAre("x=[1,300]"));
  Decoder small({kX}, {.file = "part-0", .max_bytes = 1});
  EXPECT_EQ(*small.take(file + file), file.size());
}

TEST(Decoder, NumbersMayStandAloneOrTogether) {
  const std::string zero("\x08\0", 2);
  EXPECT_EQ(rows_of({kX}, file_of(field_of(3, "\x08\x01" + field_of(1, "\x02\x03") + zero))),
            "x=[1,2,3,0]");
  const Field floats{.name = "x", .kind = Kind::kFloat, .is_list = true};
  const std::string one("\0\0\x80\x3f", 4);
  EXPECT_EQ(rows_of({floats}, file_of(field_of(2, "\x0d" + one + field_of(1, one + one)))),
            "x=[1,1,1]");
}

TEST(Decoder, WhatIsNotThereIsNull) {
  const Field text{.name = "x", .kind = Kind::kBytes, .is_text = true};
  const std::string no_kind = file_of("");
  const std::string no_value = file_of(field_of(3, ""));
  for (const std::string& file : {framed(""), framed(field_of(1, "")), no_kind, no_value}) {
    EXPECT_EQ(rows_of({kOneX}, file), "x=null");
    EXPECT_EQ(rows_of({text}, file), "x=null");
  }
  EXPECT_EQ(rows_of({kX}, no_kind), "x=null");
  EXPECT_EQ(rows_of({kX}, no_value), "x=[]");
}

TEST(Decoder, TheLastOfANameCountsAndOfKindsToo) {
  const std::string one = field_of(3, field_of(1, "\x01"));
  const std::string two = field_of(3, field_of(1, "\x02"));
  EXPECT_EQ(
      rows_of({kX}, framed(field_of(1, entry_of("x", one)) + field_of(1, entry_of("x", two)))),
      "x=[2]");
  EXPECT_EQ(rows_of({kX}, file_of(one + field_of(2, "") + two)), "x=[2]");
  EXPECT_EQ(rows_of({kX}, file_of(one + two)), "x=[1,2]");
}

TEST(Decoder, UnknownFieldsAreNoMatter) {
  const std::string four(4, 'x');
  for (const std::string& other :
       {std::string("\x78\x01"), "\x7d" + four, "\x79" + four + four, field_of(15, "abc")}) {
    const std::string list = other + field_of(1, "\x05") + other;
    const std::string feature = other + field_of(3, list) + other;
    const std::string entry = other + field_of(1, "x") + other + field_of(2, feature) + other;
    const std::string features = other + field_of(1, entry) + other;
    EXPECT_EQ(rows_of({kX}, framed(other + field_of(1, features) + other)), "x=[5]");
  }
}

TEST(Decoder, DamageIsToldWithItsPlace) {
  const std::string good = file_of(kIntegers);
  EXPECT_EQ(good.size(), 32U);
  EXPECT_EQ(
      rows_of({kX}, good + good.substr(0, 5)),
      "part-0: record 1, at byte 32: the file is truncated: 5 of at least 12 bytes are there");
  EXPECT_EQ(rows_of({kX}, good + good.substr(0, 20)),
            "part-0: record 1, at byte 32: the file is truncated: 20 of 32 bytes are there");
  std::string bad = good + good;
  bad[40] = '?';
  EXPECT_EQ(rows_of({kX}, bad), "part-0: record 1, at byte 32: the CRC of the length is wrong");
  bad = good + good;
  bad[50] = '?';
  EXPECT_EQ(rows_of({kX}, bad), "part-0: record 1, at byte 32: the CRC of the data is wrong");
  EXPECT_EQ(rows_of({kX}, framed("\xff")),
            "part-0: record 0, at byte 0: no message Example: its bytes cannot be read");
}

TEST(Decoder, NoPartOfAnExampleIsOne) {
  const std::string example = field_of(1, entry_of("x", kIntegers));
  for (std::size_t size = 1; size < example.size(); ++size) {
    EXPECT_EQ(rows_of({kX}, framed(example.substr(0, size))),
              "part-0: record 0, at byte 0: no message Example: its bytes cannot be read");
  }
}

TEST(Decoder, WhatIsNoMessageInsideIsToldByItsLevel) {
  EXPECT_NE(rows_of({kX}, framed(field_of(1, "\xff"))).find("features"), std::string::npos);
  EXPECT_NE(rows_of({kX}, framed(field_of(1, field_of(1, "\xff")))).find("feature"),
            std::string::npos);
  EXPECT_NE(rows_of({kX}, file_of("\xff")).find("values"), std::string::npos);
  EXPECT_NE(rows_of({kX}, file_of(field_of(3, "\xff"))).find("list"), std::string::npos);
  EXPECT_NE(rows_of({kX}, file_of(field_of(3, field_of(1, "\xff")))).find("list"),
            std::string::npos);
  EXPECT_NE(rows_of({kX}, file_of(field_of(2, field_of(1, "123")))).find("list"),
            std::string::npos);
}

TEST(Decoder, AnotherTypeThanTheColumnsIsAnError) {
  const std::string file = file_of(kIntegers);
  const std::string place = "part-0: record 0, at byte 0: feature 'x' ";
  EXPECT_EQ(rows_of({{.name = "x", .kind = Kind::kFloat}}, file),
            place + "has int64 values; its column is of float");
  EXPECT_EQ(rows_of({{.name = "x", .kind = Kind::kBytes, .is_list = true, .is_text = true}}, file),
            place + "has int64 values; its column is of lists of text");
  EXPECT_EQ(rows_of({kOneX}, file), place + "has 2 values; its column is of int64");
  EXPECT_EQ(rows_of({{.name = "x", .kind = Kind::kBytes, .is_text = true}},
                    file_of(field_of(1, field_of(1, "\xff")))),
            place + "is not UTF-8; its column is of text");
}

TEST(Decoder, AFeatureWithoutAColumnIsAnErrorUnlessItMayBe) {
  const std::string file = file_of(kIntegers);
  EXPECT_EQ(rows_of({{.name = "y"}}, file),
            "part-0: record 0, at byte 0: feature 'x' has no column");
  EXPECT_EQ(rows_of({{.name = "y"}}, file, true), "y=null");
}

}  // namespace
}  // namespace gangrun::records
