#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"
#include "kubernetes/pods/pod_outputs.h"

namespace gangrun::kubernetes::pods {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;

class OutputsArchiveTest : public testing::Test {
 protected:
  [[nodiscard]] OutputsArchive::Limits limits(std::optional<std::uint64_t> bytes = {}) {
    return {bytes, [this]() -> base::Result<cluster::DiskRoom> { return room_; }};
  }

  const std::string path_ = testing::TempDir() + "archive-" + std::to_string(::getpid()) + ".tar";
  cluster::DiskRoom room_{.bytes = 1000 * kMiB, .free = 1000 * kMiB};
};

TEST_F(OutputsArchiveTest, KeepsWhatComesAndIsRemovedWithIt) {
  {
    OutputsArchive archive(path_, limits());
    ASSERT_TRUE(archive.begin().ok());
    EXPECT_TRUE(archive.is_empty());
    ASSERT_TRUE(archive.put("ab").ok());
    ASSERT_TRUE(archive.put("c").ok());
    EXPECT_TRUE(archive.end().ok());
    EXPECT_FALSE(archive.is_empty());
    EXPECT_EQ(*base::read_file(path_, 16), "abc");
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(OutputsArchiveTest, WithoutAnEndEndsAtItsLimit) {
  OutputsArchive archive(path_, limits(2 * kMiB));
  ASSERT_TRUE(archive.begin().ok());
  const std::string piece(kMiB, 'x');
  ASSERT_TRUE(archive.put(piece).ok());
  ASSERT_TRUE(archive.put(piece).ok());
  const auto over = archive.put("x");
  ASSERT_FALSE(over.ok());
  EXPECT_EQ(over.error().message, "over outputs_limit (2 MiB)");
}

// It filled the disk of its client.
TEST_F(OutputsArchiveTest, WithoutAnEndLeavesSomeOfTheDiskFree) {
  OutputsArchive archive(path_, limits());
  ASSERT_TRUE(archive.begin().ok());
  const std::string piece(kMiB, 'x');
  base::Result<> put;
  std::uint64_t pieces = 0;
  for (room_.free = 74 * kMiB; put.ok() && pieces < 100; room_.free -= kMiB) {
    put = archive.put(piece);
    ++pieces;
  }
  ASSERT_FALSE(put.ok());
  EXPECT_LE(pieces, 16U);
  EXPECT_THAT(put.error().message, testing::HasSubstr("leave less than 64 MiB free on the disk"));
}

TEST_F(OutputsArchiveTest, IsUnpackedOnlyWhereThereIsRoomForThat) {
  OutputsArchive archive(path_, limits());
  ASSERT_TRUE(archive.begin().ok());
  ASSERT_TRUE(archive.put(std::string(3 * kMiB, 'x')).ok());
  room_.free = 67 * kMiB;
  EXPECT_TRUE(archive.end().ok());
  room_.free = 66 * kMiB;
  const auto full = archive.end();
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.error().code, base::Code::kResourceExhausted);
}

TEST_F(OutputsArchiveTest, DoesNotBeginWhereThereIsNoRoomOrNoFolder) {
  room_.free = kMiB;
  EXPECT_FALSE(OutputsArchive(path_, limits()).begin().ok());
  EXPECT_FALSE(OutputsArchive("/there/is/none.tar", limits()).begin().ok());
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
