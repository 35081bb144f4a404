#include "kubernetes/records/map_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubernetes/records/record_server_for_tests.h"
#include "net/digests.h"

namespace gangrun::kubernetes::records {
namespace {

using test::Office;
using test::RecordServer;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kChain = "journal-000001";

// A master that writes one chain, on limits that are soon reached.
struct Writing : RecordServer {
  Writing() : office(*this) { make(); }

  void make() { writer = std::make_unique<MapWriter>(place(), office.keeper, kChain, limits); }
  void append(const std::string& bytes) {
    writer->append(bytes, [this, bytes](const base::Result<>& kept) {
      if (kept.ok()) done.push_back(bytes);
      if (!kept.ok()) failed.push_back(kept.error());
    });
  }
  void append_and_wait(const std::string& bytes) {
    append(bytes);
    const std::size_t now = done.size();
    EXPECT_TRUE(wait([&] { return done.size() > now; })) << writer->trouble();
  }
  // As a next master reads it.
  std::vector<std::string> parts() {
    const auto read = read_chain(place(), store.head(), kChain, deadline());
    EXPECT_TRUE(read.ok()) << read.error().message;
    return read.ok() ? *read : std::vector<std::string>();
  }

  ChainLimits limits{.map_bytes = 1000, .map_keys = 4, .chain_bytes = 20'000};
  Office office;
  std::unique_ptr<MapWriter> writer;
  std::vector<std::string> done;
  std::vector<base::Error> failed;
};

TEST(MapWriter, AppendsInTheOrderOfTheCalls) {
  Writing writing;
  for (const char* part : {"one", "two", "three"}) writing.append_and_wait(part);
  EXPECT_THAT(writing.done, ElementsAre("one", "two", "three"));
  EXPECT_THAT(writing.parts(), ElementsAre("one", "two", "three"));
  EXPECT_EQ(writing.count("POST journal-000001-001"), 1);
  EXPECT_EQ(writing.count("PATCH journal-000001-001"), 2);
  const base::Json& metadata = writing.store.maps["j-journal-000001-001"]["metadata"];
  EXPECT_EQ(text_at(metadata, {"labels", "gangrun/job"}), "j-20260131");
  EXPECT_EQ(text_at(metadata, {"labels", "gangrun/records"}), kChain);
  EXPECT_EQ(text_at(list_at(metadata, {"ownerReferences"})[0], {"uid"}), "u-owner");
}

TEST(MapWriter, SendsTogetherWhatWaits) {
  Writing writing;
  writing.append_and_wait("one");
  for (const char* part : {"two", "three", "four"}) writing.append(part);
  ASSERT_TRUE(writing.wait([&] { return writing.done.size() == 4; }));
  EXPECT_EQ(writing.count("PATCH journal-000001-001"), 1);
  EXPECT_THAT(writing.parts(), ElementsAre("one", "two", "three", "four"));
}

TEST(MapWriter, BeginsAnotherMapWhereOneIsFull) {
  Writing writing;
  std::vector<std::string> parts;
  for (int i = 0; i < 9; ++i) parts.push_back(base::format("part {}", i));
  for (const std::string& part : parts) writing.append_and_wait(part);
  EXPECT_EQ(writing.store.head().chains.at(kChain), 3);
  EXPECT_EQ(writing.store.keys_in("j-journal-000001-001"), 4U);
  EXPECT_EQ(writing.store.keys_in("j-journal-000001-003"), 1U);
  EXPECT_EQ(writing.parts(), parts);
}

TEST(MapWriter, CutsAPartThatIsLongerThanAMap) {
  Writing writing;
  writing.append_and_wait("one");
  const std::string large = net::random_bytes(5000);
  writing.append_and_wait(large);
  writing.append_and_wait("three");
  EXPECT_GT(writing.store.head().chains.at(kChain), 5);
  EXPECT_EQ(writing.parts(), (std::vector<std::string>{"one", large, "three"}));
}

TEST(MapWriter, RefusesWhatHasNoRoomAndGoesOn) {
  Writing writing;
  writing.append_and_wait("one");
  const std::string large = net::random_bytes(19'000);
  writing.append_and_wait(large);
  writing.append(net::random_bytes(1000));
  writing.append(net::random_bytes(30'000));
  writing.append_and_wait("two");
  ASSERT_EQ(writing.failed.size(), 2U);
  EXPECT_EQ(writing.failed[0].code, base::Code::kResourceExhausted);
  EXPECT_THAT(writing.failed[0].message, HasSubstr("in config maps"));
  EXPECT_EQ(writing.failed[1].code, base::Code::kResourceExhausted);
  EXPECT_THAT(writing.parts(), ElementsAre("one", large, "two"));
}

TEST(MapWriter, FindsWhatItWroteWhereTheAnswerWasLost) {
  for (const char* lost : {"POST journal-000001-001", "PATCH journal-000001-001"}) {
    Writing writing;
    writing.meddle = [&](TestTalk& talk, const std::string& words) {
      return words == lost && writing.count(words) == 1 && writing.lose(talk);
    };
    for (const char* part : {"one", "two", "three"}) writing.append_and_wait(part);
    EXPECT_EQ(writing.store.keys_in("j-journal-000001-001"), 3U) << lost;
    EXPECT_THAT(writing.parts(), ElementsAre("one", "two", "three")) << lost;
  }
}

TEST(MapWriter, WritesOverAMapThatNobodyCounts) {
  Writing writing;
  writing.store.perform(
      "POST", std::string(test::kRecordFolder),
      {{"metadata", {{"name", "j-journal-000001-001"}}}, {"binaryData", {{"00001.000.end", "x"}}}});
  writing.append_and_wait("one");
  EXPECT_EQ(writing.count("PUT journal-000001-001"), 1);
  EXPECT_THAT(writing.parts(), ElementsAre("one"));
}

TEST(MapWriter, WaitsForAServerThatIsAway) {
  Writing writing;
  writing.append_and_wait("one");
  bool is_away = true;
  writing.meddle = [&](TestTalk& talk, const std::string&) {
    if (is_away) talk.refuse(503, "ServiceUnavailable", "the server is starting");
    return is_away;
  };
  writing.append("two");
  ASSERT_TRUE(writing.wait([&] { return !writing.writer->trouble().empty(); }));
  EXPECT_THAT(writing.writer->trouble(), HasSubstr("starting"));
  writing.append("three");
  is_away = false;
  ASSERT_TRUE(writing.wait([&] { return writing.done.size() == 3; }));
  EXPECT_EQ(writing.writer->trouble(), "");
  EXPECT_THAT(writing.parts(), ElementsAre("one", "two", "three"));
}

TEST(MapWriter, OfADeposedMasterWritesNothing) {
  Writing writing;
  writing.append_and_wait("one");
  const Office next(writing, "pod-2");
  writing.append("two");
  ASSERT_TRUE(writing.wait([&] { return !writing.office.deposed.empty(); }));
  writing.append("three");
  writing.idle(std::chrono::milliseconds(300));
  EXPECT_THAT(writing.done, ElementsAre("one"));
  EXPECT_TRUE(writing.failed.empty());
  EXPECT_THAT(writing.parts(), ElementsAre("one"));
}

TEST(MapWriter, OfADeposedMasterCannotMakeAMap) {
  Writing writing;
  const Office next(writing, "pod-2");
  writing.append("one");
  ASSERT_TRUE(writing.wait([&] { return !writing.office.deposed.empty(); }));
  EXPECT_TRUE(writing.done.empty());
  EXPECT_TRUE(writing.parts().empty());
}

// It would destroy what the next one has written under the same name.
TEST(MapWriter, OfADeposedMasterDoesNotWriteOverAMapOfTheNext) {
  Writing writing;
  Office next(writing, "pod-2");
  MapWriter its(writing.place(), next.keeper, kChain, writing.limits);
  bool done = false;
  its.append("of the next", [&](const base::Result<>& kept) { done = kept.ok(); });
  ASSERT_TRUE(writing.wait([&] { return done; }));
  writing.append("of the first");
  ASSERT_TRUE(writing.wait([&] { return !writing.office.deposed.empty(); }));
  writing.idle(std::chrono::milliseconds(300));
  EXPECT_EQ(writing.count("PUT"), 0);
  EXPECT_THAT(writing.parts(), ElementsAre("of the next"));
}

TEST(MapWriter, GivesUpWhenItIsTold) {
  Writing writing;
  writing.meddle = [](TestTalk& talk, const std::string&) {
    talk.refuse(503, "ServiceUnavailable", "the server is starting");
    return true;
  };
  writing.append("one");
  writing.append("two");
  ASSERT_TRUE(writing.wait([&] { return !writing.writer->trouble().empty(); }));
  writing.writer->give_up(base::deadline_exceeded("too slow"));
  EXPECT_TRUE(writing.failed.empty());
  writing.append("three");
  ASSERT_TRUE(writing.wait([&] { return writing.failed.size() == 3; }));
  EXPECT_EQ(writing.failed[2].message, "too slow");
}

TEST(MapWriter, RemovesItsChain) {
  Writing writing;
  for (int i = 0; i < 9; ++i) writing.append_and_wait(base::format("part {}", i));
  writing.make();  // as that of a next master does
  bool removed = false;
  writing.writer->remove([&](const base::Result<>& done) { removed = done.ok(); });
  ASSERT_TRUE(writing.wait([&] { return removed; }));
  EXPECT_EQ(writing.count("DELETE"), 3);
  EXPECT_EQ(writing.store.maps.size(), 1U);
  EXPECT_TRUE(writing.store.head().chains.empty());
  EXPECT_TRUE(writing.parts().empty());
}

}  // namespace
}  // namespace gangrun::kubernetes::records
