#include "kubernetes/records/head.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubernetes/value_at.h"

namespace gangrun::kubernetes::records {
namespace {

using base::Json;
using testing::HasSubstr;

Head full_head() {
  Head head;
  head.job = "wine-1";
  head.master = 3;
  head.pod_uid = "u-1";
  head.pod_name = "wine-1-master-x";
  head.address = job::Address{"10.0.0.7", 17403};
  head.chains = {{"journal-000001", 2}, {"keys-000001", 1}};
  head.results = {{"worker-0", {"result-worker-0-2", 123}}};
  head.folder = 2;
  head.summary = {.name = "wine", .user = "alice", .state = "running", .tasks = 4};
  head.refusal = "no rights";
  head.refusal_code = "permission_denied";
  head.stop = StopWish{"bob", true};
  head.end = "END";
  return head;
}

Json map_of(const Head& head) {
  Json map = head_map({{"name", "wine-1-head"}}, head);
  map["metadata"]["uid"] = "u-head";
  map["metadata"]["resourceVersion"] = "17";
  return map;
}

TEST(Head, IsReadAsItWasWritten) {
  for (const Head& head : {Head(), full_head()}) {
    const auto read = head_in(map_of(head));
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(read->head, head);
    EXPECT_EQ(read->uid, "u-head");
    EXPECT_EQ(read->resource_version, "17");
  }
}

TEST(Head, StandsInAConfigMapForPeople) {
  const Json map = map_of(full_head());
  EXPECT_EQ(text_at(map, {"kind"}), "ConfigMap");
  EXPECT_THAT(text_at(map, {"data", "head"}),
              HasSubstr(R"("master":3,"pod":"u-1","pod_name":"wine-1-master-x",)"
                        R"("address":"10.0.0.7:17403","chains":{"journal-000001":2,)"));
  EXPECT_THAT(text_at(map_of(Head()), {"data", "head"}), HasSubstr(R"("address":null)"));
}

TEST(Head, OfAnotherVersionIsRefused) {
  Json map = map_of(full_head());
  map["data"]["head"] = R"({"version":2,"job":"wine-1"})";
  EXPECT_EQ(head_in(map).error().code, base::Code::kFailedPrecondition);
  map["data"]["head"] = R"({"version":1,"job":"wine-1","of tomorrow":true})";
  EXPECT_TRUE(head_in(map).ok());
}

TEST(Head, IsNoOtherMap) {
  EXPECT_EQ(head_in(Json::object()).error().code, base::Code::kDataLoss);
  Json map = map_of(full_head());
  for (const char* text :
       {"", "{", "[]", "{}", R"({"version":1})", R"({"version":"1","job":"x"})"}) {
    map["data"]["head"] = text;
    EXPECT_EQ(head_in(map).error().code, base::Code::kDataLoss) << text;
  }
}

TEST(Head, IsPatchedOnlyAsItWasRead) {
  Json map = map_of(full_head());
  const ReadHead read = head_in(map).value();
  Head to = read.head;
  to.master = 4;
  const Json patch = head_patch(read, to);
  EXPECT_EQ(head_in(map.patch(patch)).value().head, to);
  map["metadata"]["resourceVersion"] = "18";
  EXPECT_ANY_THROW(static_cast<void>(map.patch(patch)));
}

TEST(Head, HasTheEndForWhoKnowsTheSecret) {
  const RecordsKey key = records_key(base::Secret("the secret"));
  job::JobStatus status;
  status.id = "wine-1";
  status.name = "wine";
  status.state = job::JobState::kFailed;
  status.ended = "2026-01-31T12:00:00.000Z";
  Head head;
  head.job = "wine-1";
  head.end = sealed_end(key, "wine-1", status).value();
  const auto end = end_in(key, head);
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(*end, status);
  EXPECT_EQ(end_in(records_key(base::Secret("another")), head).error().code, base::Code::kDataLoss);
  head.job = "wine-2";
  EXPECT_EQ(end_in(key, head).error().code, base::Code::kDataLoss);
  head.end = "no base64!";
  EXPECT_EQ(end_in(key, head).error().code, base::Code::kDataLoss);
}

}  // namespace
}  // namespace gangrun::kubernetes::records
