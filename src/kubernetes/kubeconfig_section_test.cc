#include "kubernetes/kubeconfig_section.h"

#include <gmock/gmock.h>

#include "kubernetes/test_surroundings_internal.h"

namespace gangrun::kubernetes {
namespace {

Section section(const char* json, const std::string& file = "/k/config") {
  return *Section::make(file, "user \"u\"", base::Json::parse(json));
}

template <typename T>
std::string kubeconfig_section_error(const base::Result<T>& result) {
  EXPECT_FALSE(result.ok());
  if (result.ok()) return "";
  EXPECT_EQ(result.error().code, base::Code::kInvalidArgument);
  return result.error().message;
}

TEST(Section, ReadsFieldsOfTheirTypes) {
  const Section s = section(
      R"({"a": "x", "b": true, "c": ["1", "2"], "d": {"e": "f"}, "g": [{"h": "i"}], "n": null})");
  EXPECT_EQ(*s.text("a"), "x");
  EXPECT_EQ(*s.flag("b"), true);
  EXPECT_THAT(*s.texts("c"), testing::ElementsAre("1", "2"));
  EXPECT_EQ(*s.section("d")->text("e"), "f");
  EXPECT_EQ(*s.sections("g")->at(0).text("h"), "i");
  for (const char* key : {"n", "absent"}) {
    EXPECT_FALSE(s.has(key));
    EXPECT_EQ(*s.text(key), "");
    EXPECT_EQ(*s.flag(key), false);
    EXPECT_TRUE(s.texts(key)->empty());
    EXPECT_TRUE(s.sections(key)->empty());
    EXPECT_EQ(*s.section(key)->text("x"), "");
  }
}

TEST(Section, SaysWhereAWrongFieldStandsAndShowsNoValue) {
  const Section s =
      section(R"({"token": 123456, "b": "secret", "l": "a\nsecret", "c": [5], "d": []})");
  EXPECT_EQ(kubeconfig_section_error(s.text("token")),
            "/k/config: user \"u\": token must be a text (in quotes where it is a number)");
  EXPECT_EQ(kubeconfig_section_error(s.flag("b")),
            "/k/config: user \"u\": b must be true or false");
  EXPECT_EQ(kubeconfig_section_error(s.line("l")),
            "/k/config: user \"u\": l must be one line without control characters");
  EXPECT_EQ(kubeconfig_section_error(s.texts("c")),
            "/k/config: user \"u\": c must be a list of texts (in quotes where they are numbers)");
  EXPECT_EQ(kubeconfig_section_error(s.section("d")), "/k/config: user \"u\": d: must be a map");
  EXPECT_EQ(kubeconfig_section_error(s.sections("b")), "/k/config: user \"u\": b must be a list");
  EXPECT_EQ(kubeconfig_section_error(s.sections("c")),
            "/k/config: user \"u\": c must be a list of maps");
}

TEST(Section, TakesDataBeforeAFileNextToTheKubeconfig) {
  const auto machine =
      test_surroundings({{"/k/ca.crt", "file"}, {"/ca.crt", "root"}, {"own", "o"}});
  EXPECT_EQ(*section(R"({"ca-data": "ZGF0\nYQ==", "ca": "x"})").bytes("ca", machine), "data");
  EXPECT_EQ(*section(R"({"ca": "ca.crt"})").bytes("ca", machine), "file");
  EXPECT_EQ(*section(R"({"ca": "/ca.crt"})").bytes("ca", machine), "root");
  EXPECT_EQ(*section(R"({"ca": "own"})", "config").bytes("ca", machine), "o");
  EXPECT_EQ(*section("{}").bytes("ca", machine), "");
  EXPECT_EQ(kubeconfig_section_error(section(R"({"ca-data": "?"})").bytes("ca", machine)),
            "/k/config: user \"u\": ca-data must be base64");
  EXPECT_EQ(kubeconfig_section_error(section(R"({"ca": "gone"})").bytes("ca", machine)),
            "/k/config: user \"u\": ca cannot be used: no file /k/gone");
}

TEST(Shown, IsOneShortLineInQuotes) {
  EXPECT_EQ(shown("a\n\"b"), R"("a\n\"b")");
  EXPECT_LT(shown(std::string(1000, 'x')).size(), 110U);
}

}  // namespace
}  // namespace gangrun::kubernetes
