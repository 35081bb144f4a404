#include "agents/file_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <map>
#include <utility>

#include "base/format.h"
#include "base/test_deadline.h"
#include "base/test_folder.h"

namespace gangrun::agents {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using wire::FilesPart;
using wire::FilesWanted;

const job::TaskId kWorker{"worker", 0};
const job::TaskId kOther{"worker", 1};
constexpr std::int64_t kRoom = 4096;

// In hexadecimal digits, which are not decoded here: they are many.
const std::string& text_of_piece(const base::Json& part) {
  return part.at("pieces").at(0).at("bytes").get_ref<const std::string&>();
}

class FileSourceTest : public testing::Test {
 protected:
  void add(const std::string& name, const std::string& bytes, bool is_executable = false) {
    const std::string path = folder_ / base::format("{}", files_.size());
    std::ofstream(path) << bytes;
    files_.push_back(cluster::look_at(name, path, is_executable).value());
    files_.back().digest = std::string(64, 'd');
  }
  void begin(base::Duration told_every = base::Duration(0)) {
    source_.emplace(
        loop_, std::make_shared<const cluster::FetchedFiles>(files_), told_every,
        FileSource::Callbacks{
            .answer =
                [this](const job::TaskId& task, wire::AnswerMessage answer) {
                  answers_.emplace_back(task, std::move(answer));
                },
            .on_progress =
                [this](const auto& task) { events_.push_back("progress " + words(task)); },
            .on_complete =
                [this](const auto& task) { events_.push_back("complete " + words(task)); },
            .on_failed =
                [this](const auto& task, const std::string& why) {
                  events_.push_back("failed " + words(task) + ": " + why);
                }});
  }
  static std::string words(const job::TaskId& task) { return job::to_string(task); }
  void ask(const FilesWanted& wanted, const job::TaskId& task = kWorker) {
    source_->ask(task,
                 {.id = ++asked_, .kind = "files", .about = base::to_json(wanted), .limit = {}});
  }
  void wait(const std::function<bool()>& done) { EXPECT_TRUE(loop_.run_until(done, base::soon())); }
  wire::AnswerMessage answer_to(const FilesWanted& wanted, const job::TaskId& task = kWorker) {
    answers_.clear();
    ask(wanted, task);
    wait([this] { return !answers_.empty(); });
    if (answers_.empty()) return {};
    EXPECT_EQ(answers_.front().first, task);
    EXPECT_EQ(answers_.front().second.id, asked_);
    return answers_.front().second;
  }
  FilesPart part(const FilesWanted& wanted, const job::TaskId& task = kWorker) {
    const auto answer = answer_to(wanted, task);
    EXPECT_EQ(answer.refused, "");
    EXPECT_LE(wire::encode(wire::MasterMessage(answer)).size(), wire::kMaxMasterMessageBytes);
    return base::from_json<FilesPart>(answer.said).value_or(FilesPart{});
  }

  base::TestFolder folder_;
  net::EventLoop loop_;
  cluster::FetchedFiles files_;
  std::optional<FileSource> source_;
  std::int64_t asked_ = 0;
  std::vector<std::pair<job::TaskId, wire::AnswerMessage>> answers_;
  std::vector<std::string> events_;
};

TEST_F(FileSourceTest, GivesOneStreamOfAllFilesFromWhereTheAgentIs) {
  add("a", "aa");
  add("bin/run", "#!", true);
  add("empty", "");
  add("large", std::string(2 * kRoom, 'l'));
  begin();
  const FilesPart first = part({.room = kRoom});
  ASSERT_EQ(first.pieces.size(), 4U);
  EXPECT_EQ(
      first.pieces[0],
      (wire::FilePiece{.name = "a", .size = 2, .digest = std::string(64, 'd'), .bytes = "aa"}));
  EXPECT_TRUE(first.pieces[1].is_executable);
  EXPECT_EQ(first.pieces[2].name, "empty");
  EXPECT_EQ(first.pieces[3].size, 2 * kRoom);
  const auto came = static_cast<std::int64_t>(first.pieces[3].bytes.size());
  EXPECT_GT(came, kRoom / 2);
  EXPECT_LT(came, kRoom);
  const FilesPart more = part({.file = 3, .offset = came, .room = wire::kMaxResultPartBytes});
  ASSERT_EQ(more.pieces.size(), 1U);
  EXPECT_EQ(more.pieces[0].name, "");
  EXPECT_EQ(more.pieces[0].bytes, std::string(static_cast<std::size_t>(2 * kRoom - came), 'l'));
  // The same again, as after a session that broke.
  EXPECT_EQ(part({.room = kRoom}), first);
  EXPECT_TRUE(source_->is_awaited(kWorker));
  EXPECT_THAT(part({.file = 4, .room = 1}).pieces, IsEmpty());
  EXPECT_FALSE(source_->is_awaited(kWorker));
}

TEST_F(FileSourceTest, EachPartBringsTheAgentOnHoweverLittleItsRoomIs) {
  add(std::string(1000, 'n'), "123");
  add("b", "4");
  begin();
  EXPECT_EQ(part({.room = 1}).pieces.at(0).bytes, "1");
  const FilesPart rest = part({.offset = 1, .room = 1});
  ASSERT_EQ(rest.pieces.size(), 1U);
  EXPECT_EQ(rest.pieces[0].bytes, "2");
}

TEST_F(FileSourceTest, TellsWhatIsSentAndWhenAnAgentHasAll) {
  add("a", "aaaa");
  begin();
  EXPECT_EQ(source_->words(), "");
  (void)part({.room = kRoom});
  EXPECT_EQ(source_->words(), "sending a to worker:0, 0 %");
  (void)part({.offset = 2, .room = kRoom});
  (void)part({.offset = 3, .room = kRoom}, kOther);
  EXPECT_EQ(source_->words(), "sending a to 2 tasks, 62 %");
  (void)part({.file = 1, .room = kRoom});
  EXPECT_EQ(source_->words(), "sending a to worker:1, 75 %");
  EXPECT_THAT(events_, ElementsAre("progress worker:0", "progress worker:0", "progress worker:1",
                                   "complete worker:0"));
  (void)part({.file = 1, .room = kRoom});
  EXPECT_EQ(events_.size(), 4U) << "once";
}

TEST_F(FileSourceTest, SeveralFilesAreCounted) {
  add("a", "a");
  add("b", "b");
  begin();
  (void)part({.file = 1, .room = kRoom});
  EXPECT_EQ(source_->words(), "sending 2 files to worker:0, 50 %");
}

TEST_F(FileSourceTest, ProgressIsNotToldTooOften) {
  add("a", "aaaa");
  begin(std::chrono::hours(1));
  for (const std::int64_t offset : {0, 1, 2}) (void)part({.offset = offset, .room = kRoom});
  EXPECT_THAT(events_, ElementsAre("progress worker:0"));
}

TEST_F(FileSourceTest, AnAgentThatAsksForTheSameAgainMakesNoProgress) {
  add("a", "aaaa");
  begin();
  for (int i = 0; i < 3; ++i) (void)part({.offset = 2, .room = kRoom});
  EXPECT_THAT(events_, ElementsAre("progress worker:0"));
}

TEST_F(FileSourceTest, AFileThatHasChangedIsRefusedAndNamed) {
  add("a", "aaaa");
  begin();
  std::ofstream(files_.front().path) << "other";
  const std::string why = files_.front().path + " has changed since the job was started";
  EXPECT_EQ(answer_to({.room = kRoom}).refused, why);
  EXPECT_THAT(events_, ElementsAre("progress worker:0", "failed worker:0: " + why));
  EXPECT_EQ(source_->words(), "");
}

TEST_F(FileSourceTest, WhyAnAgentGivesUpIsTold) {
  add("a", "aaaa");
  begin();
  EXPECT_THAT(part({.room = 1, .failed = "no space left"}).pieces, IsEmpty());
  EXPECT_THAT(events_, ElementsAre("failed worker:0: no space left"));
  EXPECT_TRUE(source_->is_awaited(kWorker));
}

TEST_F(FileSourceTest, WhatIsNotThereIsRefused) {
  add("a", "aaaa");
  begin();
  EXPECT_THAT(answer_to({.file = 2, .room = 1}).refused, HasSubstr("no byte 0 of file 2"));
  EXPECT_THAT(answer_to({.file = 1, .offset = 1, .room = 1}).refused, HasSubstr("no byte 1"));
  EXPECT_THAT(answer_to({.offset = 5, .room = 1}).refused, HasSubstr("no byte 5 of file 0"));
  source_.emplace(
      loop_, nullptr, base::Duration(0),
      FileSource::Callbacks{
          .answer = [this](const auto& task, auto answer) { answers_.emplace_back(task, answer); },
          .on_progress = {},
          .on_complete = {},
          .on_failed = {}});
  EXPECT_FALSE(source_->has_files());
  EXPECT_FALSE(source_->is_awaited(kWorker));
  EXPECT_THAT(answer_to({.room = 1}).refused, HasSubstr("no files"));
}

TEST_F(FileSourceTest, ANewAgentOfATaskFetchesAllAgain) {
  add("a", "aaaa");
  begin();
  (void)part({.file = 1, .room = kRoom});
  EXPECT_FALSE(source_->is_awaited(kWorker));
  source_->forget(kWorker);
  EXPECT_TRUE(source_->is_awaited(kWorker));
  (void)part({.file = 1, .room = kRoom});
  EXPECT_THAT(events_, ElementsAre("complete worker:0", "complete worker:0"));
}

TEST_F(FileSourceTest, ManyAgentsAreServedEachWithItsShareOfTheRoom) {
  // More than have the most of a part under way together.
  constexpr int kAgents = 200;
  add("a", std::string(wire::kMaxResultPartBytes, 'a'));
  std::map<int, std::size_t> sizes;  // by the tasks' numbers
  source_.emplace(
      loop_, std::make_shared<const cluster::FetchedFiles>(files_), base::Duration(0),
      FileSource::Callbacks{.answer =
                                [&sizes](const auto& task, const wire::AnswerMessage& answer) {
                                  sizes[task.index] = text_of_piece(answer.said).size() / 2;
                                },
                            .on_progress = [](const auto&) {},
                            .on_complete = [](const auto&) {},
                            .on_failed = [](const auto&, const auto&) {}});
  constexpr int kLast = kAgents - 1;
  for (int i = 0; i < kAgents; ++i) {
    const bool wants_much = i == 0 || i == kLast;
    ask({.room = wants_much ? std::int64_t{wire::kMaxResultPartBytes} : 1}, {"worker", i});
  }
  wait([&] { return sizes.size() == kAgents; });
  ASSERT_EQ(sizes.size(), std::size_t{kAgents});
  EXPECT_GT(sizes[0], wire::kMaxResultPartBytes - 1000);
  EXPECT_LE(sizes[kLast], (std::size_t{64} << 20U) / kAgents);
  EXPECT_GT(sizes[kLast], (std::size_t{60} << 20U) / kAgents);
}

}  // namespace
}  // namespace gangrun::agents
