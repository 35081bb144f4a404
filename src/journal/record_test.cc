#include "journal/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/test_described.h"
#include "job/described.h"
#include "journal/sample_records.h"

namespace gangrun::journal {
namespace {

using ::testing::HasSubstr;

constexpr char kHeader[] =
    R"({"n":0,"kind":"header","format":"gangrun","version":3,"job":"wine-1",)"
    R"("gangrun":"0.1.0","attempt":1,"started":"2026-01-31T12:00:00.000Z"})";

TEST(RecordTest, EveryKindReadsBackAsItWas) {
  std::int64_t number = 1;
  for (const Record& record : sample_records()) {
    const std::string line = record_line(record, number);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    const auto read = parse_record(line, number);
    ASSERT_TRUE(read.ok()) << line << ": " << read.error().message;
    EXPECT_EQ(record_line(*read, number), line);
    if (record.index() != 0) {  // a job file is completed where it is read
      EXPECT_EQ(*read, record) << line;
    }
    ++number;
  }
}

TEST(RecordTest, HeaderReadsBackAndIsAsDocumented) {
  const Header header{"wine-1", "0.1.0", 1, "2026-01-31T12:00:00.000Z"};
  EXPECT_EQ(header_line(header), kHeader);
  const auto read = parse_header(kHeader);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read, header);
}

TEST(RecordTest, EventIsAsDocumented) {
  const job::TaskId worker{"worker", 1};
  const EventRecord record{gang::Started{worker, 2}, base::Duration(5)};
  EXPECT_EQ(record_line(record, 7),
            R"({"n":7,"kind":"event","at":5,)"
            R"("event":{"event":"started","task":"worker:1","attempt":2}})");
}

// With the least that each may have.
TEST(RecordTest, EachEventIsInTheFuzzersCorpus) {
  std::string segment = std::string(kHeader) + "\n";
  std::int64_t number = 0;
  for (const auto& event : base::sample_of_each(static_cast<const gang::Event*>(nullptr))) {
    ++number;
    const std::string line = record_line(EventRecord{event, base::Duration(number)}, number);
    const auto read = parse_record(line, number);
    ASSERT_TRUE(read.ok()) << line << ": " << read.error().message;
    EXPECT_EQ(record_line(*read, number), line);
    segment += line + "\n";
  }
  base::expect_made("fuzz/corpus/journal/each_event", segment);
}

TEST(RecordTest, NewerVersionIsToldWithBothVersions) {
  std::string line = kHeader;
  line.replace(line.find("\"version\":3"), 11, "\"version\":4,\"new\":0");
  const auto read = parse_header(line);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, base::Code::kFailedPrecondition);
  EXPECT_THAT(read.error().message, HasSubstr("version 4 was written by a newer gangrun"));
}

TEST(RecordTest, ForeignFirstLineIsTold) {
  for (const char* line : {"", "hello", "{}", "[]", "7", R"({"kind":"header","version":1})",
                           R"({"n":0,"kind":"header","format":"other","version":1})"}) {
    const auto read = parse_header(line);
    ASSERT_FALSE(read.ok()) << line;
    EXPECT_EQ(read.error().code, base::Code::kInvalidArgument);
    EXPECT_THAT(read.error().message, HasSubstr("not a journal of gangrun"));
  }
}

TEST(RecordTest, RefusesWhatItWouldNotWrite) {
  for (const char* line :
       {"", "{}", "null", R"({"n":1})", R"({"n":1,"kind":"strange"})",
        R"({"n":2,"kind":"event","at":5,"event":{"event":"begin"}})",  // out of its place
        R"({"n":1,"kind":"event","at":5})", R"({"n":1,"kind":"event","event":{"event":"begin"}})",
        R"({"n":1,"kind":"event","at":5,"event":{"event":"strange"}})",
        R"({"n":1,"kind":"event","at":5,"event":{"event":"begin","more":1}})",
        R"({"n":1,"kind":"event","at":5,"event":{"event":"begin"},"more":1})",
        R"({"n":1,"kind":"event","at":5,"event":{"event":"started","task":"worker"}})",
        R"({"n":1,"kind":"event","at":5,"event":{"event":"started","task":"w:0","attempt":0}})",
        R"({"n":1,"kind":"generation","cluster_spec":7})", R"({"n":1,"kind":"status"})",
        R"({"n":1,"kind":"spec","spec":{"tasks":{}}})"}) {
    EXPECT_FALSE(parse_record(line, 1).ok()) << line;
  }
}

// A job of a tenth of the tasks whose texts are so long that they are shortened.
TEST(RecordTest, StatusOfTheLargestJobFitsALine) {
  constexpr std::size_t kTenth = job::kMaxTasks / 10;
  job::JobStatus status = sample_status(job::JobState::kRunning, static_cast<int>(kTenth));
  // Each of these letters is written as six.
  for (job::TaskStatus& task : status.tasks) task.last_line = std::string(4000, '\1');
  const std::string line = record_line(StatusRecord{status}, 1);
  // The last tasks' numbers have one digit more.
  EXPECT_LT((line.size() / kTenth + 1) * job::kMaxTasks, kMaxLineBytes);
  const auto read = parse_record(line, 1);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(std::get<StatusRecord>(*read).status.tasks.size(), status.tasks.size());
}

TEST(RecordTest, StatusIsSeenWithoutReadingTheLine) {
  for (const Record& record : sample_records()) {
    const bool is_status = std::holds_alternative<StatusRecord>(record) ||
                           std::holds_alternative<VerdictRecord>(record);
    EXPECT_EQ(holds_status(record_line(record, 123'456'789)), is_status);
  }
}

}  // namespace
}  // namespace gangrun::journal
