#include "wire/rest_bodies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/test_described.h"
#include "wire/answers.h"
#include "wire/join.h"

namespace gangrun::wire {
namespace {

template <typename T>
std::string written(const T& body) {
  return base::dump_json(base::to_json(body));
}

TEST(RestBodies, AreInTheDocument) {
  base::expect_table_in_document("docs/protocols/registry.md", "bodies of requests and answers",
                                 {{"POST /v1/stop", base::members_of<StopRequest>()},
                                  {"POST /v1/notice", base::members_of<AskedBy>()},
                                  {"PUT /v1/tasks/TYPE/INDEX", base::members_of<PlaceReport>()},
                                  {"GET /v1/tasks/TYPE/INDEX", base::members_of<TaskPlace>()},
                                  {"GET /v1/lines", base::members_of<KeptLines>()},
                                  {"GET /v1/lines, a line", base::members_of<KeptLine>()},
                                  {"GET /v1/outputs", base::members_of<OutputList>()},
                                  {"GET /v1/outputs, one", base::members_of<KeptOutput>()},
                                  {"POST /v1/join", base::members_of<JoinRequest>()},
                                  {"PUT /v1/master", base::members_of<MasterCall>()}});
}

TEST(RestBodies, AreWrittenAsEarlierVersionsReadThem) {
  EXPECT_EQ(written(StopRequest{false, {"ana"}}), R"({"at_once":false,"by":"ana"})");
  EXPECT_EQ(written(AskedBy{"SIGUSR1"}), R"({"by":"SIGUSR1"})");
  EXPECT_EQ(written(MasterCall{"h", 40'000, 2}), R"({"host":"h","port":40000,"attempt":2})");
}

TEST(RestBodies, AStopMaySayNothingOrNull) {
  for (const std::string body : {"{}", R"({"at_once":null,"by":null})"}) {
    const auto read = body_from<StopRequest>(body);
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_FALSE(read->at_once);
    EXPECT_EQ(read->asker.name(), "a request");
  }
}

TEST(RestBodies, ABodyThatIsNoneNamesTheMember) {
  const auto error_of = [](const std::string& body) {
    const auto read = body_from<StopRequest>(body);
    return read.ok() ? std::string() : read.error().message;
  };
  EXPECT_EQ(error_of("[]"), "the body must be a JSON object");
  EXPECT_EQ(error_of(R"({"now":1})"), "unknown member \"now\"; allowed are at_once, by");
  EXPECT_EQ(error_of(R"({"by":""})"), "\"by\" must be from 1 to 200 bytes long");
  EXPECT_EQ(error_of(R"({"at_once":1})"), "\"at_once\" must be true or false");
}

}  // namespace
}  // namespace gangrun::wire
