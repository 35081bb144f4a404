#include "journal/writer.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <iterator>

#include "base/files.h"
#include "journal/reader.h"
#include "journal/sample_records.h"
#include "journal/segments.h"
#include "journal/test_folder.h"

namespace gangrun::journal {
namespace {

using ::testing::HasSubstr;

Opening opening(int attempt = 1) {
  Opening opening;
  opening.job_id = "wine-1";
  opening.attempt = attempt;
  opening.origin = base::Instant(base::Duration(1'000));
  return opening;
}

std::vector<Record> records_in(const std::string& folder) {
  const auto journal = read_journal(folder);
  EXPECT_TRUE(journal.ok()) << journal.error().message;
  if (!journal.ok()) return {};
  EXPECT_FALSE(journal->truncated_tail());
  return journal->segments.back().records;
}

TEST(WriterTest, WhatWasAppendedIsInTheFileAtOnce) {
  for (const bool durable : {false, true}) {
    const TestFolder folder;
    Opening how = opening();
    how.durable = durable;
    const auto writer = Writer::create(folder.path(), how);
    ASSERT_TRUE(writer.ok()) << writer.error().message;
    std::size_t count = 0;
    EXPECT_EQ(records_in(folder.path()).size(), count);
    for (const Record& record : sample_records()) {
      ASSERT_TRUE((*writer)->append(record).ok());
      const auto records = records_in(folder.path());
      ASSERT_EQ(records.size(), ++count);
      EXPECT_EQ(record_line(records.back(), 1), record_line(record, 1));
    }
  }
}

TEST(WriterTest, SegmentIsPrivateAndWrittenOnce) {
  const TestFolder folder;
  ASSERT_TRUE(Writer::create(folder.path(), opening()).ok());
  struct stat info {};
  ASSERT_EQ(::stat(segment_path(folder.path(), 1).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  const auto again = Writer::create(folder.path(), opening());
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code, base::Code::kAlreadyExists);
  EXPECT_THAT(again.error().message, HasSubstr("000001.jsonl"));
  EXPECT_TRUE(Writer::create(folder.path(), opening(2)).ok());
}

TEST(WriterTest, AttemptsHaveALimitAndTheFolderMustExist) {
  const TestFolder folder;
  EXPECT_FALSE(Writer::create(folder.path(), opening(0)).ok());
  EXPECT_FALSE(Writer::create(folder.path(), opening(kMaxSegments + 1)).ok());
  const auto missing = Writer::create(folder.path() + "/none", opening());
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, base::Code::kNotFound);
}

// Only root can make such a disk.
TEST(WriterTest, ADiskThatOthersFillHasRoomForTheJournal) {
  const TestFolder folder;
  if (::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=2m,mode=0700") != 0) return;
  {
    const auto writer = Writer::create(folder.path(), opening());
    ASSERT_TRUE(writer.ok());
    const std::string others(std::size_t{1} << 22U, 'x');
    EXPECT_FALSE(base::write_file_atomically(folder.path() + "/others", others, 0600).ok());
    const base::UniqueFd fill(
        ::open((folder.path() + "/fill").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    EXPECT_FALSE(base::write_all(fill.get(), others, "fill").ok());
    for (const Record& record : sample_records()) EXPECT_TRUE((*writer)->append(record).ok());
  }
  struct stat info {};
  ASSERT_EQ(::stat(segment_path(folder.path(), 1).c_str(), &info), 0);
  EXPECT_LT(info.st_blocks * 512, info.st_size + (1 << 16)) << "the rest is given back";
  EXPECT_EQ(::umount2(folder.path().c_str(), MNT_DETACH), 0);
}

// However small it is, and however long the journal has become.
TEST(WriterTest, AJournalHasRoomAheadOnASmallDisk) {
  for (const std::string size : {"size=128k,mode=0700", "size=1m,mode=0700", "size=8m,mode=0700"}) {
    const TestFolder folder;
    if (::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, size.c_str()) != 0) return;
    {
      const auto writer = Writer::create(folder.path(), opening());
      ASSERT_TRUE(writer.ok());
      const Record status = StatusRecord{sample_status(job::JobState::kRunning)};
      if (size.starts_with("size=8m")) {
        for (int i = 0; i < 4'000; ++i) ASSERT_TRUE((*writer)->append(status).ok());
        EXPECT_GT(std::filesystem::file_size(segment_path(folder.path(), 1)), 2U << 20U);
      }
      const std::string others(std::size_t{16} << 20U, 'x');
      const base::UniqueFd fill(
          ::open((folder.path() + "/fill").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
      EXPECT_FALSE(base::write_all(fill.get(), others, "fill").ok());
      struct stat info {};
      ASSERT_EQ(::fstat(fill.get(), &info), 0);
      EXPECT_GT(info.st_size, 48 << 10) << size << ": others have their share";
      for (const Record& record : sample_records()) EXPECT_TRUE((*writer)->append(record).ok());
      for (int i = 0; i < 5; ++i) EXPECT_TRUE((*writer)->append(status).ok()) << size;
    }
    EXPECT_EQ(::umount2(folder.path().c_str(), MNT_DETACH), 0);
  }
}

// As a file system that reserves nothing, for this process and for good.
bool refuse_to_reserve() {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_fallocate, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program = {std::size(code), code};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1UL, 0UL, 0UL, 0UL) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// 0: all is as it has to be; else the number of what is not.
int write_where_nothing_is_reserved(const std::string& folder) {
  const std::string spare = segment_path(folder, 1) + ".spare";
  const auto has_spare = [&spare] { return ::access(spare.c_str(), F_OK) == 0; };
  {
    if (!refuse_to_reserve()) return 1;
    const auto writer = Writer::create(folder, opening());
    if (!writer.ok() || !has_spare()) return 2;
    const base::UniqueFd fill(
        ::open((folder + "/fill").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    if (base::write_all(fill.get(), std::string(std::size_t{1} << 20U, 'x'), "fill").ok()) return 3;
    if (!has_spare()) return 4;
    // Beyond the end of what the header has of its block.
    const Record status = StatusRecord{sample_status(job::JobState::kRunning)};
    for (int i = 0; i < 20; ++i) {
      if (!(*writer)->append(status).ok()) return 5;
    }
    if (has_spare()) return 6;
  }
  {
    const auto next = Writer::create(folder, opening(2));
    (void)next;
  }
  return ::access((segment_path(folder, 2) + ".spare").c_str(), F_OK) == 0 ? 7 : 0;
}

TEST(WriterTest, AFileIsKeptToBeRemovedForTheJournalWhereNothingCanBeReserved) {
  const TestFolder folder;
  if (::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=256k,mode=0700") != 0) return;
  EXPECT_EXIT(::_exit(write_where_nothing_is_reserved(folder.path())), testing::ExitedWithCode(0),
              "");
  EXPECT_EQ(::umount2(folder.path().c_str(), MNT_DETACH), 0);
}

TEST(WriterTest, InstantsCountFromTheOrigin) {
  const TestFolder folder;
  const auto writer = Writer::create(folder.path(), opening());
  ASSERT_TRUE(writer.ok());
  const auto at = [](int ns) { return base::Instant(base::Duration(ns)); };
  const job::TaskId worker{"worker", 0};
  const gang::Event exited = job::Exited{worker, 1, {}, at(1'500)};
  const gang::Event ended =
      job::AgentEnded{worker, 1, {.reason = job::Reason::kAgentEnded, .detail = "died"}, at(900)};
  ASSERT_TRUE((*writer)->event(exited, at(3'000)).ok());
  ASSERT_TRUE((*writer)->event(ended, at(4'000)).ok());
  const auto records = records_in(folder.path());
  ASSERT_EQ(records.size(), 2U);
  const EventRecord first{job::Exited{worker, 1, {}, at(500)}, base::Duration(2'000)};
  const EventRecord second{
      job::AgentEnded{worker, 1, {.reason = job::Reason::kAgentEnded, .detail = "died"}, at(-100)},
      base::Duration(3'000)};
  EXPECT_EQ(records[0], Record(first));
  EXPECT_EQ(records[1], Record(second));
}

TEST(WriterTest, EachKindIsReadAsItself) {
  const TestFolder folder;
  const auto writer = Writer::create(folder.path(), opening());
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE((*writer)->append(SpecRecord{sample_spec()}).ok());
  ASSERT_TRUE((*writer)->append(GenerationRecord{{1, {{"worker", {{"host1", 4000}}}}}}).ok());
  ASSERT_TRUE((*writer)->append(StatusRecord{sample_status(job::JobState::kRunning)}).ok());
  ASSERT_TRUE((*writer)->append(VerdictRecord{sample_status(job::JobState::kFailed)}).ok());
  const PlaceRecord place{{"worker", 0}, 2, {{"pid", 4711}}};
  ASSERT_TRUE((*writer)->append(place).ok());
  const auto records = records_in(folder.path());
  ASSERT_EQ(records.size(), 5U);
  EXPECT_TRUE(std::holds_alternative<SpecRecord>(records[0]));
  EXPECT_TRUE(std::holds_alternative<GenerationRecord>(records[1]));
  EXPECT_TRUE(std::holds_alternative<StatusRecord>(records[2]));
  EXPECT_TRUE(std::holds_alternative<VerdictRecord>(records[3]));
  EXPECT_EQ(records[4], Record(place));
}

// While it lives, no file of this process grows beyond `bytes`.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

// If a disk is full, the kernel writes a part of the line: at every byte of it.
TEST(WriterTest, PartOfALineIsTakenBackAndTheWriterGoesOn) {
  const TestFolder folder;
  const auto writer = Writer::create(folder.path(), opening());
  ASSERT_TRUE(writer.ok());
  const Record record = sample_records()[6];
  ASSERT_TRUE((*writer)->append(record).ok());
  const std::string path = segment_path(folder.path(), 1);
  const std::string before = content_of(path);
  const std::size_t line = record_line(record, 2).size() + 1;
  for (std::size_t room = 0; room < line; ++room) {
    base::Result<> outcome;
    {
      const FileSizeLimit limit(before.size() + room);
      outcome = (*writer)->append(record);
    }
    ASSERT_FALSE(outcome.ok()) << room;
    EXPECT_THAT(outcome.error().message, HasSubstr("000001.jsonl"));
    ASSERT_EQ(content_of(path), before) << room;
  }
  ASSERT_TRUE((*writer)->append(record).ok());
  EXPECT_EQ(records_in(folder.path()).size(), 2U);
}

// A user who may mount gets a disk that is really full; else the limit above has shown the same.
TEST(WriterTest, FullDiskIsAnErrorUntilThereIsRoom) {
  const TestFolder folder;
  const bool mounted =
      ::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=64k,mode=0700") == 0;
  const auto writer = Writer::create(folder.path(), opening());
  ASSERT_TRUE(writer.ok());
  const std::string ballast = folder.path() + "/ballast";
  if (mounted) write_content(ballast, std::string(std::size_t{40} << 10U, 'x'));
  const Record record = StatusRecord{sample_status(job::JobState::kRunning, 20)};
  std::size_t written = 0;
  base::Result<> outcome;
  for (int i = 0; i < 100 && outcome.ok(); ++i) {
    outcome = (*writer)->append(record);
    if (outcome.ok()) ++written;
  }
  EXPECT_EQ(outcome.ok(), !mounted);
  if (mounted) {
    EXPECT_EQ(outcome.error().code, base::Code::kResourceExhausted);
  }
  EXPECT_EQ(records_in(folder.path()).size(), written);
  if (mounted) std::filesystem::remove(ballast);
  EXPECT_TRUE((*writer)->append(record).ok());
  EXPECT_EQ(records_in(folder.path()).size(), written + 1);
  if (mounted) ::umount2(folder.path().c_str(), MNT_DETACH);
}

TEST(WriterTest, RecordOverTheLimitIsRefusedAndNothingIsWritten) {
  const TestFolder folder;
  const auto writer = Writer::create(folder.path(), opening());
  ASSERT_TRUE(writer.ok());
  job::ClusterSpec spec{1, {}};
  spec.tasks["worker"].resize(kMaxLineBytes / 1'000, {std::string(1'000, 'h'), 1});
  const auto outcome = (*writer)->append(GenerationRecord{spec});
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code, base::Code::kResourceExhausted);
  EXPECT_TRUE((*writer)->append(StatusRecord{sample_status(job::JobState::kRunning)}).ok());
  EXPECT_EQ(records_in(folder.path()).size(), 1U);
}

}  // namespace
}  // namespace gangrun::journal
