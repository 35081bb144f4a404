#include "job/figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace gangrun::job {
namespace {

using testing::HasSubstr;

base::Result<Figures> read(const std::string& text) {
  auto json = base::parse_json(text, kMaxFiguresBytes);
  if (!json.ok()) return json.error();
  return figures_from_json(*json);
}

TEST(Figures, ComeBackAsTheyWere) {
  const Figures figures = {{"step", Figure(std::int64_t{1200})},
                           {"loss", Figure(0.25)},
                           {"phase", Figure(std::string("warm-up"))}};
  const auto back = figures_from_json(to_json(figures));
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(*back, figures);
  EXPECT_EQ(to_words(figures), "loss=0.25 phase=warm-up step=1200");
}

TEST(Figures, WhatJsonHasNotIsNoNumber) {
  const Figures figures = {{"loss", Figure(std::nan(""))}};
  EXPECT_EQ(base::dump_json(to_json(figures)), R"({"loss":null})");
  const auto back = read(R"({"loss":null})");
  ASSERT_TRUE(back.ok());
  EXPECT_TRUE(std::isnan(std::get<double>(back->at("loss"))));
}

TEST(Figures, WhatIsNotAllowedIsNamed) {
  EXPECT_THAT(read("[]").error().message, HasSubstr("object"));
  EXPECT_THAT(read(R"({"a":[1]})").error().message, HasSubstr("figure 'a' must be a number"));
  EXPECT_THAT(read(R"({"":1})").error().message, HasSubstr("1 to 64 bytes"));
  EXPECT_FALSE(read(R"({"a":")" + std::string(kMaxFigureTextBytes + 1, 'x') + R"("})").ok());
  std::string many = "{";
  for (std::size_t i = 0; i <= kMaxFigures; ++i) many += "\"f" + std::to_string(i) + "\":1,";
  many.back() = '}';
  EXPECT_THAT(read(many).error().message, HasSubstr("65 figures; at most 64"));
}

TEST(Figures, ATextIsAlwaysUtf8) {
  EXPECT_EQ(std::get<std::string>(read(R"({"file":"a\udcff"})")->at("file")), "a\uFFFD");
}

TEST(Figures, ALargeWholeNumberIsANumber) {
  const auto read_back = read(R"({"bytes":18446744073709551615})");
  ASSERT_TRUE(read_back.ok());
  EXPECT_DOUBLE_EQ(std::get<double>(read_back->at("bytes")), 18446744073709551615.0);
}

}  // namespace
}  // namespace gangrun::job
