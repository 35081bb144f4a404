#include "wire/live_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

namespace gangrun::wire {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const job::TaskId kWorker{"worker", 0};

KeptLine line(const std::string& text) { return {.task = kWorker, .text = text}; }

// A master that answers as the test says, and how it was asked.
class LiveLinesTest : public testing::Test {
 protected:
  std::vector<std::string> next(LiveLines& lines) {
    std::vector<std::string> texts;
    const auto read = lines.next(clock_.now() + std::chrono::seconds(5));
    EXPECT_TRUE(read.ok());
    for (const cluster::LogLine& one : *read) texts.push_back(one.text);
    return texts;
  }
  LiveLines lines(cluster::LogRequest request = {}) {
    return {[this](std::int64_t from, base::Instant) -> base::Result<KeptLines> {
              asked_.push_back(from);
              if (answers_.empty()) return base::unavailable("no master");
              auto answer = std::move(answers_.front());
              answers_.pop_front();
              return answer;
            },
            std::move(request), clock_};
  }

  base::SystemClock clock_;
  std::deque<base::Result<KeptLines>> answers_;
  std::vector<std::int64_t> asked_;
};

TEST_F(LiveLinesTest, GoOnWhereTheyWere) {
  answers_ = {KeptLines{.next = 2, .lines = {line("a"), line("b")}},
              KeptLines{.next = 3, .lines = {line("c")}}};
  auto reader = lines();
  EXPECT_THAT(next(reader), ElementsAre("a", "b"));
  EXPECT_THAT(next(reader), ElementsAre("c"));
  EXPECT_THAT(asked_, ElementsAre(0, 2));
}

TEST_F(LiveLinesTest, BetweenTwoMastersThereAreNone) {
  answers_ = {KeptLines{.next = 5, .lines = {line("a")}}, base::unavailable("it was killed")};
  auto reader = lines();
  EXPECT_THAT(next(reader), ElementsAre("a"));
  EXPECT_THAT(next(reader), IsEmpty());
  // The next one begins at 0 again, and keeps what has come since.
  answers_ = {KeptLines{.next = 1}, KeptLines{.next = 1, .lines = {line("b")}}};
  EXPECT_THAT(next(reader), ElementsAre("b"));
  EXPECT_THAT(asked_, ElementsAre(0, 5, 5, 0));
}

TEST_F(LiveLinesTest, TheTailIsOfAllThatIsThere) {
  answers_ = {KeptLines{.next = 2, .lines = {line("a"), line("b")}},
              KeptLines{.next = 3, .lines = {line("c")}}, KeptLines{.next = 3}};
  auto reader = lines({.tail = 2});
  EXPECT_THAT(next(reader), ElementsAre("b", "c"));
}

}  // namespace
}  // namespace gangrun::wire
