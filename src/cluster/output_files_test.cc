#include "cluster/output_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace gangrun::cluster {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class OutputFilesTest : public testing::Test {
 protected:
  OutputFilesTest() { fs::create_directories(top_ / "task"); }
  ~OutputFilesTest() override { fs::remove_all(top_); }

  void write(const std::string& name, std::size_t size) const {
    fs::create_directories((top_ / "task" / name).parent_path());
    std::ofstream(top_ / "task" / name) << std::string(size, 'x');
  }
  [[nodiscard]] OutputFiles found(const std::vector<std::string>& names,
                                  std::optional<std::uint64_t> limit = {},
                                  Links links = Links::kFollowed) const {
    auto files = output_files((top_ / "task").string(), names, limit, links);
    EXPECT_TRUE(files.ok()) << files.error().message;
    return files.value_or(OutputFiles());
  }
  static std::vector<std::string> names_of(const std::vector<FoundOutput>& files) {
    std::vector<std::string> names;
    for (const FoundOutput& file : files) names.push_back(file.name);
    return names;
  }

  const fs::path top_ =
      fs::path(testing::TempDir()) /
      ("output-files-" +
       std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
};

TEST_F(OutputFilesTest, WhatIsNamedIsFoundWithItsFoldersTheSmallestFirst) {
  write("model/deep er/weights", 30);
  write("model/step", 1);
  write("log.txt", 4);
  write("model.tmp", 1);
  const OutputFiles files = found({"model/", "log.txt", "model/step", "nothing"});
  EXPECT_THAT(names_of(files.chosen),
              ElementsAre("model/step", "log.txt", "model/deep er/weights"));
  EXPECT_EQ(files.chosen.back().size, 30U);
  EXPECT_THAT(files.missing, ElementsAre("nothing"));
  EXPECT_THAT(files.odd, IsEmpty());
  EXPECT_TRUE(lost_words({.files = files, .written = 3}, {}).empty());
  EXPECT_EQ(missing_words({.files = files}), "it has written no nothing");
}

TEST_F(OutputFilesTest, WhatIsOverTheLimitIsToldAndSmallerFilesAreNot) {
  write("a", 10);
  write("b", 20);
  write("c", 30);
  const OutputFiles files = found({"c", "b", "a"}, 45);
  EXPECT_THAT(names_of(files.chosen), ElementsAre("a", "b"));
  EXPECT_THAT(names_of(files.over), ElementsAre("c"));
  EXPECT_EQ(lost_words({.files = files, .written = 2}, std::uint64_t{1} << 20U),
            "over outputs_limit (1 MiB): c");
}

// HDFS has no links.
TEST_F(OutputFilesTest, ALinkIsFollowedInTheFolderAndNowhereElse) {
  write("steps/2/w", 7);
  fs::create_symlink("steps/2", top_ / "task/best");
  fs::create_symlink("../secret", top_ / "task/out");
  fs::create_directories(top_ / "task/empty");
  const OutputFiles files = found({"best/", "out", "empty"});
  EXPECT_THAT(names_of(files.chosen), UnorderedElementsAre("best/w", "empty"));
  EXPECT_EQ(files.chosen.back().at, "steps/2/w") << "the smallest first";
  EXPECT_EQ(lost_words({.files = files, .written = 2}, {}),
            "what cannot be brought: \"out\" (a link to nothing)");
}

TEST_F(OutputFilesTest, WhereLinksAreKeptTheyComeWithWhatTheyLeadTo) {
  write("steps/2/w", 7);
  fs::create_symlink("steps/2", top_ / "task/best");
  const OutputFiles files = found({"best"}, {}, Links::kKept);
  EXPECT_THAT(names_of(files.chosen), ElementsAre("best", "steps/2/w"));
  EXPECT_EQ(files.chosen.front().target, "steps/2");
}

TEST(OutputsEnd, WhatCouldNotBeWrittenIsNamedAndTheRestCounted) {
  OutputsEnd end;
  end.files.chosen.resize(4);
  end.written = 1;
  end.failures = {{"a: b", "the quota is full"}};
  EXPECT_EQ(lost_words(end, {}), "could not be written: a: b (the quota is full)");
  end.trouble = "the time to stop is over";
  EXPECT_EQ(lost_words(end, {}),
            "could not be written: a: b (the quota is full); 2 files were not written: the time to "
            "stop is over");
}

}  // namespace
}  // namespace gangrun::cluster
