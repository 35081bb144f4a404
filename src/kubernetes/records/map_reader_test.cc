#include "kubernetes/records/map_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/test_folder.h"
#include "kubernetes/records/record_server_for_tests.h"
#include "net/digests.h"

namespace gangrun::kubernetes::records {
namespace {

using test::RecordServer;
using testing::ElementsAre;
using testing::HasSubstr;

// A map for each part.
void put_chain(RecordServer& server, const std::string& chain,
               const std::vector<std::string>& parts) {
  const RecordPlace place = server.place();
  int index = 0;
  for (const std::string& part : parts) {
    ++index;
    base::Json values = base::Json::object();
    const auto pieces =
        pieces_of(place.key, place.job_id, chain, index, part, journal_limits()).value();
    for (const Piece& piece : pieces) values[piece.key] = net::to_base64(piece.sealed);
    server.store.perform(
        "POST", std::string(test::kRecordFolder),
        {{"metadata", {{"name", map_name("j", chain, index)}}}, {"binaryData", values}});
  }
  server.store.change_head([&](Head& head) { head.chains[chain] = index; });
}

TEST(MapReader, ReadsTheMapsThatTheHeadCounts) {
  RecordServer server;
  std::vector<std::string> parts;
  for (int i = 0; i < 25; ++i) parts.push_back(base::format("part {}", i));
  put_chain(server, "journal-000001", parts);
  Head head = server.store.head();
  EXPECT_EQ(read_chain(server.place(), head, "journal-000001", server.deadline()).value(), parts);
  head.chains["journal-000001"] = 2;
  EXPECT_THAT(read_chain(server.place(), head, "journal-000001", server.deadline()).value(),
              ElementsAre("part 0", "part 1"));
  EXPECT_TRUE(read_chain(server.place(), head, "keys-000001", server.deadline())->empty());
}

TEST(MapReader, MissesAMap) {
  RecordServer server;
  put_chain(server, "journal-000001", {"one", "two"});
  server.store.maps.erase("j-journal-000001-001");
  const auto read =
      read_chain(server.place(), server.store.head(), "journal-000001", server.deadline());
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, base::Code::kDataLoss);
  EXPECT_THAT(read.error().message, HasSubstr("config map j-journal-000001-001"));
}

TEST(MapReader, FetchesJournalAndKeys) {
  RecordServer server;
  put_chain(server, "journal-000001", {"{\"a\":1}\n", "{\"a\":2}\n"});
  put_chain(server, "journal-000002", {"{\"a\":3}\n"});
  put_chain(server, "keys-000004", {"keys\n"});
  const base::TestFolder journal;
  const base::TestFolder keys;
  const Head head = server.store.head();
  ASSERT_TRUE(fetch_journal(server.place(), head, journal.path(), server.deadline()).ok());
  ASSERT_TRUE(fetch_keys(server.place(), head, keys.path(), server.deadline()).ok());
  EXPECT_EQ(base::read_file(journal / "000001.jsonl", 1000).value(), "{\"a\":1}\n{\"a\":2}\n");
  EXPECT_EQ(base::read_file(journal / "000002.jsonl", 1000).value(), "{\"a\":3}\n");
  EXPECT_EQ(base::read_file(keys / "000004.jsonl", 1000).value(), "keys\n");
  EXPECT_FALSE(base::read_file(journal / "000004.jsonl", 1000).ok());
}

TEST(MapReader, ReadsResultsThatAreWhole) {
  RecordServer server;
  put_chain(server, "result-worker-0-1", {"42"});
  Head head = server.store.head();
  head.results["worker-0"] = {"result-worker-0-1", 2};
  EXPECT_EQ(read_result(server.place(), head, "worker-0", server.deadline()).value(), "42");
  EXPECT_EQ(read_result(server.place(), head, "worker-1", server.deadline()).error().code,
            base::Code::kNotFound);
  head.results["worker-0"].bytes = 3;
  EXPECT_EQ(read_result(server.place(), head, "worker-0", server.deadline()).error().code,
            base::Code::kDataLoss);
}

TEST(MapReader, FindsNoHeadOfAJobThatIsGone) {
  RecordServer server;
  EXPECT_TRUE(read_head(server.loop, server.client(), "lab", "j-head", server.deadline()).ok());
  EXPECT_EQ(
      read_head(server.loop, server.client(), "lab", "k-head", server.deadline()).error().code,
      base::Code::kNotFound);
}

TEST(MapReader, KnowsTheEndOfAJobWithoutAMaster) {
  RecordServer server;
  const base::SystemClock clock;
  const auto left = [&](const Head& head) {
    return left_status(server.place(), head, clock, server.deadline());
  };
  const auto none = left(server.store.head());
  ASSERT_TRUE(none.ok()) << none.error().message;
  EXPECT_FALSE(none->has_value());
  job::JobStatus status;
  status.id = "j-20260131";
  status.state = job::JobState::kSucceeded;
  Head head = server.store.head();
  head.end = sealed_end(server.place().key, "j-20260131", status).value();
  const auto end = left(head);
  ASSERT_TRUE(end.ok() && end->has_value());
  EXPECT_EQ(**end, status);
}

}  // namespace
}  // namespace gangrun::kubernetes::records
