#include "feed/lent_ring.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "feed/ring.h"

namespace gangrun::feed {
namespace {

constexpr std::size_t kLentCapacity = 64 << 10;
constexpr std::uint64_t kNoLentLimit = ~std::uint64_t{0};

struct Lender {
  std::shared_ptr<RingMemory> theirs;
  // Shared with the ring, as frames may outlive this.
  std::shared_ptr<std::atomic<std::uint64_t>> room =
      std::make_shared<std::atomic<std::uint64_t>>(0);
  std::shared_ptr<LentRing> ring;
  std::unique_ptr<RingWriter> writer;

  Lender() {
    const auto memory = *RingMemory::create(kLentCapacity, RingMemory::Access::kRead);
    theirs = *RingMemory::open(base::UniqueFd(dup(memory->fd())), RingMemory::Access::kWrite);
    ring = LentRing::make(memory, 0, [room = room](std::uint64_t free) { *room = free; });
    writer = std::make_unique<RingWriter>(theirs, 0, 0);
  }

  bool write(std::string_view data, std::uint16_t kind = 1,
             std::uint16_t flags = kFirstPiece | kLastPiece) {
    const auto place = writer->reserve(data.size());
    if (!place.ok() || *place == nullptr) return false;
    std::memcpy(*place, data.data(), data.size());
    writer->commit(kind, flags, data.size());
    return true;
  }
  Frame read() { return ring->next(kNoLentLimit)->value_or(Frame{}); }
};

TEST(LentRing, TheRoomOfAFrameIsFreeWhenItIsHeldNoMore) {
  Lender lender;
  ASSERT_TRUE(lender.write("one"));
  ASSERT_TRUE(lender.write("two"));
  Frame one = lender.read();
  Frame two = lender.read();
  EXPECT_EQ(one.data, "one");
  EXPECT_EQ(two.data, "two");
  two = {};
  EXPECT_EQ(lender.theirs->header().tail, 0U) << "the older one is still held";
  one = {};
  EXPECT_EQ(lender.theirs->header().tail, lender.writer->head());
  EXPECT_EQ(*lender.room, kLentCapacity);
}

TEST(LentRing, FramesThatAreKeptAreMovedOutOfTheRingWithTheirBytesAndAddresses) {
  Lender lender;
  std::vector<std::pair<Frame, std::string>> kept;
  for (int i = 0; i < 500; ++i) {
    const std::string data(1000 + static_cast<std::size_t>(i) % 7 * 500,
                           static_cast<char>('a' + i % 26));
    ASSERT_TRUE(lender.write(data)) << i;
    Frame frame = lender.read();
    ASSERT_EQ(frame.data, data);
    if (i % 3 == 0 || i == 1) kept.emplace_back(std::move(frame), data);
    if (i == 300) kept.erase(kept.begin() + 10, kept.begin() + 60);
  }
  for (const auto& [frame, data] : kept) EXPECT_EQ(frame.data, data);
}

TEST(LentRing, AFrameOutlivesTheRing) {
  Frame frame;
  {
    Lender lender;
    ASSERT_TRUE(lender.write("alone"));
    frame = lender.read();
    lender.ring = nullptr;
    lender.theirs = nullptr;
  }
  EXPECT_EQ(frame.data, "alone");
}

TEST(LentRing, PiecesBecomeOneFrame) {
  Lender lender;
  ASSERT_TRUE(lender.write("a", 5, kFirstPiece));
  EXPECT_EQ(lender.read().hold, nullptr);
  ASSERT_TRUE(lender.write("b", 5, 0));
  ASSERT_TRUE(lender.write("c", 5, kLastPiece));
  const Frame frame = lender.read();
  EXPECT_EQ(frame.data, "abc");
  EXPECT_EQ(frame.kind, 5);
  EXPECT_EQ(lender.theirs->header().tail, lender.writer->head());
  EXPECT_TRUE(lender.ring->idle(kNoLentLimit));
}

TEST(LentRing, ManyPiecesDoNotKeepACaller) {
  Lender lender;
  ASSERT_TRUE(lender.write("a", 5, kFirstPiece));
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(lender.write("b", 5, 0));
  EXPECT_EQ(lender.read().hold, nullptr);
  EXPECT_FALSE(lender.ring->idle(kNoLentLimit));
}

TEST(LentRing, PiecesOutOfOrderAreAnError) {
  const auto refused = [](std::vector<std::pair<std::uint16_t, std::uint16_t>> pieces) {
    Lender lender;
    for (const auto& [kind, flags] : pieces) EXPECT_TRUE(lender.write("x", kind, flags));
    const auto frame = lender.ring->next(kNoLentLimit);
    return !frame.ok() && frame.error().code == base::Code::kDataLoss;
  };
  EXPECT_TRUE(refused({{1, 0}}));
  EXPECT_TRUE(refused({{1, kLastPiece}}));
  EXPECT_TRUE(refused({{1, kFirstPiece}, {1, kFirstPiece}}));
  EXPECT_TRUE(refused({{1, kFirstPiece}, {2, kLastPiece}}));
  EXPECT_TRUE(refused({{kBroken, kFirstPiece | kLastPiece}}));
  EXPECT_FALSE(refused({{1, kFirstPiece}, {1, kLastPiece}}));
}

TEST(LentRing, WhatIsSkippedIsFreeAndHalfFramesAreForgotten) {
  Lender lender;
  ASSERT_TRUE(lender.write("half", 1, kFirstPiece));
  EXPECT_EQ(lender.read().hold, nullptr);
  ASSERT_TRUE(lender.write("skipped"));
  lender.ring->go_to(lender.writer->head());
  lender.ring->drop_pieces();
  ASSERT_TRUE(lender.write("next"));
  EXPECT_EQ(lender.read().data, "next");
  EXPECT_EQ(lender.theirs->header().tail, lender.writer->head());
}

TEST(LentRing, FramesAreGivenBackInAnotherThreadWhileOthersAreRead) {
  Lender lender;
  std::vector<Frame> kept;
  std::uint64_t wrong = 0;
  for (int round = 0; round < 50; ++round) {
    std::thread other([old = std::move(kept)]() mutable { old.clear(); });
    kept = {};
    for (int i = 0; i < 5; ++i) {
      const std::string data(2000, static_cast<char>('a' + (round + i) % 26));
      while (!lender.write(data)) std::this_thread::yield();
      kept.push_back(lender.read());
      wrong += kept.back().data == data ? 0 : 1;
    }
    other.join();
  }
  EXPECT_EQ(wrong, 0U);
}

}  // namespace
}  // namespace gangrun::feed
