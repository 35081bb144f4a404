#include "agent/file_fetch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/hex.h"
#include "base/test_folder.h"

namespace gangrun::agent {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using wire::FilePiece;

class FileFetchTest : public testing::Test {
 protected:
  void SetUp() override {
    fetch_ = std::make_unique<FileFetch>(
        loop_, folder_.path(), numbers_,
        [this](const wire::AskMessage& question) {
          EXPECT_EQ(question.kind, wire::kFilesKind);
          last_ = question.id;
          asked_.push_back(*base::from_json<wire::FilesWanted>(question.about));
        },
        [this](base::Result<> how) {
          EXPECT_FALSE(how_) << "once";
          how_ = how.ok() ? "all" : how.error().message;
        });
    fetch_->on_attached();
  }
  static FilePiece file(const std::string& name, const std::string& bytes) {
    return begun(name, bytes, bytes.size());
  }
  // A file of which only the first bytes come.
  static FilePiece begun(const std::string& name, const std::string& bytes, std::size_t come) {
    net::Sha256Stream sum;
    sum.put(bytes);
    return {.name = name,
            .size = static_cast<std::int64_t>(bytes.size()),
            .digest = base::to_hex(sum.finish()),
            .bytes = bytes.substr(0, come)};
  }
  void answer(std::vector<FilePiece> pieces) {
    fetch_->on_answer(
        {.id = last_, .said = base::to_json(wire::FilesPart{std::move(pieces)}), .refused = {}});
  }
  // The words that the master hears of a part that is wrong, and then the agent.
  std::string fault_of(std::vector<FilePiece> pieces) {
    answer(std::move(pieces));
    EXPECT_FALSE(how_);
    const std::string told = asked_.back().failed;
    EXPECT_NE(told, "");
    answer({});
    EXPECT_EQ(how_, told);
    return told;
  }
  [[nodiscard]] std::string content(const std::string& name) const {
    return base::read_file(folder_ / name, 1000).value_or("none");
  }
  [[nodiscard]] mode_t mode(const std::string& name) const {
    struct stat info {};
    EXPECT_EQ(::stat((folder_ / name).c_str(), &info), 0);
    return info.st_mode & 0777U;
  }

  base::TestFolder folder_;
  net::EventLoop loop_;
  wire::QuestionNumbers numbers_;
  std::int64_t last_ = 0;
  std::vector<wire::FilesWanted> asked_;
  std::optional<std::string> how_;
  std::unique_ptr<FileFetch> fetch_;
};

TEST_F(FileFetchTest, FilesAreThereWithTheirModesWhenTheyAreWhole) {
  FilePiece program = file("bin/run", "#!");
  program.is_executable = true;
  answer({file("data/a", "aa"), program, file("empty", ""), begun("big", "12345", 2)});
  EXPECT_EQ(content("data/a"), "aa");
  EXPECT_EQ(content("empty"), "");
  EXPECT_EQ(content("big"), "none");
  EXPECT_EQ(mode("data/a"), 0444U);
  EXPECT_EQ(mode("bin/run"), 0555U);
  EXPECT_EQ(asked_.back().file, 3);
  EXPECT_EQ(asked_.back().offset, 2);
  answer({{.bytes = "345"}, file("c", "c")});
  EXPECT_EQ(content("big"), "12345");
  EXPECT_FALSE(how_);
  answer({});
  EXPECT_EQ(how_, "all");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()), 5);
}

TEST_F(FileFetchTest, ANewSessionGoesOnWhereTheLastOneWas) {
  answer({file("a", "aa"), begun("big", "12345", 3)});
  const std::int64_t of_old_session = last_;
  fetch_->on_attached();
  EXPECT_EQ(asked_.back().file, 1);
  EXPECT_EQ(asked_.back().offset, 3);
  fetch_->on_answer({.id = of_old_session,
                     .said = base::to_json(wire::FilesPart{{{.bytes = "45"}}}),
                     .refused = {}});
  EXPECT_EQ(content("big"), "none") << "an answer of the session before";
  answer({{.bytes = "45"}});
  EXPECT_EQ(content("big"), "12345");
  answer({});
  EXPECT_EQ(how_, "all");
}

TEST_F(FileFetchTest, AnotherMasterHearsThatAllIsThere) {
  answer({file("a", "aa")});
  answer({});
  EXPECT_EQ(how_, "all");
  const std::size_t asked = asked_.size();
  fetch_->on_attached();
  ASSERT_EQ(asked_.size(), asked + 1);
  EXPECT_EQ(asked_.back().file, 1);
  answer({});
  EXPECT_EQ(asked_.size(), asked + 1);
}

TEST_F(FileFetchTest, PartsGrowWithFastAnswers) {
  EXPECT_EQ(asked_.back().room, kLeastResultPartBytes);
  answer({begun("big", "12345", 1)});
  EXPECT_EQ(asked_.back().room, 2 * kLeastResultPartBytes);
}

TEST_F(FileFetchTest, AFileOfEarlierIsReplaced) {
  answer({file("a", "old")});
  answer({file("a", "new")});
  EXPECT_EQ(content("a"), "new");
}

TEST_F(FileFetchTest, OtherBytesThanTheDigestSaysAreRefused) {
  FilePiece other = file("a", "aa");
  other.bytes = "ab";
  EXPECT_EQ(fault_of({other}), "a came with other bytes than it had when the job was started");
  EXPECT_EQ(content("a"), "none");
}

TEST_F(FileFetchTest, NothingLeadsOutOfTheFolder) {
  for (const char* name : {"../a", "/tmp/a", "a/../../b", "a//b", "."}) {
    SetUp();
    EXPECT_THAT(fault_of({file(name, "x")}), HasSubstr("cannot be the name of a file"));
    how_.reset();
  }
}

TEST_F(FileFetchTest, WhatCannotBeWrittenIsTold) {
  fs::create_directories(folder_ / "a/b");
  EXPECT_THAT(fault_of({file("a", "x")}), HasSubstr(folder_ / "a"));
}

TEST_F(FileFetchTest, AMasterThatSendsNonsenseEndsIt) {
  EXPECT_THAT(fault_of({{.bytes = "x"}}), HasSubstr("without its name"));
  how_.reset();
  SetUp();
  EXPECT_THAT(fault_of({begun("a", "aaa", 1), file("b", "b")}), HasSubstr("a did not come whole"));
  how_.reset();
  SetUp();
  EXPECT_THAT(fault_of({file("a", "a"), {.bytes = "x"}}), HasSubstr("without its name"));
  how_.reset();
  SetUp();
  EXPECT_THAT(fault_of({begun("a", "a", 0)}), HasSubstr("sends no more"));
  how_.reset();
  SetUp();
  FilePiece longer = file("a", "aaa");
  longer.size = 2;
  EXPECT_THAT(fault_of({longer}), HasSubstr("a has more bytes"));
}

TEST_F(FileFetchTest, ARefusalIsTheReason) {
  fetch_->on_answer({.id = last_, .said = {}, .refused = "/home/ana/a has changed"});
  EXPECT_EQ(how_, "the job's files: /home/ana/a has changed");
}

// The master would take the agent's end for a loss.
TEST_F(FileFetchTest, AFaultIsToldAgainInANewSession) {
  answer({{.bytes = "x"}});
  const std::string told = asked_.back().failed;
  fetch_->on_attached();
  EXPECT_EQ(asked_.back().failed, told);
  EXPECT_FALSE(how_);
  answer({});
  EXPECT_EQ(how_, told);
}

}  // namespace
}  // namespace gangrun::agent
