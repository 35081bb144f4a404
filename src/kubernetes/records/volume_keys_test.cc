#include "kubernetes/records/volume_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"
#include "base/test_folder.h"
#include "journal/segments.h"
#include "kubernetes/records/record_server_for_tests.h"

namespace gangrun::kubernetes::records {
namespace {

using test::Office;
using test::RecordServer;
using testing::ElementsAre;
using testing::IsEmpty;

struct KeysOnVolume : RecordServer {
  KeysOnVolume() : office(*this), keys(loop, office.keeper, folder / "keys") {
    std::filesystem::create_directory(folder / "keys");
  }

  void keep(int segment, int part, const std::string& bytes) {
    keys.keep(segment, part, bytes, [this, bytes](const base::Result<>& kept) {
      (kept.ok() ? done : failed).push_back(bytes);
    });
  }
  std::string text(int segment) {
    return base::read_file(journal::segment_path(folder / "keys", segment), 1000).value_or("none");
  }

  base::TestFolder folder;
  Office office;
  VolumeKeys keys;
  std::vector<std::string> done;
  std::vector<std::string> failed;
};

TEST(VolumeKeys, KeepsThePartsOfSegmentsAndForgetsOldOnes) {
  KeysOnVolume kept;
  kept.keep(1, 1, "one\n");
  kept.keep(1, 2, "two\n");
  kept.keep(2, 1, "three\n");
  ASSERT_TRUE(kept.wait([&] { return kept.done.size() == 3; }));
  EXPECT_THAT(kept.done, ElementsAre("one\n", "two\n", "three\n"));
  EXPECT_EQ(kept.text(1), "one\ntwo\n");
  EXPECT_EQ(kept.text(2), "three\n");
  kept.keys.forget_before(2);
  EXPECT_TRUE(kept.wait([&] { return kept.text(1) == "none"; }));
  EXPECT_EQ(kept.text(2), "three\n");
}

TEST(VolumeKeys, AMasterThatHasLostItsOfficeAnswersNobody) {
  KeysOnVolume kept;
  kept.store.change_head([](Head& head) { head.master = 2; });
  kept.keep(1, 1, "one\n");
  ASSERT_TRUE(kept.wait([&] { return !kept.office.deposed.empty(); }));
  kept.idle(std::chrono::milliseconds(50));
  EXPECT_THAT(kept.done, IsEmpty());
}

TEST(VolumeKeys, OneThatCannotBeWrittenIsAnErrorOfThatPart) {
  KeysOnVolume kept;
  kept.keep(1, 2, "nothing to append to");
  kept.keep(2, 1, "one\n");
  ASSERT_TRUE(kept.wait([&] { return kept.done.size() == 1 && kept.failed.size() == 1; }));
  EXPECT_THAT(kept.failed, ElementsAre("nothing to append to"));
  EXPECT_EQ(kept.text(2), "one\n");
}

}  // namespace
}  // namespace gangrun::kubernetes::records
