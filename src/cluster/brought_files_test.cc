#include "cluster/brought_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/files.h"

namespace gangrun::cluster {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class BroughtFilesTest : public testing::Test {
 protected:
  BroughtFilesTest() { fs::create_directories(top_ / "outside"); }
  ~BroughtFilesTest() override { fs::remove_all(top_); }

  [[nodiscard]] std::string content(const std::string& name) const {
    return base::read_file((top_ / "gpu1" / name).string(), 64).value_or("not there");
  }

  const fs::path top_ =
      fs::path(testing::TempDir()) /
      ("brought-files-" +
       std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
  BroughtFiles outputs_{(top_ / "gpu1").string(), 20};
};

TEST_F(BroughtFilesTest, FilesComeWithTheirFoldersInPlaceOfOlderOnes) {
  for (const char* text : {"first", "later"}) {
    ASSERT_TRUE(outputs_.begin({"model/deep/weights", 5, false, ""}).ok());
    ASSERT_TRUE(outputs_.add(std::string_view(text).substr(0, 2)).ok());
    ASSERT_TRUE(outputs_.add(std::string_view(text).substr(2)).ok());
    EXPECT_EQ(content("model/deep/weights"), text);
  }
  ASSERT_TRUE(outputs_.begin({"run.sh", 0, true, ""}).ok());
  EXPECT_EQ(fs::status(top_ / "gpu1/run.sh").permissions() & fs::perms::owner_exec,
            fs::perms::owner_exec);
  ASSERT_TRUE(outputs_.begin({"model/best", 0, false, "deep"}).ok());
  EXPECT_EQ(content("model/best/weights"), "later");
  EXPECT_EQ(outputs_.files(), 4U);
  EXPECT_EQ(outputs_.bytes(), 10U);
}

TEST_F(BroughtFilesTest, WhatHasNotComeWholeIsNotThere) {
  ASSERT_TRUE(outputs_.begin({"weights", 5, false, ""}).ok());
  ASSERT_TRUE(outputs_.add("123").ok());
  EXPECT_EQ(content("weights"), "not there");
  outputs_.drop();
  EXPECT_TRUE(fs::is_empty(top_ / "gpu1"));
  EXPECT_EQ(outputs_.files(), 0U);
  EXPECT_FALSE(outputs_.add("45").ok());
}

TEST_F(BroughtFilesTest, NothingOutsideTheFolderIsTouched) {
  for (const char* name : {"../outside/x", "/etc/x", "", "a//b", "a/./b", "a/"}) {
    EXPECT_THAT(outputs_.begin({name, 1, false, ""}).error().message,
                HasSubstr("is no file of a folder"))
        << name;
  }
  // Links that lead out have no meaning here; nothing is written through those that do not.
  for (const char* target : {"../outside", "/etc", "deep/../../outside", "deep/.."}) {
    ASSERT_TRUE(outputs_.begin({"out", 0, false, target}).ok()) << target;
    EXPECT_FALSE(fs::exists(fs::symlink_status(top_ / "gpu1/out"))) << target;
  }
  ASSERT_TRUE(outputs_.begin({"deep/up", 0, false, "../deep"}).ok());
  EXPECT_FALSE(outputs_.begin({"deep/up/x", 1, false, ""}).ok());
  fs::create_symlink(top_ / "outside", top_ / "gpu1/planted");
  EXPECT_FALSE(outputs_.begin({"planted/x", 1, false, ""}).ok());
  EXPECT_TRUE(fs::is_empty(top_ / "outside"));
}

TEST_F(BroughtFilesTest, NoMoreComesThanWasAskedFor) {
  EXPECT_THAT(outputs_.begin({"big", 21, false, ""}).error().message,
              HasSubstr("'big' is more than was asked for"));
  ASSERT_TRUE(outputs_.begin({"a", 2, false, ""}).ok());
  EXPECT_FALSE(outputs_.add("123").ok());
  EXPECT_FALSE(outputs_.begin({"b", 1, false, ""}).ok()) << "another one has not come whole";
}

}  // namespace
}  // namespace gangrun::cluster
