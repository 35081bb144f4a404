#include "cluster/found_outputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace gangrun::cluster {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

using Names = std::vector<std::string>;

class FoundOutputsTest : public testing::Test {
 protected:
  FoundOutputsTest() {
    fs::remove_all(top_);
    fs::create_directories(work_);
    std::ofstream(top_ / "secret") << "not the task's";
  }
  ~FoundOutputsTest() override { fs::remove_all(top_); }

  void write(const std::string& name) const {
    fs::create_directories((work_ / name).parent_path());
    std::ofstream(work_ / name) << name;
  }
  void link(const std::string& name, const fs::path& target) const {
    fs::create_directories((work_ / name).parent_path());
    fs::create_symlink(target, work_ / name);
  }
  [[nodiscard]] FoundOutputs find(const OutputSearch& search) const {
    auto found = find_outputs(work_.string(), search);
    EXPECT_TRUE(found.ok()) << found.error().message;
    return found.value_or(FoundOutputs());
  }
  // "file", "link -> target", "folder/", "alias = file".
  static Names words_of(const FoundOutputs& outputs) {
    Names words;
    for (const FoundOutput& each : outputs.found) {
      std::string word = each.name;
      if (each.kind == FoundOutput::Kind::kFolder) word += "/";
      if (each.kind == FoundOutput::Kind::kLink) word += " -> " + each.target;
      if (each.kind == FoundOutput::Kind::kFile && each.at != each.name) word += " = " + each.at;
      words.push_back(word);
    }
    return words;
  }
  static Names words_of(const std::vector<OddOutput>& odd) {
    Names words;
    for (const OddOutput& each : odd) words.push_back(each.name + ": " + each.why);
    return words;
  }

  const fs::path top_ =
      fs::path(testing::TempDir()) /
      ("found-outputs-" +
       std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
  const fs::path work_ = top_ / "own";
};

TEST_F(FoundOutputsTest, ANamedLinkIsBroughtWithWhatItLeadsToHoweverItIsWritten) {
  write("ckpt/5/weights");
  write("other");
  link("relative", "ckpt");
  link("absolute", work_ / "ckpt");
  link("around", "../own/ckpt");
  link("deep/up", "../ckpt/5");
  link("chain", "relative/5");
  for (const char* slash : {"", "/", "//"}) {
    EXPECT_THAT(words_of(find({.names = Names{std::string("relative") + slash}})),
                UnorderedElementsAre("relative -> ckpt", "ckpt/5/weights"));
  }
  EXPECT_THAT(words_of(find({.names = Names{"absolute", "around", "deep", "./chain"}})),
              UnorderedElementsAre("absolute -> ckpt", "around -> ckpt", "deep/up -> ../ckpt/5",
                                   "chain -> ckpt/5", "ckpt/5/weights"));
  // By a link on the way to it.
  EXPECT_THAT(words_of(find({.names = Names{"absolute/5"}})),
              UnorderedElementsAre("absolute -> ckpt", "ckpt/5/weights"));
}

TEST_F(FoundOutputsTest, WhereLinksCannotBeKeptTheyAreFollowed) {
  write("ckpt/5/weights");
  link("model", "ckpt");
  link("steps/last", work_ / "ckpt/5/weights");
  link("ckpt/5/back", "../..");
  const auto found = find({.names = Names{"model/", "steps"}, .follows_links = true});
  EXPECT_THAT(words_of(found), UnorderedElementsAre("model/5/weights = ckpt/5/weights",
                                                    "steps/last = ckpt/5/weights"));
  EXPECT_THAT(words_of(found.odd), ElementsAre("model/5/back: a link to a folder that it is in"));
  EXPECT_THAT(words_of(find({.names = Names{"model/5/weights"}, .follows_links = true})),
              ElementsAre("model/5/weights = ckpt/5/weights"));
}

TEST_F(FoundOutputsTest, LinksInACircleHaveAnEnd) {
  write("a/file");
  write("b/file");
  link("a/to_b", "../b");
  link("b/to_a", "../a");
  link("top", ".");
  EXPECT_THAT(words_of(find({.names = Names{"a"}})),
              UnorderedElementsAre("a/file", "a/to_b -> ../b", "b/file", "b/to_a -> ../a"));
  EXPECT_THAT(words_of(find({.names = Names{"a"}, .follows_links = true})),
              UnorderedElementsAre("a/file", "a/to_b/file = b/file"));
  EXPECT_THAT(words_of(find({.names = Names{"top"}})),
              testing::IsSupersetOf({"top -> .", "a/file", "b/file"}));
}

TEST_F(FoundOutputsTest, WhatCannotBeBroughtIsNamedWithItsReason) {
  write("file");
  link("out", "../secret");
  link("passwd", "/etc/passwd");
  link("broken", "gone");
  link("circle", "circle");
  ASSERT_EQ(::mkfifo((work_ / "pipe").c_str(), 0600), 0);
  link("to_pipe", "pipe");
  write("bad\xff");
  for (const auto& names : {std::optional<Names>(), std::optional(Names{"."})}) {
    for (const bool follows : {false, true}) {
      const auto found = find({.names = names, .follows_links = follows});
      EXPECT_THAT(words_of(found), ElementsAre("file"));
      EXPECT_THAT(
          words_of(found.odd),
          UnorderedElementsAre(
              "out: a link that leads out of the folder",
              "passwd: a link that leads out of the folder", "broken: a link to nothing",
              "circle: a link that leads nowhere: Too many levels of symbolic links",
              "pipe: a FIFO", "to_pipe: a link to a FIFO", "bad\xff: its name is not UTF-8"));
    }
  }
  const auto named = find({.names = Names{"pipe/", "out", "out/deeper", "nothing/at/all"}});
  EXPECT_THAT(words_of(named), IsEmpty());
  EXPECT_THAT(words_of(named.odd),
              UnorderedElementsAre("pipe: a FIFO", "out: a link that leads out of the folder"));
  EXPECT_THAT(named.missing, ElementsAre("nothing/at/all"));
}

TEST_F(FoundOutputsTest, EmptyFoldersAreFound) {
  fs::create_directories(work_ / "runs/first");
  fs::create_directories(work_ / "pkg/__pycache__");
  write("pkg/__pycache__/x.pyc");
  EXPECT_THAT(words_of(find({.names = std::nullopt})), ElementsAre("runs/first/"));
  EXPECT_THAT(words_of(find({.names = Names{"runs/first/", "pkg"}})),
              UnorderedElementsAre("runs/first/", "pkg/__pycache__/x.pyc"));
}

TEST_F(FoundOutputsTest, WhatIsTooDeepIsNamed) {
  std::string name = "d";
  for (std::size_t i = 1; i < kMaxOutputDepth; ++i) name += "/d";
  write(name);
  write("e/" + name);
  const auto found = find({.names = std::nullopt});
  EXPECT_THAT(words_of(found), ElementsAre(name));
  EXPECT_THAT(words_of(found.odd), ElementsAre("e/" + name + ": deeper than 64 folders"));
}

TEST_F(FoundOutputsTest, AFolderThatIsGoneIsAnErrorAndNotAnEmptyOne) {
  fs::remove_all(work_);
  EXPECT_THAT(find_outputs(work_.string(), {.names = std::nullopt}).error().message,
              HasSubstr("No such file"));
}

// A task may put a link in the way once its file was found.
TEST_F(FoundOutputsTest, NothingIsOpenedThroughALink) {
  write("model/secret");
  EXPECT_TRUE(open_output(work_.string(), "model/secret").ok());
  fs::remove_all(work_ / "model");
  link("model", "..");
  EXPECT_FALSE(open_output(work_.string(), "model/secret").ok());
  link("file", "../secret");
  EXPECT_FALSE(open_output(work_.string(), "file").ok());
}

TEST(OddWords, NamesAreQuotedAndNotTooMany) {
  EXPECT_EQ(odd_words({{"a\rgangrun: b", "a FIFO"}}, 1), "\"a gangrun: b\" (a FIFO)");
  const std::vector<OddOutput> many(7, {std::string(500, 'n'), std::string(500, 'w')});
  EXPECT_THAT(odd_words(many, 9), testing::EndsWith(" and 4 more"));
  EXPECT_LT(odd_words(many, 9).size(), 1500U);
}

}  // namespace
}  // namespace gangrun::cluster
