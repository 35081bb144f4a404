#include "gang/warning.h"

#include <gtest/gtest.h>

#include <set>

namespace gangrun::gang {
namespace {

using std::chrono::seconds;

TaskFailed failed(TaskFailed::Then then) {
  return {.cause = {.task = job::TaskId{"worker", 1},
                    .why = {.reason = job::Reason::kExitStatus, .code = 3}},
          .then = then,
          .restart = 1,
          .max = 2,
          .lacked = {"worker", 0}};
}

TEST(WarningWords, OfAFailedTaskSayWhatComesThen) {
  using Then = TaskFailed::Then;
  EXPECT_EQ(to_words(failed(Then::kRestart)), "worker:1 exited with status 3; restart 1 of 2");
  EXPECT_EQ(to_words(failed(Then::kRestartForWant)),
            "worker:1 exited with status 3; all tasks restart, not counted, because worker:0 was "
            "lost before");
  EXPECT_EQ(to_words(failed(Then::kWithoutItNoRestartLeft)),
            "worker:1 exited with status 3; no restart is left, the job continues without it");
  std::set<std::string> all;
  for (int then = 0; then <= static_cast<int>(Then::kWithoutItNoRestartLeft); ++then) {
    all.insert(to_words(failed(static_cast<Then>(then))));
  }
  EXPECT_EQ(all.size(), 9U);
}

TEST(WarningWords, OfTheOthers) {
  const job::TaskId task{"worker", 1};
  EXPECT_EQ(to_words(Replaced{{"worker", 3}, task}), "worker:3 replaces worker:1");
  EXPECT_EQ(to_words(Resized{"worker", 2, 4}), "the gang has 2 of 4 tasks of the type worker");
  EXPECT_EQ(to_words(CameBackElsewhere{task, {"b", 2}, {"a", 1}}),
            "worker:1 came back at b:2 instead of a:1: all tasks restart");
  EXPECT_EQ(to_words(HostAvoided{"h", seconds(600), 3, seconds(60)}),
            "h is avoided for 10 min: 3 failures there within 1 min");
  EXPECT_EQ(to_words(NoProgress{task, seconds(120)}),
            "worker:1 made no progress for 2 min after the others had ended; it was stopped");
  EXPECT_EQ(to_words(EndNotConfirmed{task, "h"}),
            "could not confirm that worker:1 ended; look for leftover processes on h");
  EXPECT_EQ(to_words(EndNotConfirmed{task, ""}),
            "could not confirm that worker:1 ended; look for leftover processes on its host");
  EXPECT_EQ(
      to_words(HostNotConfirmed{"h", {task, {"ps", 0}}, seconds(65)}),
      "could not confirm that the tasks on host h ended (worker:1, ps:0): it does not answer. "
      "If only its connection is lost, they end within 1 min 5 s; if it is frozen, so long "
      "after it goes on. Look for leftover processes there then; last lines may be missing");
}

}  // namespace
}  // namespace gangrun::gang
