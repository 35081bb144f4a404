#include "feed/ring_memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <string>

namespace gangrun::feed {
namespace {

constexpr std::size_t kMemoryCapacity = 64 << 10;

base::UniqueFd copy_of(int fd) { return base::UniqueFd(fcntl(fd, F_DUPFD_CLOEXEC, 0)); }

TEST(RingMemory, IsMappedTwiceInARowAndSharedWithWhoOpensIt) {
  const auto mine = *RingMemory::create(kMemoryCapacity, RingMemory::Access::kRead);
  const auto theirs = *RingMemory::open(copy_of(mine->fd()), RingMemory::Access::kWrite);
  ASSERT_EQ(theirs->capacity(), kMemoryCapacity);
  std::memcpy(theirs->at(kMemoryCapacity - 2), "abcd", 4);
  EXPECT_EQ(std::string(mine->at(kMemoryCapacity - 2), 4), "abcd");
  EXPECT_EQ(std::string(mine->at(0), 2), "cd");
  EXPECT_EQ(std::string(mine->at(5 * kMemoryCapacity), 2), "cd");
  theirs->header().head = 7;
  EXPECT_EQ(mine->header().head, 7U);
}

TEST(RingMemory, CannotBeMadeShorterOrLonger) {
  const auto memory = *RingMemory::create(kMemoryCapacity, RingMemory::Access::kRead);
  EXPECT_NE(ftruncate(memory->fd(), 4096), 0);
  EXPECT_NE(ftruncate(memory->fd(), 1 << 20), 0);
}

TEST(RingMemory, APeersFileThatIsNotSealedOrOfAnImpossibleSizeIsNotUsed) {
  const auto opened = [](off_t size, int seals) {
    base::UniqueFd fd(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    EXPECT_EQ(ftruncate(fd.get(), size), 0);
    EXPECT_EQ(fcntl(fd.get(), F_ADD_SEALS, seals), 0);
    return RingMemory::open(std::move(fd), RingMemory::Access::kRead).ok();
  };
  constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  EXPECT_TRUE(opened(4096 + kMemoryCapacity, kSeals));
  EXPECT_FALSE(opened(4096 + kMemoryCapacity, F_SEAL_GROW | F_SEAL_SEAL));
  EXPECT_FALSE(opened(4096 + kMemoryCapacity + 1, kSeals));
  EXPECT_FALSE(opened(4096, kSeals));
  EXPECT_FALSE(opened(0, kSeals));
  EXPECT_FALSE(RingMemory::open(base::UniqueFd(), RingMemory::Access::kRead).ok());
  EXPECT_FALSE(RingMemory::open(base::UniqueFd(open("/dev/null", O_RDONLY | O_CLOEXEC)),
                                RingMemory::Access::kRead)
                   .ok());
}

TEST(RingMemory, PagesAreHadBeforeTheyAreTouched) {
  const auto memory = *RingMemory::create(8 << 20, RingMemory::Access::kWrite);
  EXPECT_TRUE(memory->populate(0, 1).ok());
  EXPECT_TRUE(memory->populate((8 << 20) - 10, 3 << 20).ok());  // across the end
  EXPECT_TRUE(memory->populate(std::uint64_t{100} << 20, 8 << 20).ok());
}

TEST(RingMemory, CopiesThatAreLeftKeepTheirBytesAndTheRingGoesOnWithoutThem) {
  const auto memory = *RingMemory::create(kMemoryCapacity, RingMemory::Access::kWrite);
  const auto other = *memory->again();
  char* const start = memory->at(0);
  std::memcpy(memory->at(8192), "lent", 4);
  std::memcpy(memory->at(kMemoryCapacity - 2), "over", 4);
  const RingMemory::Regions regions{{8192, 12288},
                                    {kMemoryCapacity - 4096, kMemoryCapacity + 4096}};
  ASSERT_TRUE(memory->leave_copies(regions).ok());
  std::memcpy(other->at(8192), "next", 4);
  std::memcpy(other->at(kMemoryCapacity - 2), "next", 4);
  EXPECT_EQ(std::string(start + 8192, 4), "lent");
  EXPECT_EQ(std::string(start + kMemoryCapacity - 2, 4), "over");
  for (const auto& [first, last] : regions) EXPECT_EQ(munmap(start + first, last - first), 0);
}

TEST(RingMemory, ASizeThatNoMachineHasIsAnError) {
  const auto made = RingMemory::create(std::size_t{1} << 60, RingMemory::Access::kRead);
  // The request is cut to the largest allowed; whether the machine has that much is unknown, but it
  // must not end this test.
  EXPECT_TRUE(made.ok() || made.error().code == base::Code::kResourceExhausted);
}

}  // namespace
}  // namespace gangrun::feed
