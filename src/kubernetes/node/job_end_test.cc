#include "kubernetes/node/job_end.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubernetes/records/map_writer.h"
#include "kubernetes/records/record_server_for_tests.h"

namespace gangrun::kubernetes::node {
namespace {

using records::test::Office;
using records::test::RecordServer;
using testing::ElementsAre;
using testing::Key;

const std::function<bool()> kNever = [] { return false; };

TEST(JobEnd, TheFirstVerdictStays) {
  RecordServer server;
  Office office(server);
  job::JobStatus status;
  status.state = job::JobState::kFailed;
  EXPECT_TRUE(write_end(server.place(), office.keeper, status, {.state = "failed"}, kNever).ok());
  const std::string end = server.store.head().end;
  status.state = job::JobState::kSucceeded;
  EXPECT_TRUE(write_end(server.place(), office.keeper, status, {.state = "failed"}, kNever).ok());
  EXPECT_EQ(server.store.head().end, end);
  EXPECT_EQ(records::end_in(server.place().key, server.store.head())->state,
            job::JobState::kFailed);
  EXPECT_EQ(server.store.head().summary.state, "failed");
}

TEST(JobEnd, AVerdictThatNobodyWaitsForIsAnError) {
  RecordServer server;
  Office office(server);
  server.meddle = [](TestTalk& talk, const std::string&) {
    talk.refuse(503, "ServiceUnavailable", "not now");
    return true;
  };
  const base::Instant limit = server.loop.now() + std::chrono::milliseconds(100);
  const auto written =
      write_end(server.place(), office.keeper, {}, {}, [&] { return server.loop.now() >= limit; });
  EXPECT_EQ(written.error().code, base::Code::kUnavailable);
}

TEST(JobEnd, OnlyTheKeysGo) {
  RecordServer server;
  Office office(server);
  std::vector<std::unique_ptr<records::MapWriter>> writers;
  std::size_t written = 0;
  for (const std::string& chain : {records::chain_of_journal(1), records::chain_of_keys(1)}) {
    writers.push_back(std::make_unique<records::MapWriter>(server.place(), office.keeper, chain,
                                                           records::keys_limits()));
    writers.back()->append("bytes", [&](const base::Result<>&) { ++written; });
  }
  ASSERT_TRUE(server.wait([&] { return written == 2; }));
  EXPECT_TRUE(remove_keys(server.place(), office.keeper, kNever).ok());
  EXPECT_THAT(server.store.head().chains, ElementsAre(Key(records::chain_of_journal(1))));
}

TEST(JobEnd, TheOwnersTimeCountsFromItsStart) {
  TestApiServer server;
  std::string patched;
  server.on_request = [&](TestTalk& talk) {
    if (talk.method == "PATCH") patched = talk.body;
    EXPECT_EQ(talk.path, "/apis/batch/v1/namespaces/lab/jobs/j-owner");
    talk.answer(base::Json{{"status", {{"startTime", "2026-01-31T12:00:00Z"}}}});
  };
  struct FixedClock final : base::Clock {
    [[nodiscard]] base::Instant now() const override { return base::SystemClock().now(); }
    [[nodiscard]] base::WallTime wall_now() const override {
      return base::parse_iso8601("2026-01-31T12:01:40.000Z").value();
    }
  } clock;
  const auto place = records::test::place_of(server.loop, *server.logger, server.client());
  ASSERT_TRUE(limit_owner(place, clock, std::chrono::hours(1), server.deadline()).ok());
  EXPECT_EQ(patched, R"({"spec":{"activeDeadlineSeconds":3700}})");
}

TEST(JobEnd, AJobIsTakenAwayWhereItsOwnerIsOrGoes) {
  RecordServer server;
  base::Json owner = {{"metadata", {{"name", "j-owner"}, {"uid", "u-owner"}}}};
  server.meddle = [&owner](TestTalk& talk, const std::string&) {
    EXPECT_EQ(talk.path, "/apis/batch/v1/namespaces/lab/jobs/j-owner");
    if (owner.is_null()) {
      talk.refuse(404, "NotFound", "no such job");
    } else {
      talk.answer(owner);
    }
    return true;
  };
  EXPECT_FALSE(is_taken_away(server.place(), server.deadline()));
  owner["metadata"]["deletionTimestamp"] = "2026-01-31T12:00:00Z";
  EXPECT_TRUE(is_taken_away(server.place(), server.deadline()));
  owner = {{"metadata", {{"name", "j-owner"}, {"uid", "u-another"}}}};
  EXPECT_TRUE(is_taken_away(server.place(), server.deadline()));
  owner = base::Json();
  EXPECT_TRUE(is_taken_away(server.place(), server.deadline()));
}

TEST(JobEnd, IsKeptUntilTheHeadSays) {
  records::Head head;
  const base::WallTime now = base::parse_iso8601("2026-01-31T12:00:00.000Z").value();
  EXPECT_EQ(time_kept(head, now), std::chrono::milliseconds(0));
  head.summary.kept_until = "2026-01-31T12:00:02.500Z";
  EXPECT_EQ(time_kept(head, now), std::chrono::milliseconds(2500));
  EXPECT_EQ(time_kept(head, now + std::chrono::seconds(3)), std::chrono::milliseconds(0));
}

TEST(JobEnd, ARefusalIsToldInTheHead) {
  RecordServer server;
  tell_refusal(server.place(),
               base::Error{base::Code::kPermissionDenied, "no right to create pods"},
               std::chrono::seconds(10));
  EXPECT_EQ(server.store.head().refusal, "no right to create pods");
  EXPECT_EQ(server.store.head().refusal_code, "permission_denied");
}

}  // namespace
}  // namespace gangrun::kubernetes::node
