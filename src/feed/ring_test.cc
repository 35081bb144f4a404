#include "feed/ring.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <thread>

#include "feed/wait.h"

namespace gangrun::feed {
namespace {

constexpr std::size_t kCapacity = 64 << 10;
constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

struct Both {
  std::shared_ptr<RingMemory> memory = *RingMemory::create(kCapacity, RingMemory::Access::kWrite);
  RingWriter writer{memory, 0, 0};
  RingReader reader{memory, 0};

  bool write(std::string_view data) {
    const auto place = writer.reserve(data.size());
    if (!place.ok() || *place == nullptr) return false;
    std::memcpy(*place, data.data(), data.size());
    writer.commit(1, kFirstPiece | kLastPiece, data.size());
    return true;
  }
  // Reads a piece and gives its room back.
  std::string read() {
    const auto piece = reader.next(memory->header().tail, kNoLimit);
    if (!piece.ok() || !piece->has_value()) return "nothing";
    std::string data((*piece)->data, (*piece)->size);
    memory->header().tail = (*piece)->end;
    return data;
  }
};

TEST(Ring, PiecesComeOutAsTheyWentInAcrossTheEndOfTheRing) {
  Both ring;
  for (int i = 0; i < 100; ++i) {
    const std::string data(static_cast<std::size_t>(i) * 157, static_cast<char>('a' + i % 26));
    ASSERT_TRUE(ring.write(data));
    ASSERT_EQ(ring.read(), data);
  }
  EXPECT_GT(ring.writer.head(), 5 * kCapacity);
  EXPECT_EQ(ring.read(), "nothing");
}

TEST(Ring, DataAreAlignedForNumbers) {
  Both ring;
  for (int i = 0; i < 10; ++i) {
    const auto place = ring.writer.reserve(13);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(*place) % kAlignment, 0U);
    ring.writer.commit(1, kFirstPiece | kLastPiece, 13);
  }
}

TEST(Ring, AFullRingHasNoRoomUntilTheReaderHasReadAndTheLimitOfAPieceAlwaysFits) {
  Both ring;
  const std::string largest(ring.writer.largest_piece(), 'x');
  int written = 0;
  while (ring.write(largest)) ++written;
  EXPECT_EQ(written, 4);
  EXPECT_FALSE(ring.write(largest));
  EXPECT_EQ(ring.read(), largest);
  EXPECT_TRUE(ring.write(largest));
}

TEST(Ring, AReaderThatKeepsUpUsesOnlyAPartOfALargeRing) {
  const auto memory = *RingMemory::create(64 << 20, RingMemory::Access::kWrite);
  RingWriter writer(memory, 0, 0);
  RingReader reader(memory, 0);
  std::size_t farthest = 0;
  for (int i = 0; i < 1000; ++i) {
    char* const place = *writer.reserve(100'000);
    ASSERT_NE(place, nullptr);
    farthest = std::max(farthest, static_cast<std::size_t>(place - memory->at(0)));
    writer.commit(1, kFirstPiece | kLastPiece, 100'000);
    while (true) {
      const auto piece = *reader.next(memory->header().tail, kNoLimit);
      ASSERT_TRUE(piece.has_value());
      memory->header().tail = piece->end;
      if ((piece->flags & kSkip) == 0) break;
    }
  }
  EXPECT_LT(farthest, 8U << 20);
}

TEST(Ring, AReaderStopsAtTheLimit) {
  Both ring;
  ASSERT_TRUE(ring.write("first"));
  const std::uint64_t end = ring.writer.head();
  ASSERT_TRUE(ring.write("second"));
  EXPECT_TRUE(ring.reader.next(0, end)->has_value());
  EXPECT_FALSE(ring.reader.next(0, end)->has_value());
  EXPECT_TRUE(ring.reader.next(0, kNoLimit)->has_value());
}

TEST(Ring, AHeadThatCannotBeIsFound) {
  for (const std::uint64_t head :
       {std::uint64_t{kCapacity + 64}, std::uint64_t{65}, kNoLimit - 63}) {
    Both ring;
    ring.memory->header().head = head;
    const auto piece = ring.reader.next(0, kNoLimit);
    ASSERT_FALSE(piece.ok()) << head;
    EXPECT_EQ(piece.error().code, base::Code::kDataLoss);
  }
  Both ring;
  ASSERT_TRUE(ring.write("one"));
  EXPECT_EQ(ring.read(), "one");
  ring.memory->header().head = 0;  // it goes back
  EXPECT_FALSE(ring.reader.next(0, kNoLimit).ok());
}

TEST(Ring, ATailThatCannotBeIsFound) {
  Both ring;
  while (ring.write(std::string(1000, 'x'))) {
  }
  for (const std::uint64_t tail : {ring.writer.head() + 64, kNoLimit}) {
    ring.memory->header().tail = tail;
    const auto place = ring.writer.reserve(1000);
    ASSERT_FALSE(place.ok());
    EXPECT_EQ(place.error().code, base::Code::kDataLoss);
  }
}

TEST(Ring, WhatIsNoPieceIsFound) {
  const auto damaged = [](const auto& damage) {
    Both ring;
    EXPECT_TRUE(ring.write("data"));
    PieceHead head{};
    std::memcpy(&head, ring.memory->at(0), sizeof head);
    damage(head);
    std::memcpy(ring.memory->at(0), &head, sizeof head);
    return !ring.reader.next(0, kNoLimit).ok();
  };
  EXPECT_FALSE(damaged([](PieceHead&) {}));
  EXPECT_TRUE(damaged([](PieceHead& head) { head.mark = 0; }));
  EXPECT_TRUE(damaged([](PieceHead& head) { head.size = 65; }));
  EXPECT_TRUE(damaged([](PieceHead& head) { head.size = kNoLimit; }));
  EXPECT_TRUE(damaged([](PieceHead& head) { head.size = kNoLimit - 64; }));
}

TEST(Ring, TwoThreadsPassEverything) {
  Both ring;
  constexpr std::uint64_t kCount = 20'000;
  std::thread writer([&ring] {
    for (std::uint64_t i = 0; i < kCount;) {
      const std::size_t size = 8 + i % 300;
      char* const place = *ring.writer.reserve(size);
      if (place == nullptr) {
        std::this_thread::yield();
        continue;
      }
      std::memcpy(place, &i, sizeof i);
      ring.writer.commit(1, kFirstPiece | kLastPiece, size);
      ++i;
    }
  });
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < kCount;) {
    const auto piece = *ring.reader.next(ring.memory->header().tail, kNoLimit);
    if (!piece.has_value()) {
      std::this_thread::yield();
      continue;
    }
    std::uint64_t found = 0;
    std::memcpy(&found, piece->data, sizeof found);
    wrong += (found != i || piece->size != 8 + i % 300) ? 1 : 0;
    ring.memory->header().tail = piece->end;
    ++i;
  }
  writer.join();
  EXPECT_EQ(wrong, 0U);
}

TEST(Wait, AWordThatChangesOrALimitEndsIt) {
  std::atomic<std::uint32_t> word = 0;
  wait_on(word, 1, std::chrono::hours(1));         // another value already
  wait_on(word, 0, std::chrono::milliseconds(1));  // the limit
  wait_on(word, 0, -std::chrono::milliseconds(1));
  std::thread other([&word] { wake(word); });
  while (word == 0) wait_on(word, 0, std::chrono::hours(1));
  other.join();
  EXPECT_EQ(word, 1U);
}

TEST(Wait, PatienceEndsByTimeAndByInterruption) {
  bool stop = false;
  const Interrupted interrupted = [&stop] { return stop; };
  const Patience none(base::Duration::zero(), interrupted);
  EXPECT_LE(none.slice(), base::Duration::zero());
  const Patience long_one(base::Duration::max(), interrupted);
  EXPECT_EQ(long_one.slice(), kSlice);
  EXPECT_TRUE(long_one.check_interrupted().ok());
  stop = true;
  EXPECT_EQ(long_one.check_interrupted().error().code, base::Code::kCancelled);
}

}  // namespace
}  // namespace gangrun::feed
