#include "ssh/node/work_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/files.h"

namespace gangrun::ssh::node {
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
  // "name -> target", "folder/".
  static std::vector<std::string> names_of(const std::vector<cluster::FoundOutput>& outputs) {
    std::vector<std::string> names;
    for (const auto& output : outputs) {
      const bool is_folder = output.kind == cluster::FoundOutput::Kind::kFolder;
      names.push_back(output.name + (is_folder ? "/" : "") +
                      (output.target.empty() ? "" : " -> " + output.target));
    }
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
  bring("conf/deep/a", "1");
  fs::remove(top_ / "work/conf/deep/a");
  EXPECT_FALSE(folder_.has_new());
  write("logs/empty/line", "written");
  EXPECT_TRUE(folder_.has_new());
  EXPECT_THAT(names_of(written({"logs", "conf"}, false).chosen),
              UnorderedElementsAre("logs/empty/line", "conf/deep/"));
}

// The process that removed it was killed meanwhile.
TEST_F(WorkFolderTest, OneThatIsGoneHasNothingNew) {
  write("line", "written");
  EXPECT_TRUE(folder_.has_new());
  fs::remove_all(top_ / "work");
  EXPECT_FALSE(folder_.has_new());
}

// Links, empty folders and FIFOs were left out without a word, and removed.
TEST_F(WorkFolderTest, WhatCannotBeBroughtIsNewAndNamed) {
  fs::create_directories(top_ / "work/runs/first");
  EXPECT_TRUE(folder_.has_new());
  EXPECT_THAT(names_of(written({}, true).chosen), ElementsAre("runs/first/"));
  fs::remove_all(top_ / "work/runs");
  EXPECT_FALSE(folder_.has_new());
  ASSERT_EQ(::mkfifo((top_ / "work/pipe").c_str(), 0600), 0);
  EXPECT_TRUE(folder_.has_new());
  fs::create_symlink("/etc/hostname", top_ / "work/absolute");
  EXPECT_THAT(
      written({}, true).odd,
      UnorderedElementsAre(cluster::OddOutput{"pipe", "a FIFO"},
                           cluster::OddOutput{"absolute", "a link that leads out of the folder"}));
  EXPECT_THAT(written({"pipe"}, false).odd, ElementsAre(cluster::OddOutput{"pipe", "a FIFO"}));
  EXPECT_THAT(written({"pipe"}, true).odd.size(), 2U);
}

TEST_F(WorkFolderTest, TheLinksByWhichCommandsOfPythonHaveTheirFilesAreNotTheTasks) {
  bring("data.csv", "1");
  bring("conf/a", "1");
  const fs::path own = top_ / "work/gangrun-tasks/worker-0";
  fs::create_directories(own);
  for (const char* name : {"data.csv", "conf"})
    fs::create_symlink(top_ / "work" / name, own / name);
  write("gangrun-tasks/worker-0/model", "1");
  fs::create_symlink("model", own / "best");
  for (const auto& names :
       {std::vector<std::string>(), std::vector<std::string>{"gangrun-tasks"}}) {
    EXPECT_THAT(names_of(written(names, names.empty()).chosen),
                UnorderedElementsAre("gangrun-tasks/worker-0/model",
                                     "gangrun-tasks/worker-0/best -> model"));
  }
}

TEST_F(WorkFolderTest, ANamedLinkComesWithWhatItLeadsTo) {
  write("ckpt/weights", "12345");
  write("other", "1");
  fs::create_symlink((top_ / "work/ckpt").string(), top_ / "work/model");
  EXPECT_THAT(names_of(written({"model/"}, false).chosen),
              UnorderedElementsAre("model -> ckpt", "ckpt/weights"));
}

// Files that tasks had written were removed with the folder, with status 0.
// It dangled where it was brought to: the file is the client's own, and was not brought back.
TEST_F(WorkFolderTest, ANewLinkComesWithWhatItLeadsToThoughThatIsNotNew) {
  bring("conf/deep/a", "1");
  bring("conf/b", "1");
  bring("data.csv", "1");
  bring("other", "1");
  fs::create_symlink("data.csv", top_ / "work/best");
  fs::create_symlink("conf/deep", top_ / "work/settings");
  EXPECT_THAT(
      names_of(written({}, true).chosen),
      UnorderedElementsAre("best -> data.csv", "data.csv", "settings -> conf/deep", "conf/deep/a"));
  // The folders above it come with it.
  fs::create_symlink("..", top_ / "work/conf/deep/up");
  fs::create_symlink("../..", top_ / "work/conf/deep/top");
  EXPECT_THAT(names_of(written({}, true).chosen),
              testing::AllOf(testing::Contains("conf/deep/up -> .."),
                             testing::Contains("conf/deep/top -> ../.."),
                             testing::Not(testing::Contains("conf/b")),
                             testing::Not(testing::Contains("other"))));
}

TEST_F(WorkFolderTest, WhatIsNewOrHasChangedIsFound) {
  bring("conf/a.txt", "same");
  bring("train.py", "print()");
  bring("empty", "");
  EXPECT_FALSE(folder_.has_new());
  write("train.py", "print(1)");
  write("models/last/weights", "12345");
  fs::create_symlink("last", top_ / "work/models/best");
  write("__pycache__/train.pyc", "compiled");
  EXPECT_TRUE(folder_.has_new());
  const auto found = written({}, true);
  EXPECT_THAT(names_of(found.chosen),
              UnorderedElementsAre("train.py", "models/last/weights", "models/best -> last"));
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
}  // namespace gangrun::ssh::node
