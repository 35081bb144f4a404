#include "agent/output_upload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/test_deadline.h"
#include "base/test_folder.h"

namespace gangrun::agent {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kAttempt = 2;

class OutputUploadTest : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& bytes) const {
    fs::create_directories(fs::path(folder_ / name).parent_path());
    std::ofstream(folder_ / name) << bytes;
  }
  void begin(std::vector<std::string> names, std::optional<std::uint64_t> limit = {}) {
    upload_ = std::make_unique<OutputUpload>(
        loop_, OutputUpload::Order{folder_.path(), std::move(names), limit}, numbers_,
        [this](const wire::AskMessage& question) {
          EXPECT_EQ(question.kind, wire::kOutputsKind);
          EXPECT_LE(wire::encode(wire::AgentMessage(question)).size(), wire::kMaxAgentMessageBytes);
          last_ = question.id;
          parts_.push_back(*base::from_json<wire::OutputsPart>(question.about));
          EXPECT_EQ(parts_.back().attempt, kAttempt);
        });
    upload_->keep(kAttempt, [this](std::string lost, std::string missing) {
      EXPECT_FALSE(lost_);
      lost_ = std::move(lost);
      missing_ = std::move(missing);
    });
    wait([this] { return !parts_.empty() || lost_; });
  }
  void wait(const std::function<bool()>& done) { EXPECT_TRUE(loop_.run_until(done, base::soon())); }
  // The answer of a master that keeps everything to the last part.
  void answer(const std::string& lost = {}) {
    upload_->on_answer(
        {.id = last_, .said = base::to_json(wire::OutputsKept{lost}), .refused = {}});
  }
  void answer_all() {
    while (!lost_) answer(parts_.back().is_last ? parts_.back().lost : "");
  }
  // "a=BYTES" of a file, "a -> target" of a link, "a/" of a folder.
  [[nodiscard]] std::vector<std::string> arrived() const {
    std::vector<std::string> all;
    for (const wire::OutputsPart& part : parts_) {
      if (part.number == 0) all.clear();
      for (const wire::OutputPiece& piece : part.pieces) {
        if (piece.is_folder) all.push_back(piece.name + "/");
        if (!piece.target.empty()) all.push_back(piece.name + " -> " + piece.target);
        const bool is_file = !piece.is_folder && piece.target.empty();
        if (is_file && !piece.name.empty()) all.push_back(piece.name + "=");
        if (is_file) all.back() += piece.bytes;
      }
    }
    return all;
  }

  base::TestFolder folder_;
  net::EventLoop loop_;
  wire::QuestionNumbers numbers_;
  std::int64_t last_ = 0;  // the number of the last question
  std::vector<wire::OutputsPart> parts_;
  std::optional<std::string> lost_;
  std::string missing_;
  std::unique_ptr<OutputUpload> upload_;
};

TEST_F(OutputUploadTest, WhatIsNamedIsSentAndNothingElse) {
  write("model/a", "aaa");
  write("model/empty", "");
  write("other", "o");
  fs::create_directories(folder_ / "model/none");
  fs::create_symlink("a", folder_ / "model/last");
  fs::create_symlink("/etc/passwd", folder_ / "model/out");
  begin({"model/", "nothing"});
  EXPECT_EQ(parts_.size(), 1U);
  EXPECT_TRUE(parts_.front().is_last);
  EXPECT_THAT(parts_.front().lost, HasSubstr("\"model/out\" (a link that leads out"));
  answer_all();
  EXPECT_THAT(arrived(), testing::UnorderedElementsAre("model/a=aaa", "model/empty=", "model/none/",
                                                       "model/last -> a"));
  EXPECT_EQ(*lost_, parts_.front().lost);
  EXPECT_EQ(missing_, "it has written no nothing");
}

TEST_F(OutputUploadTest, OnePartComesAfterTheOtherAndGrowsWithFastAnswers) {
  const std::string big(3 * wire::kMaxResultPartBytes, 'b');
  write("big", big);
  write("small", "s");
  begin({"big", "small"});
  EXPECT_EQ(parts_.size(), 1U) << "no more than a part is on its way";
  answer_all();
  EXPECT_THAT(arrived(), ElementsAre("small=s", "big=" + big));
  EXPECT_EQ(*lost_, "");
  std::size_t largest = 0;
  for (const wire::OutputsPart& part : parts_) {
    EXPECT_EQ(part.number, &part - parts_.data());
    EXPECT_EQ(part.is_last, &part == &parts_.back());
    for (const auto& piece : part.pieces) largest = std::max(largest, piece.bytes.size());
  }
  EXPECT_LE(parts_.front().pieces.back().bytes.size(),
            static_cast<std::size_t>(kLeastResultPartBytes));
  EXPECT_GT(largest, wire::kMaxResultPartBytes / 2);
}

TEST_F(OutputUploadTest, ManySmallFilesShareAPart) {
  for (int i = 0; i < 3000; ++i) write("many/" + std::to_string(i), "x");
  begin({"many"});
  answer_all();
  EXPECT_EQ(arrived().size(), 3000U);
  EXPECT_LT(parts_.size(), 100U);
}

TEST_F(OutputUploadTest, WhatIsOverTheLimitIsToldAndSmallerFilesAreSent) {
  write("a", "a");
  write("b", std::string(20, 'b'));
  begin({"a", "b"}, 10);
  answer_all();
  EXPECT_THAT(arrived(), ElementsAre("a=a"));
  EXPECT_THAT(*lost_, HasSubstr("over outputs_limit"));
}

TEST_F(OutputUploadTest, AfterARefusalNoMoreIsSent) {
  write("big", std::string(2 * wire::kMaxResultPartBytes, 'b'));
  begin({"big"});
  upload_->on_answer({.id = last_, .said = {}, .refused = "the disk is full"});
  EXPECT_EQ(*lost_, "the disk is full");
  EXPECT_EQ(parts_.size(), 1U);
  answer();
  EXPECT_EQ(parts_.size(), 1U);
}

TEST_F(OutputUploadTest, ANewSessionBeginsAgainAndAnOldAnswerSaysNothing) {
  write("big", std::string(2 * wire::kMaxResultPartBytes, 'b'));
  begin({"big"});
  answer();
  const std::int64_t old = last_;
  upload_->on_attached();
  EXPECT_EQ(parts_.back().number, 0);
  const std::size_t sent = parts_.size();
  upload_->on_answer({.id = old, .said = {}, .refused = "an old one"});
  EXPECT_EQ(parts_.size(), sent);
  answer_all();
  EXPECT_EQ(arrived().size(), 1U);
  EXPECT_EQ(arrived().front().size(), 4 + 2 * wire::kMaxResultPartBytes);
  EXPECT_EQ(*lost_, "");
}

TEST_F(OutputUploadTest, AConnectionThatAlwaysBreaksIsGivenUp) {
  write("big", std::string(2 * wire::kMaxResultPartBytes, 'b'));
  begin({"big"});
  for (int i = 1; i < kMaxOutputBeginnings; ++i) upload_->on_attached();
  EXPECT_FALSE(lost_);
  upload_->on_attached();
  EXPECT_EQ(*lost_, "the connection broke 10 times");
}

TEST_F(OutputUploadTest, WhenTheTimeIsOverTheMasterHearsItBeforeItAnswersTheLastPart) {
  write("a", "a");
  write("big", std::string(2 * wire::kMaxResultPartBytes, 'b'));
  begin({"a", "big"});
  upload_->cut_short();
  ASSERT_EQ(parts_.size(), 2U);
  EXPECT_TRUE(parts_.back().is_last);
  EXPECT_THAT(parts_.back().pieces, IsEmpty());
  EXPECT_EQ(parts_.back().lost,
            "1 file was not written: the time that the task has to stop is over");
  upload_->cut_short();
  EXPECT_EQ(parts_.size(), 2U);
  answer_all();
  EXPECT_EQ(*lost_, parts_.back().lost);
}

TEST_F(OutputUploadTest, AFileThatBecomesShorterIsToldAndTheOthersAreSent) {
  write("a", std::string(wire::kMaxResultPartBytes, 'a'));
  write("b", std::string(wire::kMaxResultPartBytes + 1, 'b'));
  begin({"a", "b"});
  fs::resize_file(folder_ / "a", 1);
  answer_all();
  EXPECT_EQ(arrived().back().size(), 2 + wire::kMaxResultPartBytes + 1);
  EXPECT_EQ(*lost_, "could not be written: a (it became shorter while it was sent)");
}

TEST_F(OutputUploadTest, AFolderThatIsGoneIsTold) {
  fs::remove_all(folder_.path());
  begin({"a"});
  EXPECT_THAT(*lost_, HasSubstr(folder_.path()));
  EXPECT_THAT(parts_, IsEmpty());
}

}  // namespace
}  // namespace gangrun::agent
