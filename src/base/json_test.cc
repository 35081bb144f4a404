#include "base/json.h"

#include <gmock/gmock.h>

namespace gangrun::base {
namespace {

constexpr std::size_t kLimit = 1 << 20;

TEST(ParseJson, KeepsTheOrderOfKeys) {
  const auto json = parse_json(R"( {"b": 1, "a": [true, null]} )", kLimit);
  ASSERT_TRUE(json.ok()) << json.error().message;
  EXPECT_EQ(dump_json(*json), R"({"b":1,"a":[true,null]})");
}

TEST(ParseJson, RefusesWithAnErrorAndNeverThrows) {
  for (const char* text :
       {"", "{", "[1,]", "nul", "\"\xff\"", "{} {}", "{\"a\" 1}", "NaN", "\"\\ud800\"", "'a'"}) {
    const auto json = parse_json(text, kLimit);
    ASSERT_FALSE(json.ok()) << text;
    EXPECT_EQ(json.error().code, Code::kInvalidArgument);
    EXPECT_THAT(json.error().message, testing::StartsWith("not JSON: "));
  }
}

TEST(ParseJson, LimitsLengthAndDepthBeforeParsing) {
  const auto large = parse_json(std::string(100, ' '), 99);
  ASSERT_FALSE(large.ok());
  EXPECT_EQ(large.error().code, Code::kResourceExhausted);
  EXPECT_EQ(large.error().message, "JSON of 100 bytes is over the limit of 99");
  const std::string deepest = std::string(kMaxJsonDepth, '[') + std::string(kMaxJsonDepth, ']');
  EXPECT_TRUE(parse_json(deepest, kLimit).ok());
  EXPECT_FALSE(parse_json('[' + deepest + ']', kLimit).ok());
  EXPECT_FALSE(parse_json(std::string(kLimit, '['), kLimit).ok());
  // Brackets in a string are no depth, whatever is escaped in it.
  EXPECT_TRUE(parse_json("\"\\\"" + std::string(200, '[') + "\"", kLimit).ok());
}

TEST(DumpJson, WritesBytesThatAreNotUtf8AsPythonDoes) {
  EXPECT_EQ(dump_json(Json("a\xff\"ü")), R"("a\udcff\"ü")");
  EXPECT_EQ(dump_json(Json{{"\x80", {1, "\xc3"}}}), R"({"\udc80":[1,"\udcc3"]})");
  EXPECT_EQ(dump_json_indented(Json{{"a", 1}}), "{\n  \"a\": 1\n}");
  EXPECT_EQ(dump_json_indented(Json{{"a", "\xff"}}), "{\n  \"a\": \"\\udcff\"\n}");
}

TEST(DumpJson, AnyBytesComeBackExactly) {
  std::string all;
  for (int byte = 1; byte < 256; ++byte) all += static_cast<char>(byte);
  // A cut character, one that is too long, half of a pair, and what the way through it is made of.
  for (const std::string& text :
       {all, std::string("/a\xff/b"), std::string("\xe2\x82"), std::string("\xc0\xaf"),
        std::string("\xed\xb3\xbf"), std::string("\U0010FFFFff\xff"),
        std::string("\U0010FFFF--\U0010FFFF\xfe"), std::string("\\udcff\xff"),
        std::string("\xF0\x9F\x98\x80\xff")}) {
    const Json json = {{text, {text, {{"n", -1.5}, {"b", true}, {"l", Json::array()}}}}};
    for (const std::string& dumped : {dump_json(json), dump_json_indented(json)}) {
      EXPECT_TRUE(Json::accept(dump_json(Json(dumped))));
      const auto back = parse_json(dumped, kLimit);
      ASSERT_TRUE(back.ok()) << back.error().message << dumped;
      EXPECT_EQ(*back, json) << dumped;
    }
  }
}

TEST(AppendJson, WritesATextAsDumpJsonDoes) {
  for (const char* text :
       {"", "h-0.example:8", "a\"b", "a\\b", "a\nb", "\x7f", "Zürich", "\xff", "[fd00::5]:1"}) {
    std::string out = "[";
    append_json(out, text);
    EXPECT_EQ(out, "[" + dump_json(text));
  }
}

TEST(ParseJson, TakesEscapedBytesBesideEscapedCharacters) {
  const auto json = parse_json(
      R"(["\uDCFF\udc80", "\ud83d\ude00\udcff", "\udbff\udfffff", "\\udcff", "\u00e9\udcfe"])",
      kLimit);
  ASSERT_TRUE(json.ok()) << json.error().message;
  EXPECT_EQ(*json, Json({"\xff\x80", "\xF0\x9F\x98\x80\xff", "\U0010FFFFff", "\\udcff", "é\xfe"}));
  // No byte that UTF-8 could have is hidden so, and no half of a character stands for one.
  for (const char* text : {R"("\udc2f")", R"("\udc7f")", R"("\udd00")", R"("\udcff\ud800")",
                           R"("\udcf")", R"("\udcff)", R"("\udcff" x)"}) {
    EXPECT_FALSE(parse_json(text, kLimit).ok()) << text;
  }
}

TEST(JsonMember, GivesTheValueInItsTypeOnly) {
  const Json json = Json::parse(
      R"({"s": "x", "b": true, "i": -3, "u": 18446744073709551615, "f": 1.5, "l": ["a", "b"]})");
  EXPECT_EQ(json_member<std::string>(json, "s").value_or(""), "x");
  EXPECT_TRUE(json_member<bool>(json, "b").value_or(false));
  EXPECT_EQ(json_member<int>(json, "i").value_or(0), -3);
  EXPECT_EQ(json_member<std::uint64_t>(json, "u").value_or(0), 18446744073709551615U);
  EXPECT_EQ(json_member<double>(json, "i").value_or(0), -3.0);
  EXPECT_THAT(*json_member<std::vector<std::string>>(json, "l"), testing::ElementsAre("a", "b"));
  EXPECT_FALSE(json_member<int>(json, "b").ok());
  EXPECT_FALSE(json_member<int>(json, "f").ok());
  EXPECT_FALSE(json_member<std::int64_t>(json, "u").ok());
  EXPECT_FALSE(json_member<std::uint16_t>(json, "i").ok());
  EXPECT_FALSE(json_member<bool>(json, "i").ok());
  EXPECT_FALSE(json_member<std::string>(json, "l").ok());
  EXPECT_FALSE(json_member<std::vector<int>>(json, "l").ok());
}

TEST(JsonMember, ErrorsNameTheKeyAndTheType) {
  const Json json = Json::parse(R"({"n": "x", "big": 70000})");
  EXPECT_EQ(json_member<int>(json, "n").error().message, "\"n\" must be a whole number in range");
  EXPECT_EQ(json_member<std::uint16_t>(json, "big").error().message,
            "\"big\" must be a whole number in range");
  EXPECT_EQ(json_member<int>(json, "m").error().message, "\"m\" is missing");
  EXPECT_EQ(json_member<int>(Json(3), "m").error().message, "expected an object with \"m\"");
}

TEST(JsonMemberOr, FallsBackWhereAbsentOrNullButNotWhereWrong) {
  const Json json = Json::parse(R"({"null": null, "n": 3, "s": "x"})");
  EXPECT_EQ(json_member_or<int>(json, "absent", 7).value_or(0), 7);
  EXPECT_EQ(json_member_or<int>(json, "null", 7).value_or(0), 7);
  EXPECT_EQ(json_member_or<int>(json, "n", 7).value_or(0), 3);
  EXPECT_FALSE(json_member_or<int>(json, "s", 7).ok());
  EXPECT_FALSE(json_member_or<int>(Json::array(), "s", 7).ok());
}

}  // namespace
}  // namespace gangrun::base
