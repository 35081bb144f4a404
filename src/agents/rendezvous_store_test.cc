#include "agents/rendezvous_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/format.h"

namespace gangrun::agents {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Reader = RendezvousStore::Reader;

const job::TaskId kFirst{"worker", 0};
const job::TaskId kSecond{"worker", 1};

std::string value_of(const RendezvousStore& store, const std::string& key) {
  const std::string* value = store.find(key);
  return value == nullptr ? "none" : *value;
}

TEST(RendezvousStore, KeepsTheLastValueOfAKey) {
  RendezvousStore store;
  EXPECT_EQ(store.find("global/0"), nullptr);
  ASSERT_TRUE(store.put(kFirst, "global/0", "a").ok());
  ASSERT_TRUE(store.put(kFirst, "local_h/0", "b").ok());
  ASSERT_TRUE(store.put(kFirst, "global/0", "longer").ok());
  EXPECT_EQ(value_of(store, "global/0"), "longer");
  EXPECT_EQ(value_of(store, "local_h/0"), "b");
  EXPECT_EQ(store.bytes(), std::string("global/0longerlocal_h/0b").size());
}

TEST(RendezvousStore, PutNamesThoseWhoWaitedOnce) {
  RendezvousStore store;
  ASSERT_TRUE(store.wait("global/1", {7, 1, 100}).ok());
  ASSERT_TRUE(store.wait("global/1", {8, 2, 100}).ok());
  ASSERT_TRUE(store.wait("global/2", {7, 1, 101}).ok());
  const auto readers = store.put(kSecond, "global/1", "x");
  ASSERT_TRUE(readers.ok());
  EXPECT_THAT(*readers, ElementsAre(Reader{7, 1, 100}, Reader{8, 2, 100}));
  EXPECT_THAT(*store.put(kSecond, "global/1", "y"), IsEmpty());
}

TEST(RendezvousStore, ReadersOfAClosedSessionAreForgotten) {
  RendezvousStore store;
  ASSERT_TRUE(store.wait("k/1", {7, 1, 1}).ok());
  ASSERT_TRUE(store.wait("k/1", {8, 1, 1}).ok());
  store.forget_readers(7);
  EXPECT_THAT(*store.put(kFirst, "k/1", ""), ElementsAre(Reader{8, 1, 1}));
}

TEST(RendezvousStore, ARankThatDeletesItsKeyTakesItsNameAlong) {
  RendezvousStore store;
  for (const char* key : {"global/1", "global/rank_1", "global/rank_10", "local_h/rank_1"}) {
    ASSERT_TRUE(store.put(kFirst, key, "x").ok());
  }
  store.erase("global/1");
  store.erase("global/never-put");
  EXPECT_EQ(store.find("global/1"), nullptr);
  EXPECT_EQ(store.find("global/rank_1"), nullptr);
  EXPECT_NE(store.find("global/rank_10"), nullptr);
  EXPECT_NE(store.find("local_h/rank_1"), nullptr);
}

TEST(RendezvousStore, ATaskThatStartsAnewLeavesNothingOfItsFormerLife) {
  RendezvousStore store;
  ASSERT_TRUE(store.put(kFirst, "global/0", "old").ok());
  ASSERT_TRUE(store.put(kSecond, "global/1", "stays").ok());
  store.forget_owner(kFirst);
  EXPECT_EQ(store.find("global/0"), nullptr);
  EXPECT_EQ(value_of(store, "global/1"), "stays");
}

TEST(RendezvousStore, ANewGenerationBeginsWithNothing) {
  RendezvousStore store;
  ASSERT_TRUE(store.put(kFirst, "global/0", "old").ok());
  ASSERT_TRUE(store.wait("global/1", {7, 1, 1}).ok());
  store.clear();
  EXPECT_EQ(store.find("global/0"), nullptr);
  EXPECT_EQ(store.bytes(), 0U);
  EXPECT_THAT(*store.put(kFirst, "global/1", ""), IsEmpty());
}

TEST(RendezvousStore, HasNoMoreBytesThanItMay) {
  RendezvousStore store;
  const std::string value(wire::kMaxRendezvousValueBytes, 'v');
  std::size_t puts = 0;
  while (store.put(kFirst, base::format("global/{}", puts), value).ok()) ++puts;
  EXPECT_LE(store.bytes(), kMaxRendezvousBytes);
  EXPECT_GT(store.bytes() + value.size() + 20, kMaxRendezvousBytes);
  const auto refused = store.put(kFirst, "global/more", value);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, base::Code::kResourceExhausted);
  EXPECT_EQ(store.find("global/more"), nullptr);
  // An existing key may still change, and a deleted one makes room.
  EXPECT_TRUE(store.put(kFirst, "global/0", value).ok());
  store.erase("global/0");
  EXPECT_TRUE(store.put(kFirst, "global/more", value).ok());
}

TEST(RendezvousStore, HasNoMoreKeysAndReadersThanItMay) {
  RendezvousStore store;
  for (std::size_t i = 0; i < kMaxRendezvousKeys; ++i) {
    ASSERT_TRUE(store.put(kFirst, base::format("k/{}", i), "").ok());
  }
  EXPECT_FALSE(store.put(kFirst, "k/more", "").ok());
  EXPECT_TRUE(store.put(kFirst, "k/0", "again").ok());
  for (std::size_t i = 0; i < kMaxRendezvousReaders; ++i) {
    ASSERT_TRUE(store.wait("k/never", {1, 1, 1}).ok());
  }
  EXPECT_FALSE(store.wait("k/never", {2, 1, 1}).ok());
  store.forget_readers(1);
  EXPECT_TRUE(store.wait("k/never", {2, 1, 1}).ok());
}

}  // namespace
}  // namespace gangrun::agents
