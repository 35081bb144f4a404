#include "job/cause.h"

#include <gmock/gmock.h>

#include "job/described.h"

namespace gangrun::job {
namespace {

using std::chrono::seconds;

Cause full_cause() {
  return {.task = TaskId{"worker", 5},
          .host = "host7",
          .why = {.reason = Reason::kOutOfMemory, .signal = 9},
          .lost_ports = 5,
          .next = Follower{{"worker", 3}, seconds(41)},
          .beside = "the tokens have ended",
          .last_lines = {"a", "b"},
          .traceback = "Traceback",
          .has_both_streams = true};
}

TEST(Cause, RoundTripsWhole) {
  for (const Cause& cause : {full_cause(), Cause{}, Cause{.told = "as YARN says"}}) {
    const auto json = base::parse_json(base::dump_json(base::to_json(cause)), 1 << 20);
    ASSERT_TRUE(json.ok());
    const auto back = base::from_json<Cause>(*json);
    ASSERT_TRUE(back.ok()) << back.error().message;
    EXPECT_EQ(*back, cause);
  }
}

TEST(Cause, IsWrittenWithItsSentenceAndItsReason) {
  const base::Json json = base::to_json(full_cause());
  EXPECT_EQ(json["sentence"], to_words(full_cause()));
  EXPECT_EQ(json["reason"], "out_of_memory");
}

TEST(Cause, OfAnOlderVersionIsItsSentence) {
  base::Json json = {{"task", "worker:5"},
                     {"host", "host7"},
                     {"sentence", "worker:5 on host7 exited"},
                     {"last_lines", base::Json::array()},
                     {"traceback", ""}};
  EXPECT_EQ(to_words(*base::from_json<Cause>(json)), "worker:5 on host7 exited");
  EXPECT_EQ(base::from_json<Cause>(json)->why.reason, Reason::kUnknown);
  json["reason"] = "preempted";
  EXPECT_EQ(base::from_json<Cause>(json)->why.reason, Reason::kPreempted);
  json.erase("sentence");
  EXPECT_FALSE(base::from_json<Cause>(json).ok());
}

TEST(CauseWords, OfATask) {
  EXPECT_EQ(to_words(full_cause()),
            "worker:5 on host7 was killed by signal 9 (out of memory); the same happened with 5 "
            "other ports, 41 s before worker:3 failed too; the tokens have ended");
  EXPECT_EQ(to_words(Cause{.task = TaskId{"ps", 0},
                           .why = {.reason = Reason::kAllocationTimeout, .limit = seconds(10)}}),
            "ps:0 got no place within 10 s (timeouts.allocation)");
}

TEST(CauseWords, OfTheJob) {
  const auto words = [](Why why) { return to_words(Cause{.why = std::move(why)}); };
  EXPECT_EQ(words({.reason = Reason::kStopped, .detail = "Ctrl-C"}), "stopped by Ctrl-C");
  EXPECT_EQ(words({.reason = Reason::kStopped}), "the job was stopped");
  EXPECT_EQ(words({.reason = Reason::kJobTimeout, .limit = seconds(10)}),
            "the job did not end within 10 s (timeouts.job)");
  EXPECT_EQ(words({.reason = Reason::kMasterLost}), "its master was killed");
  EXPECT_EQ(words({.reason = Reason::kMasterLost, .detail = "its pods are gone"}),
            "its pods are gone");
  EXPECT_EQ(words({.reason = Reason::kClusterGone, .detail = "YARN refuses it"}),
            "YARN refuses it");
  EXPECT_EQ(words({.reason = Reason::kClusterGone}), "the job lost its cluster");
  EXPECT_EQ(words({}), "");
}

}  // namespace
}  // namespace gangrun::job
