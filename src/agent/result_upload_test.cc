#include "agent/result_upload.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "base/files.h"

namespace gangrun::agent {
namespace {

using wire::kMaxResultPartBytes;

constexpr int kAttempt = 2;

class ResultUploadTest : public testing::Test {
 protected:
  ResultUploadTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "result-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    path_ = folder_ + "/result";
  }
  ~ResultUploadTest() override { std::filesystem::remove_all(folder_); }

  ResultUpload upload(const std::string& bytes) {
    EXPECT_TRUE(base::write_file_atomically(path_, bytes, 0600).ok());
    auto opened = open_result(path_);
    EXPECT_TRUE(opened.ok());
    return {std::move(opened->file), opened->size, kAttempt, numbers_,
            [this](const wire::AskMessage& question) {
              EXPECT_EQ(question.kind, wire::kResultKind);
              last_ = question.id;
              parts_.push_back(*base::from_json<wire::ResultPart>(question.about));
              EXPECT_EQ(parts_.back().attempt, kAttempt);
            }};
  }

  // The answer of a master that keeps everything to the last part.
  [[nodiscard]] wire::AnswerMessage kept() const {
    const wire::ResultPart& last = parts_.back();
    const std::int64_t end = last.offset + static_cast<std::int64_t>(last.bytes.size());
    return {.id = last_, .said = base::to_json(wire::ResultKept{end}), .refused = {}};
  }

  base::Instant now_;
  std::string folder_;
  std::string path_;
  wire::QuestionNumbers numbers_;
  std::int64_t last_ = 0;  // the number of the last question
  std::vector<wire::ResultPart> parts_;
};

TEST_F(ResultUploadTest, OnePartAfterTheOther) {
  const std::string bytes(2 * kMaxResultPartBytes + 3, 'r');
  ResultUpload upload = this->upload(bytes);
  upload.begin(now_);
  EXPECT_EQ(parts_.size(), 1U);
  std::string arrived;
  while (!upload.is_over()) {
    EXPECT_EQ(parts_.back().offset, static_cast<std::int64_t>(arrived.size()));
    EXPECT_EQ(parts_.back().size, static_cast<std::int64_t>(bytes.size()));
    arrived += parts_.back().bytes;
    upload.on_answer(kept(), now_);
  }
  EXPECT_EQ(arrived, bytes);
  EXPECT_EQ(upload.trouble(), "");
}

// A part of 384 KiB, in hexadecimal digits, took 64 kbit/s a minute and a half, and heartbeats
// waited.
TEST_F(ResultUploadTest, PartsAreAsLargeAsAnswersAreFast) {
  ResultUpload upload = this->upload(std::string(8 * kMaxResultPartBytes, 'r'));
  upload.begin(now_);
  const auto next_after = [&](std::chrono::milliseconds time) {
    now_ += time;
    upload.on_answer(kept(), now_);
    return std::ssize(parts_.back().bytes);
  };
  EXPECT_EQ(std::ssize(parts_.back().bytes), kLeastResultPartBytes);
  EXPECT_EQ(next_after(std::chrono::milliseconds(3000)), kLeastResultPartBytes);
  EXPECT_EQ(next_after(std::chrono::milliseconds(1500)), kLeastResultPartBytes);
  EXPECT_EQ(next_after(std::chrono::milliseconds(10)), 2 * kLeastResultPartBytes);
  for (int i = 0; i < 6; ++i) (void)next_after(std::chrono::milliseconds(10));
  EXPECT_EQ(parts_.back().bytes.size(), kMaxResultPartBytes);
  EXPECT_EQ(next_after(std::chrono::milliseconds(2000)),
            static_cast<std::int64_t>(kMaxResultPartBytes / 2));
}

TEST_F(ResultUploadTest, ANewSessionBeginsAnew) {
  ResultUpload upload = this->upload(std::string(kLeastResultPartBytes + 1, 'r'));
  upload.begin(now_);
  EXPECT_TRUE(upload.on_answer(kept(), now_));
  const wire::AnswerMessage last = kept();
  upload.on_attached(now_);
  EXPECT_EQ(parts_.back().offset, 0);
  // The answer of the master before to its last part.
  EXPECT_FALSE(upload.on_answer(last, now_));
  EXPECT_FALSE(upload.is_over());
  upload.on_answer(kept(), now_);
  upload.on_answer(kept(), now_);
  EXPECT_TRUE(upload.is_over());
}

TEST_F(ResultUploadTest, ARefusalEndsIt) {
  ResultUpload upload = this->upload("r");
  upload.begin(now_);
  upload.on_answer({.id = last_, .said = {}, .refused = "the disk is full"}, now_);
  EXPECT_TRUE(upload.is_over());
  EXPECT_EQ(upload.trouble(), "the disk is full");
  upload.on_attached(now_);
  EXPECT_EQ(parts_.size(), 1U);
}

TEST_F(ResultUploadTest, AFileThatIsCutEndsIt) {
  ResultUpload upload = this->upload(std::string(kLeastResultPartBytes + 1, 'r'));
  upload.begin(now_);
  ASSERT_EQ(::truncate(path_.c_str(), 1), 0);
  upload.on_answer(kept(), now_);
  EXPECT_TRUE(upload.is_over());
  EXPECT_THAT(upload.trouble(), testing::HasSubstr("shorter"));
}

TEST_F(ResultUploadTest, OnlyFilesOfAFittingSizeAreResults) {
  EXPECT_EQ(open_result(path_)->size, 0);
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THAT(open_result(path_).error().message, testing::HasSubstr("is not a file"));
  std::filesystem::remove(path_);
  std::filesystem::create_symlink("/etc/passwd", path_);
  EXPECT_FALSE(open_result(path_).ok());
  std::filesystem::remove(path_);
  ASSERT_TRUE(base::write_file_atomically(path_, "r", 0600).ok());
  ASSERT_EQ(::truncate(path_.c_str(), wire::kMaxResultBytes + 1), 0);
  EXPECT_THAT(open_result(path_).error().message,
              testing::HasSubstr("it has 268435457 bytes; at most 268435456 (256 MiB) are kept"));
}

}  // namespace
}  // namespace gangrun::agent
