#include "kubernetes/records/head_keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubernetes/records/record_server_for_tests.h"

namespace gangrun::kubernetes::records {
namespace {

using test::Office;
using test::RecordServer;
using testing::HasSubstr;

void put_map(RecordServer& server, const std::string& name) {
  server.store.perform("POST", std::string(test::kRecordFolder),
                       {{"metadata", {{"name", name}}}, {"binaryData", {{"00001.000.end", ""}}}});
}

std::string seal_of(RecordServer& server, const std::string& name) {
  return text_at(server.store.maps[name], {"metadata", "annotations", "gangrun/sealed"});
}

TEST(HeadKeeper, TakesTheOfficeAndSealsTheLastMaps) {
  RecordServer server;
  for (const char* name : {"j-journal-000001-001", "j-journal-000001-002", "j-keys-000001-001",
                           "j-journal-000002-001", "j-result-worker-0-1-001"}) {
    put_map(server, name);
  }
  server.store.change_head([](Head& head) {
    head.master = 4;
    head.refusal = "no rights";
    head.chains = {{"journal-000001", 2}, {"keys-000001", 1}, {"result-worker-0-1", 1}};
  });
  Office office(server);
  EXPECT_EQ(office.keeper.head().master, 5);
  const Head head = server.store.head();
  EXPECT_EQ(head.master, 5);
  EXPECT_EQ(head.pod_name, "pod-1");
  EXPECT_EQ(head.pod_uid, "u-pod-1");
  EXPECT_EQ(head.refusal, "");
  EXPECT_EQ(seal_of(server, "j-journal-000001-002"), "5");
  EXPECT_EQ(seal_of(server, "j-keys-000001-001"), "5");
  EXPECT_EQ(seal_of(server, "j-journal-000001-001"), "");  // nothing is added to it any more
  EXPECT_EQ(seal_of(server, "j-result-worker-0-1-001"), "");
  EXPECT_EQ(seal_of(server, "j-journal-000002-001"), "");  // the head does not count it
}

TEST(HeadKeeper, SealsAMapToWhichAnEarlierMasterAddsMeanwhile) {
  RecordServer server;
  put_map(server, "j-journal-000001-001");
  server.store.change_head([](Head& head) { head.chains = {{"journal-000001", 1}}; });
  server.meddle = [&](TestTalk& talk, const std::string& words) {
    if (words != "PATCH journal-000001-001" || server.count(words) > 1) return false;
    server.store.perform("PATCH", talk.path,
                         {{{"op", "add"}, {"path", "/binaryData/00002.000.end"}, {"value", ""}}});
    return false;
  };
  const Office office(server);
  EXPECT_EQ(server.count("PATCH journal-000001-001"), 2);
  EXPECT_EQ(server.store.keys_in("j-journal-000001-001"), 2U);
  EXPECT_EQ(seal_of(server, "j-journal-000001-001"), "1");
}

TEST(HeadKeeper, MissesAMapThatTheHeadCounts) {
  RecordServer server;
  server.store.change_head([](Head& head) { head.chains = {{"journal-000001", 1}}; });
  Office office(server.place());
  const auto head = office.keeper.claim(
      "p", "u", [] { return base::Result<>(); }, server.deadline());
  ASSERT_FALSE(head.ok());
  EXPECT_EQ(head.error().code, base::Code::kDataLoss);
  EXPECT_THAT(head.error().message, HasSubstr("j-journal-000001-001 is gone"));
  EXPECT_FALSE(office.keeper.is_in_office());
}

TEST(HeadKeeper, OfTwoThatClaimOneIsInOffice) {
  RecordServer server;
  server.meddle = [&](TestTalk&, const std::string& words) {
    if (words == "PATCH head" && server.count(words) == 1) {
      server.store.change_head([](Head& head) { head.master = 1; });
    }
    return false;
  };
  Office first(server, "pod-1");
  EXPECT_EQ(first.keeper.head().master, 2);
  Office second(server, "pod-2");
  EXPECT_EQ(second.keeper.head().master, 3);
  first.keeper.look([] { ADD_FAILURE() << "it is deposed"; });
  ASSERT_TRUE(server.wait([&] { return !first.deposed.empty(); }));
  EXPECT_FALSE(first.keeper.is_in_office());
  EXPECT_THAT(first.deposed[0].message, HasSubstr("master 3 of the job, in the pod pod-2"));
  bool seen = false;
  second.keeper.look([&] { seen = true; });
  EXPECT_TRUE(server.wait([&] { return seen; }));
  EXPECT_TRUE(second.keeper.is_in_office());
  EXPECT_TRUE(second.deposed.empty());
}

TEST(HeadKeeper, IsInOfficeWhereTheAnswerWasLost) {
  RecordServer server;
  server.meddle = [&](TestTalk& talk, const std::string& words) {
    return words == "PATCH head" && server.count(words) == 1 && server.lose(talk);
  };
  Office office(server);
  EXPECT_EQ(server.store.head().master, office.keeper.head().master);
  bool seen = false;
  office.keeper.look([&] { seen = true; });
  EXPECT_TRUE(server.wait([&] { return seen; }));
}

TEST(HeadKeeper, TakesNothingWhereItIsNotThePodsTurn) {
  RecordServer server;
  Office office(server.place());
  const auto head = office.keeper.claim(
      "p", "u",
      [] {
        return base::Result<>(base::Error{base::Code::kCancelled, "the pod is being deleted"});
      },
      server.deadline());
  ASSERT_FALSE(head.ok());
  EXPECT_EQ(head.error().code, base::Code::kCancelled);
  EXPECT_EQ(head.error().message, "the pod is being deleted");
  EXPECT_EQ(server.count("PATCH"), 0);
}

TEST(HeadKeeper, MakesOneOfChangesThatWait) {
  RecordServer server;
  Office office(server);
  const auto before = server.count("PATCH head");
  std::vector<int> done;
  for (int i = 0; i < 5; ++i) {
    office.keeper.change([i](Head& head) { head.summary.tasks += i; },
                         [&done, i] { done.push_back(i); });
  }
  EXPECT_EQ(office.keeper.head().summary.tasks, 10);
  EXPECT_TRUE(done.empty());
  ASSERT_TRUE(server.wait([&] { return done.size() == 5; }));
  EXPECT_EQ(done, (std::vector<int>{0, 1, 2, 3, 4}));
  EXPECT_EQ(server.store.head().summary.tasks, 10);
  EXPECT_EQ(server.count("PATCH head") - before, 1);
}

TEST(HeadKeeper, KeepsTheStopThatAClientWrites) {
  RecordServer server;
  Office office(server);
  server.store.change_head([](Head& head) { head.stop = StopWish{"alice", true}; });
  bool done = false;
  office.keeper.change([](Head& head) { head.summary.state = "running"; }, [&] { done = true; });
  ASSERT_TRUE(server.wait([&] { return done && !office.stops.empty(); }));
  EXPECT_EQ(office.stops, (std::vector<StopWish>{{"alice", true}}));
  EXPECT_EQ(server.store.head().stop, (StopWish{"alice", true}));
  EXPECT_EQ(server.store.head().summary.state, "running");
  office.keeper.look([&] { done = false; });
  ASSERT_TRUE(server.wait([&] { return !done; }));
  EXPECT_EQ(office.stops.size(), 1U);
  EXPECT_TRUE(office.keeper.is_in_office());
}

TEST(HeadKeeper, TellsOfAStopThatWasThereBefore) {
  RecordServer server;
  server.store.change_head([](Head& head) { head.stop = StopWish{"bob"}; });
  Office office(server);
  EXPECT_TRUE(server.wait([&] { return office.stops.size() == 1; }));
}

TEST(HeadKeeper, FindsTheChangeWhoseAnswerWasLost) {
  RecordServer server;
  Office office(server);
  const auto before = server.count("PATCH head");
  server.meddle = [&](TestTalk& talk, const std::string& words) {
    return words == "PATCH head" && server.count(words) == before + 1 && server.lose(talk);
  };
  bool done = false;
  office.keeper.change([](Head& head) { head.end = "END"; }, [&] { done = true; });
  ASSERT_TRUE(server.wait([&] { return done; }));
  EXPECT_EQ(server.store.head().end, "END");
  EXPECT_TRUE(office.deposed.empty());
}

TEST(HeadKeeper, ChangesNothingForAnotherMaster) {
  RecordServer server;
  Office first(server, "pod-1");
  const Office second(server, "pod-2");
  first.keeper.change([](Head& head) { head.end = "mine"; },
                      [] { ADD_FAILURE() << "it is deposed"; });
  ASSERT_TRUE(server.wait([&] { return !first.deposed.empty(); }));
  first.keeper.change([](Head& head) { head.end = "mine"; },
                      [] { ADD_FAILURE() << "it is deposed"; });
  server.idle(std::chrono::milliseconds(300));
  EXPECT_EQ(first.deposed.size(), 1U);
  EXPECT_EQ(server.store.head().end, "");
}

TEST(HeadKeeper, SeesThatTheJobWasTakenAway) {
  RecordServer server;
  RecordPlace place = server.place();
  place.look_interval = std::chrono::milliseconds(50);
  Office office(place);
  office.claim("pod-1", server.deadline());
  server.store.maps.erase("j-head");
  ASSERT_TRUE(server.wait([&] { return !office.deposed.empty(); }));  // by itself
  EXPECT_EQ(office.deposed[0].code, base::Code::kNotFound);
  EXPECT_FALSE(office.keeper.is_in_office());
}

TEST(HeadKeeper, WaitsForAServerThatIsAway) {
  RecordServer server;
  Office office(server);
  bool is_away = true;
  server.meddle = [&](TestTalk& talk, const std::string&) {
    if (is_away) talk.refuse(503, "ServiceUnavailable", "the server is starting");
    return is_away;
  };
  bool done = false;
  office.keeper.change([](Head& head) { head.summary.state = "running"; }, [&] { done = true; });
  ASSERT_TRUE(server.wait([&] { return !office.keeper.trouble().empty(); }));
  EXPECT_THAT(office.keeper.trouble(), HasSubstr("starting"));
  EXPECT_FALSE(done);
  EXPECT_TRUE(office.keeper.is_in_office());
  is_away = false;
  ASSERT_TRUE(server.wait([&] { return done; }));
  EXPECT_EQ(office.keeper.trouble(), "");
}

}  // namespace
}  // namespace gangrun::kubernetes::records
