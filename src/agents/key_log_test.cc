#include "agents/key_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "base/files.h"
#include "base/format.h"
#include "base/test_folder.h"

namespace gangrun::agents {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const job::TaskId kTask{"worker", 0};

// Parts as a file system far away has them; answers when it is told to.
class Far final : public cluster::FarKeys {
 public:
  void keep(int segment, int part, std::string bytes,
            std::function<void(base::Result<>)> done) override {
    calls.push_back([=, this] {
      if (fails) return done(base::unavailable("away"));
      parts[{segment, part}] = bytes;
      done({});
    });
  }
  void forget_before(int segment) override {
    std::erase_if(parts, [&](const auto& part) { return part.first.first < segment; });
  }
  void answer() {
    while (!calls.empty()) {
      const auto call = std::move(calls.front());
      calls.pop_front();
      call();
    }
  }

  std::map<std::pair<int, int>, std::string> parts;
  std::deque<std::function<void()>> calls;
  bool fails = false;
};

class KeyLogTest : public testing::Test {
 protected:
  void change(KeyLog& log, const std::string& key, std::optional<std::string> value) {
    const KeyChange change{key, std::move(value), kTask, 1, ++number_};
    log.add(record_of(change), [this, change](const base::Result<>& kept) {
      if (kept.ok()) (void)kept_.store.apply(change);
      if (!kept.ok()) ++failed_;
    });
  }
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder())) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  [[nodiscard]] std::string folder() const { return folder_.path() + "/keys"; }

  base::TestFolder folder_;
  KeptKeys kept_;
  std::int64_t number_ = 0;
  int failed_ = 0;
};

TEST_F(KeyLogTest, TheNextMasterReadsItAndGoesOnInASegmentOfItsOwn) {
  {
    KeyLog log(folder(), nullptr, kept_);
    ASSERT_TRUE(log.read(kept_).ok());
    EXPECT_FALSE(std::filesystem::exists(folder()));
    change(log, "a", "1");
    change(log, "b", "2");
    change(log, "a", std::nullopt);
  }
  EXPECT_THAT(files(), ElementsAre("000001.jsonl"));
  const auto before = kept_.store.keys();
  kept_ = {};
  KeyLog log(folder(), nullptr, kept_);
  ASSERT_TRUE(log.read(kept_).ok());
  EXPECT_EQ(kept_.store.keys(), before);
  change(log, "c", "3");
  EXPECT_THAT(files(), ElementsAre("000002.jsonl"));
  KeptKeys third;
  KeyLog next(folder(), nullptr, third);
  ASSERT_TRUE(next.read(third).ok());
  EXPECT_EQ(third.store.keys(), kept_.store.keys());
}

TEST_F(KeyLogTest, WhatWasReplacedDoesNotFillTheDisk) {
  constexpr std::size_t kSpareBytes = std::size_t{64} << 10U;
  KeyLog log(folder(), nullptr, kept_, kSpareBytes);
  const std::string value(kSpareBytes / 32, 'v');
  for (int i = 0; i < 80; ++i) change(log, "a", value);
  ASSERT_THAT(files(), testing::SizeIs(1));
  EXPECT_LT(std::filesystem::file_size(folder() + "/" + files().front()), kSpareBytes * 3 / 2);
  KeptKeys again;
  KeyLog next(folder(), nullptr, again);
  ASSERT_TRUE(next.read(again).ok());
  EXPECT_EQ(again.store.keys(), kept_.store.keys());
}

TEST_F(KeyLogTest, AFolderThatCannotBeMadeFailsTheChange) {
  ASSERT_TRUE(base::write_file_atomically(folder(), "", 0600).ok());
  KeyLog log(folder(), nullptr, kept_);
  change(log, "a", "1");
  EXPECT_EQ(failed_, 1);
  std::filesystem::remove(folder());
  change(log, "a", "1");
  EXPECT_EQ(failed_, 1);
  EXPECT_NE(kept_.store.find("a"), nullptr);
}

TEST_F(KeyLogTest, FarAwayWhatComesMeanwhileGoesTogether) {
  Far far;
  KeyLog log(folder(), &far, kept_);
  change(log, "a", "1");
  change(log, "b", "2");
  change(log, "c", "3");
  EXPECT_THAT(kept_.store.keys(), IsEmpty());
  far.answer();
  EXPECT_EQ(kept_.store.keys().size(), 3U);
  EXPECT_EQ(far.parts.size(), 3U);  // what was, the first, the two others
  std::string text;
  for (const auto& [name, bytes] : far.parts) text += bytes;
  KeptKeys read;
  ASSERT_TRUE(replay(text, read).ok());
  EXPECT_EQ(read.store.keys(), kept_.store.keys());
}

TEST_F(KeyLogTest, FarAwayManyPartsAreFollowedByANewSegment) {
  Far far;
  KeyLog log(folder(), &far, kept_);
  for (int i = 0; i < 2 * kMaxKeyLogParts; ++i) {
    change(log, base::format("{}", i), "x");
    far.answer();
  }
  EXPECT_LE(far.parts.size(), static_cast<std::size_t>(kMaxKeyLogParts) + 2);
  EXPECT_GT(far.parts.begin()->first.first, 1);
  std::string text;
  for (const auto& [name, bytes] : far.parts) text += bytes;
  KeptKeys read;
  ASSERT_TRUE(replay(text, read).ok());
  EXPECT_EQ(read.store.keys(), kept_.store.keys());
}

TEST_F(KeyLogTest, FarAwayAFailureIsToldAndTheNextBeginsAnew) {
  Far far;
  KeyLog log(folder(), &far, kept_);
  change(log, "a", "1");
  far.answer();
  far.fails = true;
  change(log, "b", "2");
  far.answer();
  EXPECT_EQ(failed_, 1);
  EXPECT_EQ(far.parts.begin()->first.first, 1);  // the former one stays until the next is whole
  far.fails = false;
  change(log, "c", "3");
  far.answer();
  EXPECT_EQ(far.parts.begin()->first.first, 2);
  std::string text;
  for (const auto& [name, bytes] : far.parts) text += bytes;
  KeptKeys read;
  ASSERT_TRUE(replay(text, read).ok());
  EXPECT_EQ(read.store.keys(), kept_.store.keys());
  EXPECT_EQ(read.store.find("b"), nullptr);
}

}  // namespace
}  // namespace gangrun::agents
