#include "hadoop/variable_integer.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace gangrun::hadoop {
namespace {

std::string encoded(std::int64_t value) {
  std::string out;
  append_variable_integer(out, value);
  return out;
}

TEST(VariableInteger, IsWrittenAsHadoopDoes) {
  EXPECT_EQ(encoded(0), std::string(1, '\0'));
  EXPECT_EQ(encoded(127), "\x7f");
  EXPECT_EQ(encoded(-112), "\x90");
  EXPECT_EQ(encoded(128), "\x8f\x80");
  EXPECT_EQ(encoded(300), "\x8e\x01\x2c");
  EXPECT_EQ(encoded(-113), "\x87\x70");
  EXPECT_EQ(encoded(-300), "\x86\x01\x2b");
}

TEST(VariableInteger, EveryLengthIsReadAsItWasWrittenAndNotBefore) {
  std::vector<std::int64_t> values{0, std::numeric_limits<std::int64_t>::min(),
                                   std::numeric_limits<std::int64_t>::max()};
  for (unsigned bit = 0; bit < 63; ++bit) {
    const std::int64_t power = std::int64_t{1} << bit;
    values.insert(values.end(), {power, power - 1, -power, -power - 1});
  }
  for (const std::int64_t value : values) {
    const std::string bytes = encoded(value) + "x";
    std::string_view rest(bytes);
    EXPECT_EQ(take_variable_integer(rest), value);
    EXPECT_EQ(rest, "x");
    for (std::size_t length = 0; length + 1 < bytes.size(); ++length) {
      std::string_view cut = std::string_view(bytes).substr(0, length);
      EXPECT_EQ(take_variable_integer(cut), std::nullopt) << value;
    }
  }
}

}  // namespace
}  // namespace gangrun::hadoop
