#include "agent/figures_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/files.h"

namespace gangrun::agent {
namespace {

class FiguresFileTest : public testing::Test {
 protected:
  ~FiguresFileTest() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& text) {
    ASSERT_TRUE(base::write_file_atomically(file_.path(), text, 0600).ok());
  }

  static std::string make_folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "figures-XXXXXX").string();
    return ::mkdtemp(pattern.data());
  }

  const std::string folder_ = make_folder();
  FiguresFile file_{folder_ + "/figures.json"};
};

TEST_F(FiguresFileTest, EachContentIsToldOnce) {
  EXPECT_FALSE(file_.changed()->has_value());
  write(R"({"step":1})");
  EXPECT_EQ(file_.changed()->value(), (job::Figures{{"step", job::Figure(std::int64_t{1})}}));
  EXPECT_FALSE(file_.changed()->has_value());
  write(R"({"step":2})");
  EXPECT_EQ(file_.changed()->value(), (job::Figures{{"step", job::Figure(std::int64_t{2})}}));
  file_.forget();
  EXPECT_TRUE(file_.changed()->has_value());
}

TEST_F(FiguresFileTest, WhatIsWrongIsToldOnce) {
  write(R"({"step":[1]})");
  EXPECT_THAT(file_.changed().error().message, testing::HasSubstr("figure 'step'"));
  EXPECT_TRUE(file_.changed().ok());
  write("no JSON");
  EXPECT_FALSE(file_.changed().ok());
  write(std::string(job::kMaxFiguresBytes + 1, ' '));
  EXPECT_FALSE(file_.changed().ok());
}

TEST_F(FiguresFileTest, AnEarlierRunsFiguresAreGone) {
  write(R"({"step":1})");
  file_.begin_run();
  EXPECT_FALSE(file_.changed()->has_value());
}

}  // namespace
}  // namespace gangrun::agent
