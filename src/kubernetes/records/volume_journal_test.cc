#include "kubernetes/records/volume_journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "base/test_folder.h"
#include "journal/sample_records.h"
#include "journal/segments.h"
#include "journal/writer.h"
#include "kubernetes/records/record_server_for_tests.h"

namespace gangrun::kubernetes::records {
namespace {

using test::Office;
using test::RecordServer;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A master that writes its journal on a volume.
struct Keeping : RecordServer {
  Keeping() : office(*this) {
    auto made = journal::Writer::create(
        folder.path(), {.job_id = "j-20260131", .attempt = 1, .started = {}, .origin = {}});
    EXPECT_TRUE(made.ok());
    writer = std::move(*made);
    journal = std::make_unique<VolumeJournal>(
        loop, *logger, office.keeper,
        VolumeJournal::Options{.segment_path = path, .on_lost = [this](const base::Error& why) {
                                 lost.push_back(why.message);
                               }});
  }

  void record_and_copy() {
    EXPECT_TRUE(writer->append(journal::sample_records().front()).ok());
    journal->copy([this, number = ++asked_for] { copied.push_back(number); });
  }

  base::TestFolder folder;
  const std::string path = journal::segment_path(folder.path(), 1);
  Office office;
  std::unique_ptr<journal::Writer> writer;
  std::unique_ptr<VolumeJournal> journal;
  int asked_for = 0;
  std::vector<int> copied;
  std::vector<std::string> lost;
};

TEST(VolumeJournal, CountsOnceTheHeadIsSeenAfterTheWriting) {
  Keeping keeping;
  const auto looks = keeping.count("GET head");
  keeping.record_and_copy();
  EXPECT_THAT(keeping.copied, IsEmpty());  // never from inside the call
  ASSERT_TRUE(keeping.wait([&] { return keeping.copied.size() == 1; }));
  EXPECT_GE(keeping.count("GET head"), looks + 1);
  // All that comes meanwhile is one round.
  for (int i = 0; i < 4; ++i) keeping.record_and_copy();
  ASSERT_TRUE(keeping.wait([&] { return keeping.copied.size() == 5; }));
  EXPECT_THAT(keeping.copied, ElementsAre(1, 2, 3, 4, 5));
  EXPECT_LE(keeping.count("GET head"), looks + 4);
}

TEST(VolumeJournal, AMasterThatHasLostItsOfficeActsUponNothing) {
  Keeping keeping;
  keeping.store.change_head([](Head& head) { head.master = 2; });
  keeping.record_and_copy();
  ASSERT_TRUE(keeping.wait([&] { return !keeping.office.deposed.empty(); }));
  keeping.journal->hurry();
  keeping.idle(std::chrono::milliseconds(50));
  EXPECT_THAT(keeping.copied, IsEmpty());
}

TEST(VolumeJournal, WaitsForTheApiServerAndSaysSo) {
  Keeping keeping;
  bool is_away = true;
  keeping.meddle = [&is_away](TestTalk& talk, const std::string&) {
    if (is_away) talk.refuse(503, "ServiceUnavailable", "not now");
    return is_away;
  };
  keeping.record_and_copy();
  ASSERT_TRUE(keeping.wait([&] { return !keeping.journal->trouble().empty(); }));
  EXPECT_THAT(keeping.journal->trouble(),
              HasSubstr("the API server to confirm that this master leads the job"));
  EXPECT_THAT(keeping.copied, IsEmpty());
  is_away = false;
  ASSERT_TRUE(keeping.wait([&] { return keeping.copied.size() == 1; }));
  EXPECT_EQ(keeping.journal->trouble(), "");
}

TEST(VolumeJournal, AVolumeThatDoesNotKeepItIsTheEndOfThisMaster) {
  Keeping keeping;
  std::filesystem::remove_all(keeping.folder.path());
  keeping.journal->copy([&] { keeping.copied.push_back(1); });
  keeping.journal->copy([&] { keeping.copied.push_back(2); });
  ASSERT_TRUE(keeping.wait([&] { return !keeping.lost.empty(); }));
  keeping.idle(std::chrono::milliseconds(50));
  EXPECT_THAT(keeping.lost, ElementsAre(HasSubstr(keeping.path)));
  EXPECT_THAT(keeping.copied, IsEmpty());
}

}  // namespace
}  // namespace gangrun::kubernetes::records
