#include "base/json_reader.h"

#include <gmock/gmock.h>

#include "base/format.h"

namespace gangrun::base {
namespace {

std::string read(std::string_view text, std::size_t max_values = kMaxJsonValues,
                 const LeavesOut& leaves_out = nullptr) {
  const auto read = read_json(text, max_values, leaves_out);
  return read.ok() ? dump_json(read->document) : read.error().message;
}

TEST(ReadJson, MakesTheSameAsTheLibrary) {
  for (const std::string text :
       {R"({"b":1,"a":[true,null,[],{}],"c":{"d":-1.5,"e":"x\ny"}})", "[]", "{}", "7", "\"a\"",
        "[[[1],2],{\"a\":{\"a\":{}}},3]", "18446744073709551615", "1e3"}) {
    const auto read = read_json(text);
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(read->document, Json::parse(text)) << text;
  }
}

// The library's words were told ("[json.exception.parse_error.101] …").
TEST(ReadJson, SaysInPlainWordsWhereATextIsWrong) {
  const std::pair<const char*, const char*> table[] = {
      {"", "it is empty"},
      {" \n", "it is empty"},
      {"{", "it ends too early"},
      {"{\n \"a\": \"b", "it ends too early"},
      {"[1,]", "it cannot be read at line 1, column 4"},
      {"{} {}", "it cannot be read at line 1, column 4"},
      {"{\n \"a\": 1,\n  b: 2}", "it cannot be read at line 3, column 3"},
      {"hello", "it cannot be read at line 1, column 1"},
      {"\"\xff\"", "it cannot be read at line 1, column 2"}};
  for (const auto& [text, told] : table) {
    const auto read = read_json(text);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.error().code, Code::kInvalidArgument);
    EXPECT_EQ(read.error().message, format("not JSON: {}", told)) << text;
  }
  EXPECT_THAT(read("1e999"), testing::StartsWith("not JSON: it cannot be read at line 1, column "));
}

TEST(ReadJson, OfMembersWithOneNameTheLastOneCounts) {
  EXPECT_EQ(read(R"({"a":1,"b":{"c":1},"a":[2],"b":3})"), R"({"a":[2],"b":3})");
  // As in an object of so many members that they have an index.
  std::string text = "{";
  for (int i = 0; i < 100; ++i) text += format("\"k{}\":{},", i, i);
  const auto many = read_json(text + R"("k3":"x","k99":{"a":1},"new":0})");
  ASSERT_TRUE(many.ok()) << many.error().message;
  EXPECT_EQ(many->document.size(), 101U);
  EXPECT_EQ(many->document["k3"], "x");
  EXPECT_EQ(many->document["k99"]["a"], 1);
  EXPECT_EQ(many->document["k98"], 98);
}

TEST(ReadJson, LeavesOutWhatItIsTold) {
  const auto leaves_out = [](int depth, std::string_view key) { return depth == 2 && key == "x"; };
  EXPECT_EQ(read(R"({"x":{"x":{"x":[1,{"x":2}]},"a":1,"x":7},"b":[{"x":[3],"c":4}]})",
                 kMaxJsonValues, leaves_out),
            R"({"x":{"a":1},"b":[{"x":[3],"c":4}]})");
  // It is not counted, but no deeper than the rest.
  EXPECT_EQ(read(R"({"a":{"x":[1,2,3,4,5,6,7,8,9]}})", 2, leaves_out), R"({"a":{}})");
  const std::string deep = std::string(kMaxJsonDepth, '[') + std::string(kMaxJsonDepth, ']');
  EXPECT_EQ(read(R"({"a":{"x":)" + deep + "}}", 2, leaves_out), "JSON nests deeper than 64 levels");
}

TEST(ReadJson, LimitsValues) {
  EXPECT_EQ(read("[1,[2,{\"a\":3}]]", 6), "[1,[2,{\"a\":3}]]");
  EXPECT_EQ(read("[1,[2,{\"a\":3}]]", 5), "JSON with more than the 5 values that are allowed");
  const auto counted = read_json("[1,[2,{\"a\":3}]]");
  EXPECT_EQ(counted.ok() ? counted->values : 0, 6U);
  const auto refused = read_json("[1,2]", 2);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kResourceExhausted);
}

// The library's reader takes most of a minute for each of these.
TEST(ReadJson, ManySmallValuesTakeNoLongerThanTheirText) {
  constexpr std::size_t kMany = 100'000;
  std::string list = "[";
  std::string object = "{";
  for (std::size_t i = 0; i < kMany; ++i) {
    list += "{},";
    object += format("\"{}\":0,", i);
  }
  const auto listed = read_json(list + "{}]", kMaxJsonValues, [](int, auto) { return false; });
  ASSERT_TRUE(listed.ok()) << listed.error().message;
  EXPECT_EQ(listed->document.size(), kMany + 1);
  const auto members = read_json(object + "\"0\":1}");
  ASSERT_TRUE(members.ok()) << members.error().message;
  EXPECT_EQ(members->document.size(), kMany);
}

}  // namespace
}  // namespace gangrun::base
