#include "kubernetes/node/master_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <functional>

#include "base/files.h"
#include "base/test_folder.h"
#include "journal/reader.h"
#include "journal/sample_records.h"
#include "journal/writer.h"
#include "kubernetes/records/record_server_for_tests.h"

namespace gangrun::kubernetes::node {
namespace {

using records::test::Office;
using records::test::RecordServer;
using testing::HasSubstr;

const std::function<bool()> kGoesOn = [] { return false; };

// The masters of a job whose records are on a volume.
struct OnVolume : RecordServer {
  MasterRecords records_of(Office& office) {
    return {place(), office.keeper, {.run_folder = folder / "run", .volume_folder = folder / "v"}};
  }

  base::TestFolder folder;
};

TEST(MasterRecords, TheHeadSaysWhoseFolderCounts) {
  OnVolume server;
  Office first(server, "pod-1");
  MasterRecords one = server.records_of(first);
  ASSERT_TRUE(one.open(server.store.head(), kGoesOn, server.deadline()).ok());
  EXPECT_EQ(server.store.head().folder, 1);
  EXPECT_EQ(one.journal_folder(), server.folder / "v/j-20260131/000001/journal");
  ASSERT_TRUE(
      base::write_file_atomically(one.journal_folder() + "/000001.jsonl", "one\n", 0600).ok());
  Office second(server, "pod-2");
  MasterRecords two = server.records_of(second);
  ASSERT_TRUE(two.open(server.store.head(), kGoesOn, server.deadline()).ok());
  EXPECT_EQ(server.store.head().folder, 2);
  EXPECT_EQ(base::read_file(two.journal_folder() + "/000001.jsonl", 100).value_or(""), "one\n");
  EXPECT_FALSE(std::filesystem::exists(one.journal_folder()));
  EXPECT_TRUE(two.remove().ok());
  EXPECT_TRUE(std::filesystem::is_empty(server.folder / "v"));
}

// The first one goes on recording while the second takes its place, sooner or later.
TEST(MasterRecords, AllThatWasSaidToBeKeptIsInTheNextOnesCopy) {
  for (std::size_t before = 0; before < 8; ++before) {
    OnVolume server;
    Office first(server, "pod-1");
    MasterRecords one = server.records_of(first);
    ASSERT_TRUE(one.open(server.store.head(), kGoesOn, server.deadline()).ok());
    const host::Records kept = one.for_master();
    const auto writer = journal::Writer::create(
        kept.journal_folder, {.job_id = "j-20260131", .attempt = 1, .started = {}, .origin = {}});
    ASSERT_TRUE(writer.ok());
    const auto far = kept.far_copy(1);
    std::size_t recorded = 0;
    std::size_t told = 0;
    const std::function<void()> record = [&] {
      ASSERT_TRUE((*writer)->append(journal::sample_records().front()).ok());
      far->copy([&, number = ++recorded] {
        told = number;
        record();
      });
    };
    record();
    ASSERT_TRUE(server.wait([&] { return told >= before; }));
    Office second(server, "pod-2");
    MasterRecords two = server.records_of(second);
    ASSERT_TRUE(two.open(server.store.head(), kGoesOn, server.deadline()).ok());
    ASSERT_TRUE(server.wait([&] { return !first.deposed.empty(); }));
    const auto copy = journal::read_journal(two.journal_folder());
    ASSERT_TRUE(copy.ok()) << copy.error().message;
    EXPECT_GE(copy->segments.front().records.size(), told);
  }
}

TEST(MasterRecords, OneThatLosesItsOfficeMeanwhileDoesNotCount) {
  OnVolume server;
  Office first(server, "pod-1");
  const records::Head claimed = server.store.head();
  Office second(server, "pod-2");
  MasterRecords one = server.records_of(first);
  const auto opened = one.open(
      claimed, [&] { return !first.deposed.empty(); }, server.deadline());
  EXPECT_FALSE(opened.ok());
  EXPECT_EQ(first.deposed.size(), 1U);
  EXPECT_EQ(server.store.head().folder, 0);
}

TEST(MasterRecords, AVolumeThatIsNotWritableNamesTheFieldAndTheWayOut) {
  OnVolume server;
  Office office(server);
  // Nobody makes folders there, not even root.
  MasterRecords records(server.place(), office.keeper,
                        {.run_folder = server.folder / "run", .volume_folder = "/sys"});
  const auto opened = records.open(server.store.head(), kGoesOn, server.deadline());
  ASSERT_FALSE(opened.ok());
  EXPECT_THAT(opened.error().message, testing::StartsWith("kubernetes.journal: "));
  EXPECT_THAT(opened.error().message, HasSubstr("fsGroup"));
}

TEST(MasterRecords, WithoutAVolumeTheyAreInConfigMapsAndNothingIsToBeRemoved) {
  OnVolume server;
  Office office(server);
  MasterRecords records(server.place(), office.keeper, {.run_folder = server.folder / "run"});
  EXPECT_FALSE(records.outlive_the_pod());
  ASSERT_TRUE(records.open(server.store.head(), kGoesOn, server.deadline()).ok());
  EXPECT_EQ(server.store.head().folder, 0);
  EXPECT_EQ(records.for_master().journal_folder, server.folder / "run/journal");
  EXPECT_TRUE(records.remove().ok());
}

}  // namespace
}  // namespace gangrun::kubernetes::node
