#include "cluster/ssh/node/work_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/files.h"

namespace gangrun::node {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr std::uint64_t kPlenty = 1'000'000;

class WorkFolderTest : public testing::Test {
 protected:
  WorkFolderTest() { fs::create_directories(top_ / "work"); }
  ~WorkFolderTest() override { fs::remove_all(top_); }

  void bring(const std::string& name, const std::string& content) {
    const auto begun = folder_.begin_file({name, content.size(), false});
    ASSERT_TRUE(begun.ok()) << begun.error().message;
    if (!content.empty()) {
      ASSERT_TRUE(folder_.add(content).ok());
    }
  }
  void write(const std::string& name, const std::string& content) const {
    fs::create_directories((top_ / "work" / name).parent_path());
    std::ofstream(top_ / "work" / name) << content;
  }
  // As another keeper of the job finds it.
  [[nodiscard]] WorkFolder::Written written(const std::vector<std::string>& names, bool new_too,
                                            std::uint64_t limit = kPlenty) const {
    const auto found = WorkFolder(top_.string()).written(names, new_too, limit);
    EXPECT_TRUE(found.ok()) << found.error().message;
    return found.ok() ? *found : WorkFolder::Written{};
  }
  static std::vector<std::string> names_of(const std::vector<WorkFolder::Entry>& entries) {
    std::vector<std::string> names;
    for (const auto& entry : entries) names.push_back(entry.name);
    return names;
  }

  const fs::path top_ =
      fs::path(testing::TempDir()) /
      ("work-" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
  WorkFolder folder_{top_.string()};
};

TEST_F(WorkFolderTest, AnEmptyFolderThatIsBroughtIsNothingNew) {
  ASSERT_TRUE(folder_.begin_file({.name = "logs/empty", .is_folder = true}).ok());
  EXPECT_TRUE(fs::is_directory(top_ / "work" / "logs" / "empty"));
  EXPECT_FALSE(folder_.has_new());
  write("logs/empty/line", "written");
  EXPECT_TRUE(folder_.has_new());
}

// What tasks had written was removed with the folder, with status 0.
TEST_F(WorkFolderTest, WhatIsNewOrHasChangedIsFound) {
  bring("conf/a.txt", "same");
  bring("train.py", "print()");
  bring("empty", "");
  EXPECT_FALSE(folder_.has_new());
  write("train.py", "print(1)");
  write("models/last/weights", "12345");
  fs::create_symlink("last", top_ / "work/models/best");
  write("__pycache__/train.pyc", "compiled");
  fs::create_symlink("/etc/hostname", top_ / "work/absolute");
  EXPECT_TRUE(folder_.has_new());
  const auto found = written({}, true);
  EXPECT_THAT(found.chosen,
              UnorderedElementsAre(WorkFolder::Entry{"train.py", 8, false},
                                   WorkFolder::Entry{"models/last/weights", 5, false},
                                   WorkFolder::Entry{"models/best", 0, false, "last"}));
  EXPECT_THAT(found.left, IsEmpty());
}

// Content may change within the same second, and with the same size.
TEST_F(WorkFolderTest, AFileThatWasReplacedByOneOfTheSameSizeIsNew) {
  bring("counter", "1");
  write("other", "2");
  fs::rename(top_ / "work/other", top_ / "work/counter");
  EXPECT_THAT(names_of(written({}, true).chosen), ElementsAre("counter"));
}

TEST_F(WorkFolderTest, WhatIsOverTheLimitIsLeftAndTheSmallestComeFirst) {
  write("a", "1234567890");
  write("b", "123");
  write("c", "1234");
  const auto found = written({}, true, 7);
  EXPECT_THAT(names_of(found.chosen), ElementsAre("b", "c"));
  EXPECT_THAT(names_of(found.left), ElementsAre("a"));
}

TEST_F(WorkFolderTest, WhatIsNamedComesWhetherOrNotItHasChangedAndWithoutALimit) {
  bring("conf/a.txt", "same");
  write("model/weights", "1234567890");
  write("other", "1");
  const auto found = written({"model/", "conf", "nothing"}, false, 3);
  EXPECT_THAT(names_of(found.chosen), ElementsAre("model/weights", "conf/a.txt"));
  EXPECT_THAT(found.missing, ElementsAre("nothing"));
  EXPECT_THAT(names_of(written({"model/"}, true, 3).chosen), ElementsAre("model/weights", "other"));
  EXPECT_THAT(written({}, false).chosen, IsEmpty());
}

TEST_F(WorkFolderTest, FilesComeOneAfterAnother) {
  ASSERT_TRUE(folder_.begin_file({"deep/run.sh", 4, true}).ok());
  EXPECT_THAT(folder_.begin_file({"b", 1, false}).error().message,
              HasSubstr("deep/run.sh is not whole: 4 bytes are missing"));
  EXPECT_FALSE(folder_.add("12345").ok());
  ASSERT_TRUE(folder_.add("12").ok());
  ASSERT_TRUE(folder_.add("34").ok());
  EXPECT_FALSE(folder_.add("5").ok());
  EXPECT_EQ(*base::read_file((top_ / "work/deep/run.sh").string(), 16), "1234");
  EXPECT_EQ(fs::status(top_ / "work/deep/run.sh").permissions(), fs::perms::owner_all);
}

TEST_F(WorkFolderTest, NothingOutsideItIsTouched) {
  for (const char* name : {"../x", "/etc/x", "", "a/../../x"}) {
    EXPECT_THAT(folder_.begin_file({name, 1, false}).error().message,
                HasSubstr("is no file of a working folder"))
        << name;
    EXPECT_FALSE(folder_.written({name}, false, kPlenty).ok()) << name;
  }
}

}  // namespace
}  // namespace gangrun::node
