#include "agents/key_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace gangrun::agents {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const job::TaskId kTask{"worker", 0};

KeyChange put(std::string key, std::string value, std::int64_t number = 0) {
  return {std::move(key), std::move(value), kTask, 1, number};
}

TEST(KeyStoreTest, AKeyIsPutReplacedAndRemoved) {
  KeyStore store;
  EXPECT_FALSE(store.apply(put("a", "1")));
  EXPECT_TRUE(store.apply(put("a", "22")));
  EXPECT_EQ(*store.find("a"), "22");
  EXPECT_EQ(store.bytes(), 3U);
  EXPECT_TRUE(store.apply({"a", std::nullopt, kTask, 1, 0}));
  EXPECT_FALSE(store.apply({"a", std::nullopt, kTask, 1, 0}));
  EXPECT_EQ(store.find("a"), nullptr);
  EXPECT_EQ(store.bytes(), 0U);
}

TEST(KeyStoreTest, AChangeIsKnownToBeMade) {
  KeyStore store;
  (void)store.apply(put("a", "1", 3));
  EXPECT_TRUE(store.is_made(put("a", "1", 3)));
  EXPECT_TRUE(store.is_made(put("a", "0", 2)));
  EXPECT_FALSE(store.is_made(put("a", "2", 4)));
  // The task's next agent counts from 1 again.
  EXPECT_FALSE(store.is_made({"a", "2", kTask, 2, 1}));
  EXPECT_FALSE(store.is_made({"a", "2", {"worker", 1}, 1, 1}));
}

TEST(KeyStoreTest, ListsInOrderByPartsAndPrefix) {
  KeyStore store;
  for (const char* key : {"b/2", "a", "b/1", "c"}) (void)store.apply(put(key, ""));
  EXPECT_THAT(store.list("", "").keys, ElementsAre("a", "b/1", "b/2", "c"));
  EXPECT_THAT(store.list("b/", "").keys, ElementsAre("b/1", "b/2"));
  EXPECT_THAT(store.list("b/", "b/1").keys, ElementsAre("b/2"));
  EXPECT_FALSE(store.list("x", "").found);
  for (std::size_t i = 0; i < wire::kMaxListedKeys; ++i) {
    (void)store.apply(put("z" + std::to_string(i), ""));
  }
  EXPECT_TRUE(store.list("", "").more);
  EXPECT_FALSE(store.list("z", "").more);
}

TEST(KeyStoreTest, KeysAndBytesAreLimited) {
  KeyStore many;
  for (std::size_t i = 0; i < wire::kMaxKeys; ++i) {
    ASSERT_TRUE(many.check(put(std::to_string(i), ""), {}).ok());
    (void)many.apply(put(std::to_string(i), ""));
  }
  EXPECT_THAT(many.check(put("x", ""), {}).error().message, HasSubstr("10000 keys"));
  EXPECT_TRUE(many.check(put("1", "y"), {}).ok());
  KeyStore large;
  const std::string value(wire::kMaxValueBytes, 'v');
  std::size_t put_keys = 0;
  while (large.check(put(std::to_string(put_keys), value), {}).ok()) {
    (void)large.apply(put(std::to_string(put_keys++), value));
  }
  EXPECT_EQ(put_keys, wire::kMaxBytesOfKeys / wire::kMaxValueBytes - 1);
  EXPECT_TRUE(large.check(put("0", value), {}).ok());
  EXPECT_FALSE(large.check(put("a", "b"), {1, wire::kMaxValueBytes}).ok());
}

}  // namespace
}  // namespace gangrun::agents
