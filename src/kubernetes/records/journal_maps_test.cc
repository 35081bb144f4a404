#include "kubernetes/records/journal_maps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "base/files.h"
#include "base/hex.h"
#include "base/test_folder.h"
#include "journal/reader.h"
#include "journal/sample_records.h"
#include "journal/segments.h"
#include "journal/writer.h"
#include "kubernetes/records/record_server_for_tests.h"
#include "net/digests.h"

namespace gangrun::kubernetes::records {
namespace {

using test::Office;
using test::RecordServer;
using testing::HasSubstr;

// A master with a journal, and the copy of it.
struct Copying : RecordServer {
  explicit Copying(int segment = 1) : office(*this) {
    auto made = journal::Writer::create(
        folder.path(), {.job_id = "j-20260131", .attempt = segment, .started = {}, .origin = {}});
    EXPECT_TRUE(made.ok());
    writer = std::move(*made);
    maps = std::make_unique<JournalMaps>(
        place(), office.keeper,
        JournalMaps::Options{.segment_path = journal::segment_path(folder.path(), segment),
                             .segment = segment,
                             .on_full = [this] { ++full; }});
  }

  void record(const journal::Record& what) { EXPECT_TRUE(writer->append(what).ok()); }
  void copy() {
    maps->copy([this, number = ++asked_for] { copied.push_back(number); });
  }
  void copy_and_wait() {
    copy();
    EXPECT_TRUE(wait([this] { return !copied.empty() && copied.back() == asked_for; }));
  }

  base::TestFolder folder;
  Office office;
  std::unique_ptr<journal::Writer> writer;
  std::unique_ptr<JournalMaps> maps;
  int asked_for = 0;
  int full = 0;
  std::vector<int> copied;
};

void expect_equal_journals(Copying& copying) {
  const base::TestFolder there;
  const auto fetched =
      fetch_journal(copying.place(), copying.store.head(), there.path(), copying.deadline());
  ASSERT_TRUE(fetched.ok()) << fetched.error().message;
  const auto here = journal::read_journal(copying.folder.path());
  const auto read = journal::read_journal(there.path());
  ASSERT_TRUE(here.ok() && read.ok());
  EXPECT_EQ(read->segments, here->segments);
}

TEST(JournalMaps, BringsTheJournalToANextMaster) {
  Copying copying;
  for (const journal::Record& record : journal::sample_records()) {
    copying.record(record);
    copying.copy_and_wait();
  }
  expect_equal_journals(copying);
  const auto records = static_cast<std::ptrdiff_t>(journal::sample_records().size());
  EXPECT_EQ(copying.count("POST journal-000001-001"), 1);
  EXPECT_EQ(copying.count("PATCH journal-000001-001"), records - 1);  // one request for a batch
  EXPECT_EQ(copying.count("PATCH head"), 2);                          // the claim, and the map
}

TEST(JournalMaps, PutsWhatIsRecordedMeanwhileIntoTheNextPart) {
  Copying copying;
  for (const journal::Record& record : journal::sample_records()) {
    copying.record(record);
    copying.copy();
  }
  EXPECT_TRUE(copying.copied.empty());
  ASSERT_TRUE(
      copying.wait([&] { return copying.copied.size() == journal::sample_records().size(); }));
  EXPECT_TRUE(std::ranges::is_sorted(copying.copied));
  EXPECT_LE(copying.count("PATCH journal-000001-001"), 1);
  expect_equal_journals(copying);
}

TEST(JournalMaps, CallsBackWhereNothingIsNew) {
  Copying copying;
  copying.copy_and_wait();
  const std::size_t asked = copying.asked.size();
  copying.copy();
  EXPECT_EQ(copying.copied.size(), 1U);  // not from inside
  ASSERT_TRUE(copying.wait([&] { return copying.copied.size() == 2; }));
  EXPECT_EQ(copying.asked.size(), asked);
}

TEST(JournalMaps, CutsLongJournals) {
  Copying copying;
  job::JobStatus status = journal::sample_status(job::JobState::kRunning, 1);
  for (int i = 0; i < 8; ++i) {
    status.tasks[0].last_line = base::to_hex(net::random_bytes(450));
    for (int line = 0; line < 60; ++line) copying.record(journal::StatusRecord{status});
  }
  copying.copy_and_wait();
  EXPECT_GT(copying.store.keys_in("j-journal-000001-001"), 2U);
  expect_equal_journals(copying);
}

TEST(JournalMaps, WaitsForTheServerForAsLongAsItIsAway) {
  Copying copying;
  copying.copy_and_wait();
  bool is_away = true;
  copying.meddle = [&](TestTalk& talk, const std::string&) {
    if (is_away) talk.refuse(503, "ServiceUnavailable", "the server is starting");
    return is_away;
  };
  copying.record(journal::sample_records().front());
  copying.copy();
  ASSERT_TRUE(copying.wait([&] { return !copying.maps->trouble().empty(); }));
  EXPECT_THAT(copying.maps->trouble(), HasSubstr("before which nothing new is started: "));
  EXPECT_EQ(copying.copied.size(), 1U);
  is_away = false;
  ASSERT_TRUE(copying.wait([&] { return copying.copied.size() == 2; }));
  EXPECT_EQ(copying.maps->trouble(), "");
  expect_equal_journals(copying);
}

TEST(JournalMaps, OfADeposedMasterActsUponNothing) {
  Copying copying;
  copying.copy_and_wait();
  const Office next(copying, "pod-2");
  copying.record(journal::sample_records().front());
  copying.maps->hurry();
  copying.copy();
  ASSERT_TRUE(copying.wait([&] { return !copying.office.deposed.empty(); }));
  copying.idle(std::chrono::milliseconds(200));
  EXPECT_EQ(copying.copied.size(), 1U);
}

TEST(JournalMaps, TellsOnceThatThereIsOnlyRoomForTheEnd) {
  RecordServer server;
  server.store.change_head([](Head& head) { head.chains["journal-000001"] = 256; });
  const base::TestFolder folder;
  const std::string path = folder / "segment";
  Office office(server.place());
  server.store.perform("POST", std::string(test::kRecordFolder),
                       {{"metadata", {{"name", "j-journal-000001-256"}}}});
  office.claim("pod-1", server.deadline());
  int full = 0;
  JournalMaps maps(server.place(), office.keeper,
                   {.segment_path = path, .segment = 2, .on_full = [&] { ++full; }});
  int copied = 0;
  for (int i = 1; i <= 3; ++i) {
    ASSERT_TRUE(
        base::write_file_atomically(path, std::string(static_cast<std::size_t>(i), 'x'), 0600)
            .ok());
    maps.copy([&] { ++copied; });
    ASSERT_TRUE(server.wait([&] { return copied == i; }));
  }
  EXPECT_EQ(full, 1);
  EXPECT_EQ(server.store.keys_in("j-journal-000002-001"), 3U);
}

}  // namespace
}  // namespace gangrun::kubernetes::records
