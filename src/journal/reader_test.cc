#include "journal/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/format.h"
#include "journal/sample_records.h"
#include "journal/segments.h"
#include "journal/test_folder.h"

namespace gangrun::journal {
namespace {

using ::testing::HasSubstr;

std::string segment_text(int attempt, const std::vector<Record>& records,
                         const std::string& job_id = "wine-1") {
  std::string text = header_line({job_id, "0.1.0", attempt, "2026-01-31T12:00:00.000Z"}) + "\n";
  std::int64_t number = 1;
  for (const Record& record : records) text += record_line(record, number++) + "\n";
  return text;
}

std::vector<Record> without_spec() {
  auto records = sample_records();
  records.erase(records.begin());
  return records;
}

void expect_error(const std::string& folder, base::Code code, const std::string& words) {
  const auto journal = read_journal(folder);
  ASSERT_FALSE(journal.ok());
  EXPECT_EQ(journal.error().code, code) << journal.error().message;
  EXPECT_THAT(journal.error().message, HasSubstr(words));
}

TEST(ReaderTest, ReadsSegmentsInTheirOrder) {
  const TestFolder folder;
  write_content(segment_path(folder.path(), 2), segment_text(2, without_spec()));
  write_content(segment_path(folder.path(), 1), segment_text(1, {}));
  write_content(folder.path() + "/notes.txt", "not a segment");
  const auto journal = read_journal(folder.path());
  ASSERT_TRUE(journal.ok()) << journal.error().message;
  ASSERT_EQ(journal->segments.size(), 2U);
  EXPECT_EQ(journal->segments[0].header->attempt, 1);
  EXPECT_TRUE(journal->segments[0].records.empty());
  EXPECT_EQ(journal->segments[1].records, without_spec());
  EXPECT_FALSE(journal->truncated_tail());
}

void expect_the_whole_lines(const TestFolder& folder, const std::string& left,
                            const std::vector<Record>& records) {
  write_content(segment_path(folder.path(), 1), left);
  const auto journal = read_journal(folder.path());
  ASSERT_TRUE(journal.ok()) << journal.error().message;
  const Segment& segment = journal->segments.front();
  const auto lines = std::count(left.begin(), left.end(), '\n');
  ASSERT_EQ(segment.header.has_value(), lines > 0);
  const std::vector<Record> kept(records.begin(), records.begin() + std::max(lines - 1, 0L));
  ASSERT_EQ(segment.records, kept);
  ASSERT_EQ(journal->truncated_tail(), left.empty() || left.back() != '\n');

  std::optional<job::JobStatus> expected;
  for (const Record& record : kept) {
    if (const auto* status = std::get_if<StatusRecord>(&record)) expected = status->status;
    if (const auto* verdict = std::get_if<VerdictRecord>(&record)) expected = verdict->status;
  }
  const auto status = last_status(folder.path());
  ASSERT_TRUE(status.ok()) << status.error().message;
  ASSERT_EQ(*status, expected);
}

// Wherever a master dies, at most the record that it was writing is lost. A record of each kind is
// cut, behind one that is whole.
TEST(ReaderTest, CutAtEveryByteLosesAtMostTheRecordThatWasBeingWritten) {
  const TestFolder folder;
  const auto all = without_spec();
  std::set<std::size_t> kinds;
  for (std::size_t last = 0; last < all.size(); ++last) {
    if (!kinds.insert(all[last].index()).second) continue;
    const std::vector<Record> records = {all[last == 0 ? 0 : last - 1], all[last]};
    const std::string whole = segment_text(1, records);
    const std::size_t begin = last == 0 ? 0 : segment_text(1, {records[0]}).size();
    for (std::size_t cut = begin; cut <= whole.size(); ++cut) {
      SCOPED_TRACE(base::format("record {}, cut at {}", last, cut));
      expect_the_whole_lines(folder, whole.substr(0, cut), records);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(ReaderTest, TornTailOfAnOlderSegmentIsToldToo) {
  const TestFolder folder;
  const std::string first = segment_text(1, without_spec());
  write_content(segment_path(folder.path(), 1), first.substr(0, first.size() - 5));
  write_content(segment_path(folder.path(), 2), segment_text(2, {}));
  const auto journal = read_journal(folder.path());
  ASSERT_TRUE(journal.ok()) << journal.error().message;
  EXPECT_TRUE(journal->segments[0].truncated_tail);
  EXPECT_FALSE(journal->truncated_tail());
}

TEST(ReaderTest, DamageElsewhereIsToldWithSegmentAndLine) {
  const TestFolder folder;
  const std::string path = segment_path(folder.path(), 1);
  const std::string whole = segment_text(1, without_spec());
  std::string damaged = whole;
  const std::size_t third = damaged.find("\n{\"n\":2");
  damaged[third + 1] = '\0';
  write_content(path, damaged);
  expect_error(folder.path(), base::Code::kDataLoss, "000001.jsonl, line 3: ");
  // A line is missing, or there twice.
  const std::size_t fourth = whole.find("\n{\"n\":3");
  write_content(path, whole.substr(0, third) + whole.substr(fourth));
  expect_error(folder.path(), base::Code::kDataLoss, "record 3 stands where 2 should be");
  write_content(path, whole.substr(0, fourth) + whole.substr(third));
  expect_error(folder.path(), base::Code::kDataLoss, "record 2 stands where 3 should be");
}

TEST(ReaderTest, DamagedStatusIsToldByItsPath) {
  const TestFolder folder;
  write_content(segment_path(folder.path(), 1),
                segment_text(1, {}) + "{\"n\":1,\"kind\":\"verdict\",\"status\":7}\n");
  const auto status = last_status(folder.path());
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, base::Code::kDataLoss);
  EXPECT_THAT(status.error().message, HasSubstr("000001.jsonl"));
}

TEST(ReaderTest, ForeignAndNewerFilesAreTold) {
  const TestFolder folder;
  const std::string path = segment_path(folder.path(), 1);
  write_content(path, "something else\n");
  expect_error(folder.path(), base::Code::kInvalidArgument, "is not a journal of gangrun");
  EXPECT_FALSE(last_status(folder.path()).ok());
  std::string newer = segment_text(1, {});
  newer.replace(newer.find("\"version\":3"), 11, "\"version\":4");
  write_content(path, newer);
  expect_error(folder.path(), base::Code::kFailedPrecondition, "newer gangrun");
  const auto status = last_status(folder.path());
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, base::Code::kFailedPrecondition);
}

TEST(ReaderTest, MissingFolderAndEmptyFolderAreNotFound) {
  const TestFolder folder;
  expect_error(folder.path(), base::Code::kNotFound, "no journal");
  expect_error(folder.path() + "/none", base::Code::kNotFound, "none");
  EXPECT_EQ(last_status(folder.path()).error().code, base::Code::kNotFound);
}

TEST(ReaderTest, SegmentsMustBelongTogether) {
  const TestFolder folder;
  write_content(segment_path(folder.path(), 1), segment_text(1, {}));
  write_content(segment_path(folder.path(), 3), segment_text(3, {}));
  expect_error(folder.path(), base::Code::kDataLoss, "000002.jsonl is missing");
  write_content(segment_path(folder.path(), 2), segment_text(2, {}, "other-2"));
  expect_error(folder.path(), base::Code::kDataLoss, "it is of job other-2");
  write_content(segment_path(folder.path(), 2), segment_text(1, {}));
  expect_error(folder.path(), base::Code::kDataLoss, "it is segment 1");
}

TEST(ReaderTest, OtherFilesOfTheFolderAreNoSegments) {
  const TestFolder folder;
  write_content(segment_path(folder.path(), 1), segment_text(1, {}));
  for (const char* name : {"000000.jsonl", "00000x.jsonl", "0000002.jsonl", "000002.json"}) {
    write_content(folder.path() + "/" + name, "other");
  }
  const auto journal = read_journal(folder.path());
  ASSERT_TRUE(journal.ok()) << journal.error().message;
  EXPECT_EQ(journal->segments.size(), 1U);
}

TEST(ReaderTest, SegmentsHaveALimit) {
  const TestFolder folder;
  for (int number = 1; number <= kMaxSegments; ++number) {
    write_content(segment_path(folder.path(), number), "");
  }
  EXPECT_TRUE(read_journal(folder.path()).ok());
  write_content(segment_path(folder.path(), kMaxSegments + 1), "");
  expect_error(folder.path(), base::Code::kResourceExhausted, "has more than");
}

TEST(ReaderTest, LineOverTheLimitIsRefusedWithoutReadingItAll) {
  const TestFolder folder;
  write_content(segment_path(folder.path(), 1),
                segment_text(1, {}) + std::string(kMaxLineBytes + (kMaxLineBytes / 8), 'x'));
  expect_error(folder.path(), base::Code::kResourceExhausted, "line of more than");
  const auto status = last_status(folder.path());
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_FALSE(status->has_value());
}

TEST(ReaderTest, LastStatusIsInTheNewestSegmentThatHasOne) {
  const TestFolder folder;
  const auto running = StatusRecord{sample_status(job::JobState::kRunning)};
  const auto stopping = StatusRecord{sample_status(job::JobState::kStopping)};
  write_content(segment_path(folder.path(), 1), segment_text(1, {running, stopping}));
  write_content(segment_path(folder.path(), 2), segment_text(2, {}));
  write_content(segment_path(folder.path(), 3), "{\"n\":0,\"ki");
  const auto status = last_status(folder.path());
  ASSERT_TRUE(status.ok()) << status.error().message;
  ASSERT_TRUE(status->has_value());
  EXPECT_EQ((**status).state, job::JobState::kStopping);
}

// Lines of every length around the sizes in which a file is read from its end.
TEST(ReaderTest, LastStatusIsFoundBehindAnyNumberOfBytes) {
  const TestFolder folder;
  const std::string path = segment_path(folder.path(), 1);
  const std::string start =
      segment_text(1, {StatusRecord{sample_status(job::JobState::kRunning, 400)}});
  const std::size_t chunk = 65'536;
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{2}, chunk - 2, chunk - 1, chunk,
                                  chunk + 1, 2 * chunk, 5 * chunk - 1, 20 * chunk + 3}) {
    for (const char* tail : {"", "{\"n\":9,\"kind\":\"sta"}) {
      write_content(path, start + std::string(bytes, 'e') + "\n" + tail);
      const auto status = last_status(folder.path());
      ASSERT_TRUE(status.ok()) << bytes << ": " << status.error().message;
      ASSERT_TRUE(status->has_value()) << bytes;
      EXPECT_EQ((**status).tasks.size(), 400U);
    }
  }
}

TEST(ReaderTest, ALongJournalIsReadWhole) {
  const TestFolder folder;
  const int count = 2'000;  // how fast one of 100,000 is read: bench/journal.py
  std::vector<Record> records = {StatusRecord{sample_status(job::JobState::kRunning)}};
  const auto events = sample_events();
  while (records.size() < static_cast<std::size_t>(count)) {
    records.emplace_back(EventRecord{events[records.size() % events.size()],
                                     base::Duration(static_cast<std::int64_t>(records.size()))});
  }
  write_content(segment_path(folder.path(), 1), segment_text(1, records));
  const auto journal = read_journal(folder.path());
  const auto status = last_status(folder.path());
  ASSERT_TRUE(journal.ok()) << journal.error().message;
  EXPECT_EQ(journal->segments.front().records.size(), records.size());
  ASSERT_TRUE(status.ok());
  EXPECT_TRUE(status->has_value());
}

}  // namespace
}  // namespace gangrun::journal
