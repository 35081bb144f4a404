#include "cluster/brought_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

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

  // Nothing is left beside the folder.
  [[nodiscard]] bool is_tidy() const {
    return std::distance(fs::directory_iterator(top_), fs::directory_iterator()) == 2;
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
  EXPECT_EQ(outputs_.bytes(), 0U) << "it counted what was there of a file that was not";
  EXPECT_EQ(outputs_.of_last(), 3U);
  outputs_.drop();
  EXPECT_TRUE(fs::is_empty(top_ / "gpu1"));
  EXPECT_TRUE(is_tidy());
  EXPECT_EQ(outputs_.files(), 0U);
  EXPECT_FALSE(outputs_.add("45").ok());
}

TEST_F(BroughtFilesTest, NothingOutsideTheFolderIsTouched) {
  for (const char* name : {"../outside/x", "/etc/x", "", "a//b", "a/./b", "a/"}) {
    EXPECT_THAT(outputs_.begin({name, 1, false, ""}).error().message,
                HasSubstr("is no file of a folder"))
        << name;
  }
  // Nothing is written through links that do not lead out.
  for (const char* target : {"../outside", "/etc", "deep/../../outside", "deep/.."}) {
    EXPECT_THAT(outputs_.begin({"out", 0, false, target}).error().message,
                HasSubstr("is a link that leads out of its folder"))
        << target;
    EXPECT_FALSE(fs::exists(fs::symlink_status(top_ / "gpu1/out"))) << target;
  }
  ASSERT_TRUE(outputs_.begin({"deep/up", 0, false, "../deep"}).ok());
  fs::create_symlink(top_ / "outside", top_ / "gpu1/planted");
  for (const char* name : {"deep/up/x", "planted/x"}) {
    ASSERT_TRUE(outputs_.begin({name, 1, false, ""}).ok());
    ASSERT_TRUE(outputs_.add("1").ok());
    EXPECT_THAT(outputs_.skipped_words(), HasSubstr(name));
  }
  EXPECT_TRUE(fs::is_empty(top_ / "outside"));
}

// A name of 250 bytes stopped all files, and "w.gangrun-part" beside "w" was lost.
TEST_F(BroughtFilesTest, TheNamesOfFilesMayBeAsLongAsNamesCanBeAndEndAsTheyLike) {
  const std::vector<std::string> names = {std::string(255, 'n'), "w.gangrun-part", "w"};
  for (const std::string& name : names) {
    ASSERT_TRUE(outputs_.begin({name, 2, false, ""}).ok());
    ASSERT_TRUE(outputs_.add("12").ok());
  }
  for (const std::string& name : names) EXPECT_EQ(content(name), "12") << name;
  EXPECT_EQ(outputs_.files(), 3U);
  EXPECT_EQ(outputs_.skipped_words(), "");
  EXPECT_TRUE(is_tidy());
}

TEST_F(BroughtFilesTest, AFileThatHasNoPlaceHereDoesNotStopTheOthers) {
  fs::create_directories(top_ / "gpu1/model/deep");
  for (const std::string& name : {std::string(256, 'n'), std::string("model"), std::string("w")}) {
    ASSERT_TRUE(outputs_.begin({name, 2, false, ""}).ok());
    ASSERT_TRUE(outputs_.add("1").ok());
    ASSERT_TRUE(outputs_.add("2").ok());
  }
  ASSERT_TRUE(outputs_.begin({"w/inside", 0, false, "model"}).ok());
  EXPECT_EQ(content("w"), "12");
  EXPECT_EQ(outputs_.files(), 1U);
  EXPECT_EQ(outputs_.bytes(), 2U);
  EXPECT_THAT(outputs_.skipped_words(),
              testing::AllOf(HasSubstr("(File name too long), \"model\" (Is a directory)"),
                             HasSubstr("\"w/inside\" (Not a directory)")));
  EXPECT_TRUE(is_tidy());
}

// A host could send files without a place, and never stop.
TEST_F(BroughtFilesTest, WhatIsSkippedCountsToo) {
  fs::create_directories(top_ / "gpu1/model/deep");
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(outputs_.begin({"model", 10, false, ""}).ok());
    ASSERT_TRUE(outputs_.add("0123456789").ok());
  }
  EXPECT_THAT(outputs_.begin({"model", 1, false, ""}).error().message,
              HasSubstr("'model' is more than was requested"));
  BroughtFiles all((top_ / "gpu1").string(), 0);
  std::ofstream(top_ / "gpu1/w").close();
  ASSERT_TRUE(all.begin({"w/inside", kMaxSkippedBytes - 1, false, ""}).ok());
  all.drop();
  EXPECT_THAT(all.begin({"w/inside", 2, false, ""}).error().message,
              HasSubstr("have more than 16 GiB"));
  EXPECT_TRUE(is_tidy());
}

TEST_F(BroughtFilesTest, EmptyFoldersCome) {
  ASSERT_TRUE(outputs_.begin({.name = "runs/first", .is_folder = true}).ok());
  EXPECT_TRUE(fs::is_directory(top_ / "gpu1/runs/first"));
  EXPECT_EQ(outputs_.folders(), 1U);
  EXPECT_EQ(outputs_.files(), 0U);
}

TEST_F(BroughtFilesTest, NoMoreComesThanWasAskedFor) {
  EXPECT_THAT(outputs_.begin({"big", 21, false, ""}).error().message,
              HasSubstr("'big' is more than was requested"));
  ASSERT_TRUE(outputs_.begin({"a", 2, false, ""}).ok());
  EXPECT_FALSE(outputs_.add("123").ok());
  EXPECT_FALSE(outputs_.begin({"b", 1, false, ""}).ok()) << "another one has not come whole";
}

}  // namespace
}  // namespace gangrun::cluster
