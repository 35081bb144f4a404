#include "gang/event.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/test_described.h"
#include "job/described.h"

namespace gangrun::gang {
namespace {

using ::testing::HasSubstr;

const base::Instant kOrigin{base::Duration(1'000'000)};

std::vector<Event> one_of_each() {
  const job::TaskId task{"worker", 1};
  job::ExitReport report;
  report.why.signal = 9;
  report.why.reason = job::Reason::kOutOfMemory;
  report.last_lines = {"one", "two"};
  const base::Instant before = kOrigin - base::Duration(77);
  return {
      Begin{},
      ClusterWaiting{"the queue is full"},
      Allocated{task, 1, "host1"},
      Reported{task, 1, {"::1", 40'001}},
      Started{task, 1},
      job::Exited{task, 1, report, kOrigin + base::Duration(5)},
      SessionLost{task, 2},
      Reattached{task, 2},
      job::AgentEnded{task, 2, {.reason = job::Reason::kEvicted, .detail = "no memory"}, before},
      Progress{task, 2},
      StopRequested{"Ctrl-C", true},
      ClusterGone{"no right to create pods", job::Reason::kApiServer},
      TimePassed{},
      Resumed{},
      HostSilent{"host1", {task, {"ps", 0}}}};
}

TEST(EventTest, EachReadsBackAsItWasAndHasItsOwnName) {
  std::set<std::string_view> names;
  std::set<std::size_t> kinds;
  for (const Event& event : one_of_each()) {
    const auto read = event_from_json(to_json(event));
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(*read, event);
    names.insert(name_of(event));
    kinds.insert(event.index());
  }
  EXPECT_EQ(names.size(), std::variant_size_v<Event>);
  EXPECT_EQ(kinds.size(), std::variant_size_v<Event>);
}

// Before it had a reason of its own.
TEST(EventTest, AGoneClusterOfAnOlderJournalIsRead) {
  const auto json =
      *base::parse_json(R"({"event":"cluster_gone","reason":"it is gone"})", std::size_t{1} << 10U);
  EXPECT_EQ(*event_from_json(json), Event(ClusterGone{"it is gone"}));
}

TEST(EventTest, OneIsTimeOneAsksForTheEndAndOneTellsOfAStart) {
  std::vector<std::string_view> time;
  std::vector<std::string_view> ends;
  std::vector<std::string_view> starts;
  for (const Event& event : one_of_each()) {
    if (is_time(event)) time.push_back(name_of(event));
    if (asks_for_end(event)) ends.push_back(name_of(event));
    if (tells_of_start(event)) starts.push_back(name_of(event));
  }
  EXPECT_THAT(time, testing::ElementsAre("time_passed"));
  EXPECT_THAT(ends, testing::ElementsAre("stop_requested"));
  EXPECT_THAT(starts, testing::ElementsAre("started"));
}

TEST(EventTest, AllInstantsOfAnEventAreMoved) {
  const base::Duration by(1000);
  for (const Event& event : one_of_each()) {
    const base::Json before = to_json(event);
    base::Json after = to_json(moved_by(by, event));
    if (before.contains("ended_at")) {
      EXPECT_EQ(after["ended_at"], before["ended_at"].get<std::int64_t>() + by.count());
      after["ended_at"] = before["ended_at"];
    }
    EXPECT_EQ(after, before);
  }
  const Event exited = job::Exited{{"ps", 0}, 1, {}, kOrigin};
  EXPECT_EQ(std::get<job::Exited>(moved_by(by, exited)).ended_at, kOrigin + by);
}

TEST(EventTest, IsWrittenAsDocumented) {
  const job::TaskId ps{"ps", 0};
  const Event event = job::AgentEnded{ps,
                                      3,
                                      {.reason = job::Reason::kEvicted, .detail = "no memory"},
                                      base::Instant(base::Duration(9))};
  EXPECT_EQ(base::dump_json(to_json(event)),
            R"({"event":"agent_ended","task":"ps:0","attempt":3,)"
            R"("why":{"reason":"evicted","detail":"no memory"},"ended_at":9})");
  EXPECT_EQ(base::dump_json(to_json(TimePassed{})), R"({"event":"time_passed"})");
}

TEST(EventTest, AnAgentsEndIsReadAsItWasWrittenBefore) {
  base::Json json = {{"event", "agent_ended"},
                     {"task", "ps:0"},
                     {"attempt", 3},
                     {"sentence", "was evicted"},
                     {"ended_at", 9}};
  base::Json with_reason = json;
  with_reason["reason"] = "evicted";
  EXPECT_EQ(*event_from_json(with_reason),
            Event(job::AgentEnded{{"ps", 0},
                                  3,
                                  {.reason = job::Reason::kEvicted, .told = "was evicted"},
                                  base::Instant(base::Duration(9))}));
  const auto read = [&](bool counts, bool out_of_memory) {
    json["counts"] = counts;
    json["out_of_memory"] = out_of_memory;
    return std::get<job::AgentEnded>(*event_from_json(json)).why.reason;
  };
  EXPECT_EQ(read(true, false), job::Reason::kAgentEnded);
  EXPECT_EQ(read(true, true), job::Reason::kOutOfMemory);
  EXPECT_EQ(read(false, false), job::Reason::kContainerLost);
  json["more"] = 1;
  EXPECT_FALSE(event_from_json(json).ok());
}

TEST(EventTest, AreInTheDocument) {
  base::expect_in_document<Event>("docs/protocols/journal.md", "events of the gang");
}

TEST(EventTest, EachMissingKeyIsTold) {
  for (const Event& event : one_of_each()) {
    const base::Json whole = to_json(event);
    for (const auto& [key, value] : whole.items()) {
      base::Json json = whole;
      json.erase(key);
      const auto read = event_from_json(json);
      if (key == "why") continue;  // older journals have none
      ASSERT_FALSE(read.ok()) << key;
      EXPECT_THAT(read.error().message, HasSubstr(key));
    }
  }
}

TEST(EventTest, EachUnknownKeyAndWrongTypeIsTold) {
  for (const Event& event : one_of_each()) {
    const base::Json whole = to_json(event);
    base::Json json = whole;
    json["more"] = 1;
    const auto read = event_from_json(json);
    ASSERT_FALSE(read.ok());
    EXPECT_THAT(read.error().message, HasSubstr("\"more\""));
    for (const auto& [key, value] : whole.items()) {
      json = whole;
      json[key] = base::Json::array();
      EXPECT_FALSE(event_from_json(json).ok()) << name_of(event) << " " << key;
    }
  }
}

TEST(EventTest, WrongValuesAreTold) {
  for (const char* text :
       {"7", "[]", R"({"event":"strange"})", R"({"event":"started","task":"worker","attempt":1})",
        R"({"event":"started","task":"worker:0","attempt":0})",
        R"({"event":"started","task":"worker:0","attempt":3000000000})",
        R"({"event":"reported","task":"worker:0","attempt":1,"address":"host"})",
        R"({"event":"reported","task":"worker:0","attempt":1,"address":"host:70000"})"}) {
    const auto json = base::parse_json(text, 1'000);
    ASSERT_TRUE(json.ok());
    EXPECT_FALSE(event_from_json(*json).ok()) << text;
  }
}

TEST(EventTest, TextsAreCutWhenWrittenAndRefusedWhenRead) {
  const Event event = StopRequested{std::string(100'000, 'x'), false};
  base::Json json = to_json(event);
  EXPECT_TRUE(event_from_json(json).ok());
  json["by"] = std::string(100'000, 'x');
  EXPECT_FALSE(event_from_json(json).ok());
}

TEST(EventTest, TheEndOfARunOrAnAgentIsThatOfItsTask) {
  const job::TaskId task{"worker", 1};
  EXPECT_EQ(ended_in(job::Exited{.task = task}), task);
  EXPECT_EQ(ended_in(job::AgentEnded{.task = task}), task);
  EXPECT_EQ(ended_in(Started{.task = task}), std::nullopt);
}

}  // namespace
}  // namespace gangrun::gang
