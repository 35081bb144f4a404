#include "job/why.h"

#include <gmock/gmock.h>

#include <csignal>
#include <set>

#include "job/described.h"
#include "job/json_text.h"

namespace gangrun::job {
namespace {

using std::chrono::seconds;

Why full_why() {
  return {.reason = Reason::kOutOfMemory,
          .code = 3,
          .signal = 9,
          .core_dumped = true,
          .process = 1,
          .processes = 4,
          .limit = seconds(10),
          .host = "node2",
          .detail = "70 MB of 64 MB used",
          .told = "drei … ü"};
}

TEST(Why, RoundTripsWhole) {
  for (const Why& why : {full_why(), Why{}}) {
    const auto json = base::parse_json(base::dump_json(base::to_json(why)), 1 << 20);
    ASSERT_TRUE(json.ok());
    const auto back = base::from_json<Why>(*json);
    ASSERT_TRUE(back.ok()) << back.error().message;
    EXPECT_EQ(*back, why);
  }
}

TEST(Why, IsWrittenAsShortAsItIs) {
  EXPECT_EQ(base::dump_json(base::to_json(Why{.reason = Reason::kSignal, .signal = 9})),
            R"({"reason":"signal","signal":9})");
}

TEST(Why, EveryMemberIsTyped) {
  const base::Json good = base::to_json(full_why());
  for (const auto& [key, value] : good.items()) {
    base::Json wrong = good;
    wrong[key] = base::Json::object();
    const auto back = base::from_json<Why>(wrong);
    ASSERT_FALSE(back.ok()) << key;
    EXPECT_THAT(back.error().message, testing::HasSubstr(key));
  }
  for (const char* other : {"[]", "3", "null", "{}"}) {
    EXPECT_FALSE(base::from_json<Why>(base::Json::parse(other)).ok()) << other;
  }
}

TEST(Why, AReasonOfALaterVersionIsUnknown) {
  EXPECT_EQ(base::from_json<Why>({{"reason", "solar_flare"}})->reason, Reason::kUnknown);
}

TEST(Why, WritingKeepsTheLimitsThatReadingDemands) {
  const std::string huge(1'000'000, '\xff');
  const auto back =
      base::from_json<Why>(base::to_json(Why{.host = huge, .detail = huge, .told = huge}));
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_LE(back->detail.size(), kMaxSentenceBytes);
  base::Json json = base::to_json(Why{});
  json["detail"] = std::string(kMaxSentenceBytes + 1, 's');
  EXPECT_FALSE(base::from_json<Why>(json).ok());
}

TEST(Why, OfAProcessHasTheReasonThatFollows) {
  EXPECT_EQ(why_of(base::ProcessEnd{}), Why{});
  EXPECT_EQ(why_of(base::ProcessEnd{.code = 3}), (Why{.reason = Reason::kExitStatus, .code = 3}));
  EXPECT_EQ(why_of(base::ProcessEnd{.signal = SIGSEGV, .core_dumped = true}),
            (Why{.reason = Reason::kSignal, .signal = SIGSEGV, .core_dumped = true}));
  EXPECT_EQ(why_of(base::ProcessEnd{.signal = SIGKILL, .out_of_memory = true}).reason,
            Reason::kOutOfMemory);
}

TEST(WhyWords, OfAProcess) {
  EXPECT_EQ(to_words(Why{}), "exited with status 0");
  EXPECT_EQ(to_words({.reason = Reason::kExitStatus, .code = 3}), "exited with status 3");
  EXPECT_EQ(to_words({.reason = Reason::kSignal, .signal = SIGSEGV, .core_dumped = true}),
            "was killed by signal 11 (segmentation fault, core dumped)");
  EXPECT_EQ(to_words({.reason = Reason::kOutOfMemory, .signal = SIGKILL}),
            "was killed by signal 9 (out of memory)");
  EXPECT_EQ(to_words({.reason = Reason::kOutOfMemory, .code = 1}),
            "exited with status 1 (out of memory)");
  EXPECT_EQ(to_words({.reason = Reason::kExitStatus, .code = 3, .process = 1, .processes = 4}),
            "exited with status 3 (process 1 of 4)");
  EXPECT_EQ(to_words({.reason = Reason::kPreempted, .code = 143}),
            "exited with status 143 after the notice of its preemption");
  EXPECT_EQ(to_words({.reason = Reason::kStopped, .signal = SIGTERM}),
            "was killed by signal 15 (termination request)");
  EXPECT_EQ(to_words({.reason = Reason::kAgentEnded, .signal = SIGKILL}),
            "lost its agent, which was killed by signal 9 (kill)");
}

TEST(WhyWords, HaveHostAndDetailBehindThem) {
  EXPECT_EQ(to_words({.reason = Reason::kExitStatus, .code = 3, .host = "node2"}),
            "exited with status 3 on node2");
  EXPECT_EQ(to_words({.reason = Reason::kLostNode, .host = "node2"}),
            "was lost with its node node2");
  EXPECT_EQ(to_words({.reason = Reason::kCouldNotStart, .code = 127, .detail = "no such file"}),
            "could not be started: no such file");
  EXPECT_EQ(to_words({.reason = Reason::kOutOfMemory, .detail = "70 MB of 64 MB used"}),
            "ran out of memory: 70 MB of 64 MB used");
  EXPECT_EQ(to_words({.reason = Reason::kAllocationTimeout,
                      .limit = seconds(10),
                      .detail = "the queue is full"}),
            "got no place within 10 s (timeouts.allocation): the queue is full");
}

TEST(WhyWords, AreWhatAnOlderVersionTold) {
  EXPECT_EQ(to_words({.reason = Reason::kExitStatus, .code = 3, .told = "it ended"}), "it ended");
}

// Without a process and without a detail, each reason has words of its own.
TEST(WhyWords, EachReasonGoesOnAfterAName) {
  std::set<std::string> all;
  for (const Reason reason : all_reasons()) {
    const bool is_of_process = reason == Reason::kExitStatus || reason == Reason::kSignal;
    if (is_of_process) continue;
    const std::string words = to_words({.reason = reason, .limit = seconds(10)});
    EXPECT_THAT(words, testing::MatchesRegex("(was|lost|ran|could|made|sent|got|did) .*"));
    all.insert(words);
  }
  // Three reasons are one to people: what could not be started.
  EXPECT_EQ(all.size(), all_reasons().size() - 2 - 2);
}

}  // namespace
}  // namespace gangrun::job
