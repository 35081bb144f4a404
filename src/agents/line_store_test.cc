#include "agents/line_store.h"

#include <gtest/gtest.h>

#include "job/described.h"
#include "job/test_tasks.h"

namespace gangrun::agents {
namespace {

TEST(LineStore, GivesWhatCameSince) {
  LineStore store;
  store.add(job::kWorker0, false, "one");
  store.add(job::kWorker0, true, "two");
  const wire::KeptLines all = store.from(0);
  EXPECT_EQ(all.lines, (std::vector<wire::KeptLine>{{job::kWorker0, false, "one"},
                                                    {job::kWorker0, true, "two"}}));
  EXPECT_EQ(all.next, 2);
  EXPECT_EQ(store.from(1).lines.size(), 1U);
  EXPECT_TRUE(store.from(2).lines.empty());
  EXPECT_EQ(store.from(99).next, 2);
}

TEST(LineStore, DropsTheOldestAndSaysHowMany) {
  LineStore store;
  const std::string text(100'000, 'x');
  for (int i = 0; i < 100; ++i) store.add(job::kWorker0, false, text);
  const wire::KeptLines kept = store.from(0);
  EXPECT_GT(kept.missed, 50);
  EXPECT_EQ(kept.missed + static_cast<std::int64_t>(kept.lines.size()), kept.next);
  EXPECT_EQ(store.next(), 100);
}

TEST(LineStore, AnAnswerIsBoundedAndTheRestComesWithTheNext) {
  LineStore store;
  for (int i = 0; i < 20; ++i) store.add(job::kWorker0, false, std::string(100'000, 'x'));
  std::int64_t next = 0;
  int answers = 0;
  std::size_t lines = 0;
  while (next < 20 && answers < 100) {
    const wire::KeptLines part = store.from(next);
    lines += part.lines.size();
    next = part.next;
    ++answers;
  }
  EXPECT_EQ(lines, 20U);
  EXPECT_GT(answers, 3);
}

TEST(LineStore, ComesBackFromJson) {
  LineStore store;
  store.add(job::kWorker0, true, "\"quoted\" \xc3\xa4");
  store.add(job::kWorker0, false, "timed", base::WallTime(std::chrono::seconds(1'769'860'800)));
  const wire::KeptLines kept = store.from(0);
  EXPECT_EQ(base::from_json<wire::KeptLines>(base::to_json(kept)).value(), kept);
  EXPECT_FALSE(base::from_json<wire::KeptLines>({{"next", 1}}).ok());
}

}  // namespace
}  // namespace gangrun::agents
