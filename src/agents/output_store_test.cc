#include "agents/output_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/test_folder.h"

namespace gangrun::agents {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using wire::OutputPiece;
using wire::OutputsPart;

const job::TaskId kWorker{"worker", 0};
constexpr std::int64_t kQuestion = 7;
constexpr const char* kKept = "kept";

class OutputStoreTest : public testing::Test {
 protected:
  OutputStore store(std::uint64_t limit = 0) {
    return {folder_ / "outputs", limit,
            [this](const job::TaskId& task, const wire::AnswerMessage& answer) {
              EXPECT_EQ(task, kWorker);
              EXPECT_EQ(answer.id, kQuestion);
              const auto kept = base::from_json<wire::OutputsKept>(answer.said);
              answer_ = answer.refused.empty() ? kKept : answer.refused;
              if (kept.ok() && !kept->lost.empty()) answer_ = "lost: " + kept->lost;
            },
            [this](const job::TaskId& task, std::string lost) {
              EXPECT_EQ(task, kWorker);
              over_.push_back(std::move(lost));
            }};
  }
  std::string add(OutputStore& store, const OutputsPart& part, std::optional<int> run = 1) {
    answer_.clear();
    store.ask(kWorker, run,
              {.id = kQuestion, .kind = "outputs", .about = base::to_json(part), .limit = {}});
    return answer_;
  }
  static OutputPiece file(const std::string& name, const std::string& bytes) {
    return {.name = name, .size = static_cast<std::int64_t>(bytes.size()), .bytes = bytes};
  }
  [[nodiscard]] std::string path(const std::string& name) const {
    return folder_ / "outputs/worker-0/" + name;
  }
  [[nodiscard]] std::string content(const std::string& name) const {
    return base::read_file(path(name), 1000).value_or("none");
  }

  base::TestFolder folder_;
  std::string answer_;
  std::vector<std::string> over_;  // what was lost, each time that all had come
};

TEST_F(OutputStoreTest, FilesFoldersAndLinksAreThereWhenTheLastPartHasCome) {
  OutputStore store = this->store();
  OutputPiece program = file("bin/run", "#!");
  program.is_executable = true;
  EXPECT_EQ(add(store, {.number = 0,
                        .pieces = {file("model/a", "aa"),
                                   program,
                                   file("empty", ""),
                                   {.name = "last", .target = "model/a"},
                                   {.name = "model/none", .is_folder = true},
                                   {.name = "big", .size = 4, .bytes = "bi"}}}),
            kKept);
  EXPECT_EQ(content("model/a"), "aa");
  EXPECT_EQ(content("big"), "none");
  EXPECT_EQ(add(store, {.number = 1, .pieces = {{.bytes = "g"}, {.bytes = "!"}}}), kKept);
  EXPECT_THAT(over_, IsEmpty());
  EXPECT_EQ(add(store, {.number = 2, .is_last = true}), kKept);
  EXPECT_THAT(over_, ElementsAre(""));
  EXPECT_EQ(content("big"), "big!");
  EXPECT_EQ(content("last"), "aa");
  EXPECT_TRUE(fs::is_directory(path("model/none")));
  struct stat info {};
  ASSERT_EQ(::stat(path("bin/run").c_str(), &info), 0);
  EXPECT_NE(info.st_mode & S_IXUSR, 0U);
}

TEST_F(OutputStoreTest, WhatTheTaskHasLostIsToldWithTheLastPart) {
  OutputStore store = this->store();
  const std::string told = add(store, {.pieces = {file("a", "a"), file("a/b", "b")},
                                       .is_last = true,
                                       .lost = "over outputs_limit (1 MiB): c"});
  EXPECT_THAT(told, HasSubstr("lost: over outputs_limit (1 MiB): c; could not be written to "));
  EXPECT_THAT(told, HasSubstr("\"a/b\" ("));
  ASSERT_EQ(over_.size(), 1U);
  EXPECT_THAT(over_.front(), HasSubstr("over outputs_limit"));
}

TEST_F(OutputStoreTest, AFileWhoseBytesHaveNotAllComeIsNotThere) {
  OutputStore store = this->store();
  EXPECT_EQ(add(store, {.pieces = {{.name = "short", .size = 9, .bytes = "s"},
                                   file("b", "b"),
                                   {.name = "cut", .size = 9, .bytes = "c"}},
                        .is_last = true,
                        .lost = "the time is over"}),
            "lost: the time is over");
  EXPECT_EQ(content("b"), "b");
  EXPECT_FALSE(fs::exists(path("short")));
  EXPECT_FALSE(fs::exists(path("cut")));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "outputs"), fs::directory_iterator()),
            1);
}

TEST_F(OutputStoreTest, NothingLeadsOutOfTheFolder) {
  for (const OutputPiece& hostile :
       {file("../out", "x"), file("/tmp/out", "x"), file("a/../../out", "x"),
        OutputPiece{.name = "out", .target = "../../secret"},
        OutputPiece{.name = "out", .target = "/etc/passwd"}}) {
    over_.clear();
    OutputStore store = this->store();
    EXPECT_EQ(add(store, {.pieces = {file("good", "g")}}), kKept);
    EXPECT_THAT(add(store, {.number = 1, .pieces = {hostile, file("later", "l")}}),
                HasSubstr(hostile.name));
    EXPECT_EQ(over_.size(), 1U) << hostile.name;
    EXPECT_EQ(content("good"), "g");
    EXPECT_EQ(content("later"), "none");
    EXPECT_FALSE(fs::exists(folder_ / "outputs/out"));
    EXPECT_FALSE(fs::exists(folder_ / "out"));
    EXPECT_THAT(add(store, {.number = 2, .is_last = true}), HasSubstr("part 2"));
  }
}

TEST_F(OutputStoreTest, MoreThanTheLimitIsRefused) {
  OutputStore store = this->store(3);
  EXPECT_THAT(add(store, {.pieces = {file("a", "aa"), file("b", "bb")}}), HasSubstr("'b'"));
  EXPECT_EQ(content("a"), "aa");
  EXPECT_EQ(content("b"), "none");
  EXPECT_EQ(over_.size(), 1U);
}

TEST_F(OutputStoreTest, MoreBytesThanWereAnnouncedAreRefused) {
  OutputStore store = this->store();
  EXPECT_THAT(add(store, {.pieces = {{.name = "a", .size = 1, .bytes = "aa"}}}),
              HasSubstr("announced"));
  EXPECT_THAT(add(store, {.pieces = {{.bytes = "a"}}}), HasSubstr("announced"));
}

TEST_F(OutputStoreTest, WhatLeavesTooLittleOfTheDiskIsRefusedBeforeItComes) {
  OutputStore store = this->store();
  EXPECT_THAT(add(store, {.pieces = {{.name = "huge", .size = std::int64_t{1} << 60U}}}),
              HasSubstr("free on the disk of"));
}

TEST_F(OutputStoreTest, TheFirstPartBeginsAgainAndReplacesWhatAnEarlierRunHasLeft) {
  OutputStore store = this->store();
  add(store, {.pieces = {file("old", "o"), file("a", "1")}, .is_last = true});
  add(store, {.attempt = 2, .pieces = {{.name = "a", .size = 2, .bytes = "2"}}}, 2);
  EXPECT_EQ(add(store, {.attempt = 2, .pieces = {file("a", "3")}}, 2), kKept);
  EXPECT_EQ(add(store, {.attempt = 2, .number = 1, .is_last = true}, 2), kKept);
  EXPECT_EQ(content("a"), "3");
  EXPECT_FALSE(fs::exists(path("old")));
}

TEST_F(OutputStoreTest, PartsComeInOrder) {
  OutputStore store = this->store();
  EXPECT_THAT(add(store, {.number = 1}), HasSubstr("part 1"));
  add(store, {});
  EXPECT_THAT(add(store, {.number = 2}), HasSubstr("in place of part 1"));
  EXPECT_THAT(add(store, {.attempt = 2, .number = 1}, 2), HasSubstr("part 1"));
  store.forget(kWorker);
  EXPECT_THAT(add(store, {.number = 1}), HasSubstr("part 1"));
  EXPECT_THAT(over_, IsEmpty());
}

TEST_F(OutputStoreTest, OfAnotherRunNothingIsKept) {
  OutputStore store = this->store();
  EXPECT_THAT(add(store, {}, 2), HasSubstr("run 1"));
  EXPECT_THAT(add(store, {}, std::nullopt), HasSubstr("run 1"));
  EXPECT_FALSE(fs::exists(folder_ / "outputs"));
}

TEST_F(OutputStoreTest, WithoutAFolderNothingIsKept) {
  OutputStore store(
      "", 0, [this](const auto&, const auto& answer) { answer_ = answer.refused; },
      [](const auto&, const auto&) {});
  EXPECT_THAT(add(store, {}), HasSubstr("keeps no outputs"));
}

}  // namespace
}  // namespace gangrun::agents
