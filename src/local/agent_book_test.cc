#include "local/agent_book.h"

#include <gmock/gmock.h>

#include <set>

#include "base/format.h"
#include "base/overloaded.h"
#include "base/strings.h"

namespace gangrun::local {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::Optional;

constexpr base::Instant kStart{seconds(1000)};

std::string words(const AgentKey& key) {
  return base::format("{}/{}", job::to_string(key.first), key.second);
}

std::string words(const cluster::LaunchEvent& event) {
  return std::visit(
      base::Overloaded{
          [](const gang::ClusterWaiting& waiting) { return "waits: " + waiting.reason; },
          [](const cluster::AgentAllocated& got) {
            return base::format("allocated {} {}", words(AgentKey{got.task, got.attempt}),
                                got.host);
          },
          [](const cluster::PreemptionNotice&) { return std::string("notice"); },
          [](const job::AgentEnded& ended) {
            return base::format("ended {}: {}", words(AgentKey{ended.task, ended.attempt}),
                                to_words(ended.why));
          },
          [](const cluster::LossesTold&) { return std::string("losses told"); },
          [](const gang::ClusterGone&) { return std::string("gone"); },
          [](const gang::HostSilent&) { return std::string("silent"); },
          [](const cluster::Remark&) { return std::string("remark"); },
          [](const cluster::TasksWarning&) { return std::string("warning"); }},
      event);
}

// A machine that writes down what is done at it.
class FakeMachine final : public AgentBookOutput {
 public:
  void tell(cluster::LaunchEvent event) override {
    done.push_back(words(event));
    if (const auto* allocated = std::get_if<cluster::AgentAllocated>(&event))
      handles.push_back(allocated->handle);
  }
  base::Result<std::string> look_at(const std::string& host) override {
    if (unusable.contains(host)) return base::unavailable("no such host");
    looked_at = host;
    return "address of " + host;
  }
  bool hold(const job::Gpu& gpu) override {
    if (taken.contains(gpu.name)) return false;
    held.push_back(gpu.name);
    return true;
  }
  base::Result<std::optional<AgentMark>> spawn(const AgentKey& key, const cluster::Launch&,
                                               const std::vector<job::Gpu>& gpus) override {
    std::vector<std::string> names;
    for (const job::Gpu& gpu : gpus) names.push_back(gpu.name);
    EXPECT_EQ(names, held);
    if (cannot_spawn) return base::not_found("no such program");
    done.push_back(
        base::format("spawn {} on '{}' with '{}'", words(key), looked_at, base::join(names, ",")));
    ++last_pid;
    if (tells_starts_later) return {std::nullopt};
    return {AgentMark{last_pid, 77}};
  }
  void let_go() override {
    looked_at.clear();
    held.clear();
  }
  bool take_over(const AgentKey& key, const AgentMark& mark) override {
    if (!(mark == alive)) return false;
    done.push_back("takes over " + words(key));
    return true;
  }
  void add_last_words(const AgentMark& mark, job::AgentEnded& ended) override {
    if (mark.words_file == "known") ended.why.detail = "its last words";
  }
  void ask_to_end(const AgentKey& key) override { done.push_back("asks " + words(key)); }
  void end_at_once(const AgentKey& key) override { done.push_back("ends " + words(key)); }
  void kill(const AgentKey& key) override { done.push_back("kills " + words(key)); }

  // The actions since the last time.
  std::vector<std::string> take() { return std::exchange(done, {}); }

  std::set<std::string> unusable;
  std::set<std::string> taken;
  bool cannot_spawn = false;
  AgentMark alive{5, 50};
  bool tells_starts_later = false;
  std::vector<base::Json> handles;

 private:
  std::vector<std::string> done;
  std::string looked_at;
  std::vector<std::string> held;
  pid_t last_pid = 100;
};

struct AgentBookTest : testing::Test {
  static job::TaskId worker(int index) { return {"worker", index}; }
  static cluster::Launch with_gpus(int gpus) {
    cluster::Launch launch;
    launch.resources.gpus = gpus;
    return launch;
  }
  static job::AgentEnded ended(int index, int attempt = 1) {
    return {worker(index), attempt, {.reason = job::Reason::kAgentEnded, .signal = 9}, kStart};
  }
  AgentBook book_of(std::vector<job::Host> hosts, int gpus = 0) {
    AgentBook::Options options{"here", std::move(hosts), {}};
    for (int i = 0; i < gpus; ++i) {
      options.gpus.push_back({base::format("g{}", i), base::format("lock{}", i), "", ""});
    }
    return AgentBook(options, machine);
  }

  FakeMachine machine;
};

TEST_F(AgentBookTest, StartsAtOnceWhatNeedsNothing) {
  AgentBook book = book_of({});
  book.start(worker(0), 1, {}, kStart);
  EXPECT_THAT(machine.take(),
              ElementsAre("spawn worker:0/1 on '' with ''", "allocated worker:0/1 here"));
  EXPECT_THAT(machine.handles,
              ElementsAre(base::Json({{"pid", 101}, {"start_ticks", 77}, {"host", ""}})));
  EXPECT_EQ(book.next_deadline(), std::nullopt);
}

TEST_F(AgentBookTest, AnAgentOfAStarterIsToldOnceItIsKnown) {
  AgentBook book = book_of({{"a", 1}});
  machine.tells_starts_later = true;
  book.start(worker(0), 1, {}, kStart);
  EXPECT_THAT(machine.take(), ElementsAre("spawn worker:0/1 on 'a' with ''"));
  book.on_started({worker(0), 1}, {7, 70, true});
  EXPECT_THAT(machine.take(), ElementsAre("allocated worker:0/1 a"));
  EXPECT_THAT(machine.handles,
              ElementsAre(base::Json(
                  {{"pid", 7}, {"start_ticks", 70}, {"host", "a"}, {"in_starter", true}})));
  // It is stopped before it is known, too, and what is not waited for is not told.
  book.start(worker(1), 1, {}, kStart);
  book.stop(worker(0), 1, seconds(0), kStart);
  book.on_ended(ended(0));
  book.on_started({worker(0), 1}, {7, 70, true});
  EXPECT_THAT(machine.take(), Not(Contains("allocated worker:0/1 a")));
}

TEST_F(AgentBookTest, ATaskOnAHostIsToldByItsName) {
  AgentBook book = book_of({{"a", 1}});
  book.start(worker(0), 1, {}, kStart);
  EXPECT_THAT(machine.take(),
              ElementsAre("spawn worker:0/1 on 'a' with ''", "allocated worker:0/1 a"));
  EXPECT_EQ(machine.handles.at(0)["host"], "a");
}

TEST_F(AgentBookTest, WhatCannotBeStartedHasEndedAndLeavesItsSlot) {
  AgentBook book = book_of({{"a", 1}});
  machine.cannot_spawn = true;
  book.start(worker(0), 1, {}, kStart);
  EXPECT_THAT(machine.take(),
              ElementsAre("ended worker:0/1: could not be started: no such program"));
  machine.cannot_spawn = false;
  book.start(worker(0), 2, {}, kStart);
  EXPECT_THAT(machine.take(),
              ElementsAre("spawn worker:0/2 on 'a' with ''", "allocated worker:0/2 a"));
}

TEST_F(AgentBookTest, WhatHasNoSlotWaitsForTheEndOfAnother) {
  AgentBook book = book_of({{"a", 1}});
  book.start(worker(0), 1, {}, kStart);
  machine.take();
  book.start(worker(1), 1, {}, kStart);
  EXPECT_THAT(machine.take(), ElementsAre("waits: all slots of the hosts are taken"));
  EXPECT_THAT(book.next_deadline(), Optional(kStart + kLookAgain));
  book.on_ended(ended(0));
  EXPECT_THAT(machine.take(),
              ElementsAre("ended worker:0/1: lost its agent, which was killed by signal 9 (kill)"));
  book.on_time(kStart + kLookAgain - milliseconds(1));
  EXPECT_THAT(machine.take(), IsEmpty());
  book.on_time(kStart + kLookAgain);
  EXPECT_THAT(machine.take(),
              ElementsAre("spawn worker:1/1 on 'a' with ''", "allocated worker:1/1 a"));
  EXPECT_EQ(book.next_deadline(), std::nullopt);
}

TEST_F(AgentBookTest, TellsAReasonAgainOnlyWhenItIsAnother) {
  AgentBook book = book_of({{"a", 1}});
  machine.unusable = {"a"};
  book.start(worker(0), 1, {}, kStart);
  EXPECT_THAT(machine.take(), ElementsAre("waits: host a cannot be used: no such host"));
  book.on_time(kStart + kLookAgain);
  EXPECT_THAT(machine.take(), IsEmpty());
  EXPECT_THAT(book.next_deadline(), Optional(kStart + 2 * kLookAgain));
  machine.unusable.clear();
  book.start(worker(1), 1, {}, kStart + kLookAgain);  // behind the other
  EXPECT_THAT(machine.take(), IsEmpty());
  book.on_time(kStart + 2 * kLookAgain);
  EXPECT_THAT(machine.take(),
              ElementsAre("spawn worker:0/1 on 'a' with ''", "allocated worker:0/1 a",
                          "waits: all slots of the hosts are taken"));
}

TEST_F(AgentBookTest, AReasonThatHadGoneIsToldAgain) {
  AgentBook book = book_of({{"a", 1}});
  machine.unusable = {"a"};
  book.start(worker(0), 1, {}, kStart);
  book.stop(worker(0), 1, seconds(1), kStart);
  EXPECT_THAT(machine.take(), ElementsAre("waits: host a cannot be used: no such host",
                                          "ended worker:0/1: was stopped: it had not begun"));
  book.on_time(kStart + kLookAgain);
  EXPECT_EQ(book.next_deadline(), std::nullopt);
  book.start(worker(0), 2, {}, kStart + seconds(9));
  EXPECT_THAT(machine.take(), ElementsAre("waits: host a cannot be used: no such host"));
}

TEST_F(AgentBookTest, GpusAreTakenAllOrNone) {
  AgentBook book = book_of({{"a", 1}}, 3);
  machine.taken = {"g1", "g2"};
  book.start(worker(0), 1, with_gpus(2), kStart);
  EXPECT_THAT(machine.take(),
              ElementsAre("waits: other jobs hold GPUs of this machine (3 in all)"));
  machine.taken = {"g1"};
  book.on_time(kStart + kLookAgain);  // the slot was given back, too
  EXPECT_THAT(machine.take(),
              ElementsAre("spawn worker:0/1 on 'a' with 'g0,g2'", "allocated worker:0/1 a"));
}

TEST_F(AgentBookTest, ATaskWithoutGpusTakesNone) {
  AgentBook book = book_of({}, 2);
  book.start(worker(0), 1, with_gpus(0), kStart);
  book.start(worker(1), 1, with_gpus(1), kStart);
  EXPECT_THAT(machine.take(),
              ElementsAre("spawn worker:0/1 on '' with ''", "allocated worker:0/1 here",
                          "spawn worker:1/1 on '' with 'g0'", "allocated worker:1/1 here"));
}

TEST_F(AgentBookTest, AStopAsksAndKillsWhatStays) {
  AgentBook book = book_of({});
  book.start(worker(0), 1, {}, kStart);
  machine.take();
  book.stop(worker(0), 1, seconds(3), kStart);
  EXPECT_THAT(machine.take(), ElementsAre("asks worker:0/1"));
  const base::Instant late = kStart + seconds(3) + kStopAllowance;
  EXPECT_THAT(book.next_deadline(), Optional(late));
  book.on_time(late - milliseconds(1));
  EXPECT_THAT(machine.take(), IsEmpty());
  book.on_time(late);
  book.on_time(late + seconds(1));
  EXPECT_THAT(machine.take(), ElementsAre("kills worker:0/1"));
  book.on_ended(ended(0));
  EXPECT_THAT(machine.take(),
              ElementsAre("ended worker:0/1: lost its agent, which was killed by signal 9 (kill)"));
}

TEST_F(AgentBookTest, AStopWithoutGraceEndsAtOnce) {
  AgentBook book = book_of({});
  book.start(worker(0), 1, {}, kStart);
  machine.take();
  book.stop(worker(0), 1, seconds(0), kStart);
  EXPECT_THAT(machine.take(), ElementsAre("ends worker:0/1"));
  EXPECT_THAT(book.next_deadline(), Optional(kStart + kStopAllowance));
}

TEST_F(AgentBookTest, ASecondStopGivesNoMoreTime) {
  AgentBook book = book_of({});
  book.start(worker(0), 1, {}, kStart);
  book.stop(worker(0), 1, seconds(3), kStart);
  book.stop(worker(0), 1, seconds(60), kStart + seconds(1));
  EXPECT_THAT(book.next_deadline(), Optional(kStart + seconds(3) + kStopAllowance));
}

TEST_F(AgentBookTest, ASecondStopMayLeaveLessTime) {
  AgentBook book = book_of({});
  book.start(worker(0), 1, {}, kStart);
  machine.take();
  book.stop(worker(0), 1, seconds(60), kStart);
  book.stop(worker(0), 1, seconds(0), kStart + seconds(1));
  EXPECT_THAT(machine.take(), ElementsAre("asks worker:0/1", "ends worker:0/1"));
  EXPECT_THAT(book.next_deadline(), Optional(kStart + seconds(1) + kStopAllowance));
}

TEST_F(AgentBookTest, WhoHasEndedAfterAStopIsNotKilled) {
  AgentBook book = book_of({});
  book.start(worker(0), 1, {}, kStart);
  book.stop(worker(0), 1, seconds(3), kStart);
  book.on_ended(ended(0));
  machine.take();
  EXPECT_EQ(book.next_deadline(), std::nullopt);
  book.on_time(kStart + seconds(60));
  // Once more, and a stop of what has ended: both say nothing.
  book.on_ended(ended(0));
  book.stop(worker(0), 1, seconds(3), kStart + seconds(60));
  EXPECT_THAT(machine.take(), IsEmpty());
  EXPECT_EQ(book.next_deadline(), std::nullopt);
}

TEST_F(AgentBookTest, AStopIsForOneAttempt) {
  AgentBook book = book_of({});
  book.start(worker(0), 1, {}, kStart);
  book.start(worker(0), 2, {}, kStart);
  machine.take();
  book.stop(worker(0), 2, seconds(3), kStart);
  book.stop(worker(0), 3, seconds(3), kStart);
  EXPECT_THAT(machine.take(), ElementsAre("asks worker:0/2"));
}

TEST_F(AgentBookTest, WhatWaitsIsNotStartedAfterItsStop) {
  AgentBook book = book_of({{"a", 1}});
  book.start(worker(0), 1, {}, kStart);
  book.start(worker(1), 1, {}, kStart);
  machine.take();
  book.stop(worker(1), 1, seconds(3), kStart);
  EXPECT_THAT(machine.take(), ElementsAre("ended worker:1/1: was stopped: it had not begun"));
  book.on_ended(ended(0));
  machine.take();
  book.on_time(kStart + kLookAgain);
  EXPECT_THAT(machine.take(), IsEmpty());
}

TEST_F(AgentBookTest, AnAdoptedAgentHasItsSlot) {
  AgentBook book = book_of({{"a", 1}, {"b", 1}});
  book.adopt(worker(0), 4, {{"pid", 5}, {"start_ticks", 50}, {"host", "a"}}, kStart);
  book.start(worker(1), 1, {}, kStart);
  EXPECT_THAT(machine.take(),
              ElementsAre("takes over worker:0/4", "spawn worker:1/1 on 'b' with ''",
                          "allocated worker:1/1 b"));
  book.stop(worker(0), 4, seconds(3), kStart);
  book.on_ended(ended(0, 4));
  EXPECT_THAT(machine.take(),
              ElementsAre("asks worker:0/4",
                          "ended worker:0/4: lost its agent, which was killed by signal 9 (kill)"));
  book.start(worker(0), 5, {}, kStart);
  EXPECT_THAT(machine.take(),
              ElementsAre("spawn worker:0/5 on 'a' with ''", "allocated worker:0/5 a"));
}

TEST_F(AgentBookTest, AnAdoptedAgentMayBeOnAHostThatTheJobHasNoMore) {
  AgentBook book = book_of({{"a", 1}});
  book.adopt(worker(0), 1, {{"pid", 5}, {"start_ticks", 50}, {"host", "z"}}, kStart);
  book.on_ended(ended(0));
  EXPECT_THAT(machine.take(),
              ElementsAre("takes over worker:0/1",
                          "ended worker:0/1: lost its agent, which was killed by signal 9 (kill)"));
}

TEST_F(AgentBookTest, WhatIsGoneCannotBeAdopted) {
  AgentBook book = book_of({{"a", 1}});
  // Another process has its number; an unknown handle; none.
  for (const base::Json& handle :
       {base::Json{{"pid", 5}, {"start_ticks", 51}, {"host", "a"}},
        base::Json{{"pid", "5"}, {"start_ticks", 50}}, base::Json{{"pid", 5}}, base::Json()}) {
    book.adopt(worker(0), 1, handle, kStart);
    EXPECT_THAT(
        machine.take(),
        ElementsAre(
            "ended worker:0/1: lost its agent, which ended: it ended before a new master came"));
  }
  const base::Json with_words = {
      {"pid", 5}, {"start_ticks", 51}, {"host", "a"}, {"words_file", "known"}};
  book.adopt(worker(0), 1, with_words, kStart);
  EXPECT_THAT(machine.take(),
              ElementsAre("ended worker:0/1: lost its agent, which ended: its last words"));
  // It has taken no slot, and nothing of it can be stopped.
  book.stop(worker(0), 1, seconds(3), kStart);
  book.start(worker(0), 2, {}, kStart);
  EXPECT_THAT(machine.take(),
              ElementsAre("spawn worker:0/2 on 'a' with ''", "allocated worker:0/2 a"));
}

}  // namespace
}  // namespace gangrun::local
