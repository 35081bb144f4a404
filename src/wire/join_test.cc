#include "wire/join.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job/described.h"
#include "wire/answers.h"

namespace gangrun::wire {
namespace {

JoinRequest sample() { return {{"worker", 2}, 1, "executor 4", "10.0.0.7", "as Spark calls it"}; }

TEST(Join, ARequestComesThroughAsItIs) {
  const auto read = body_from<JoinRequest>(base::dump_json(base::to_json(sample())));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, sample());
}

TEST(Join, ARequestThatIsNoneNamesTheMember) {
  const auto error_of = [](const char* key, const base::Json& value) {
    base::Json json = base::to_json(sample());
    json[key] = value;
    const auto read = body_from<JoinRequest>(base::dump_json(json));
    return read.ok() ? std::string() : read.error().message;
  };
  EXPECT_THAT(error_of("host", ""), testing::HasSubstr("\"host\": '' is not a host's name"));
  EXPECT_THAT(error_of("executor", std::string(kMaxExecutorBytes + 1, 'x')),
              testing::HasSubstr("\"executor\" must be at most 200 bytes long"));
  EXPECT_THAT(error_of("attempt", -1), testing::HasSubstr("\"attempt\" must be from 0 to"));
  EXPECT_THAT(error_of("task", "worker"), testing::HasSubstr("worker"));
  EXPECT_THAT(error_of("secret", "x"), testing::HasSubstr("unknown member \"secret\""));
  EXPECT_THAT(error_of("host", "a b"), testing::HasSubstr("is not a host's name or address"));
  EXPECT_EQ(error_of("host", "fd00::7"), "");
  EXPECT_THAT(error_of("host", 7), testing::HasSubstr("host"));
}

TEST(Join, EveryAnswerHasItsStatus) {
  EXPECT_EQ(response_of({JoinState::kJoined, {{"job_id", "a"}}, {}}).body, R"({"job_id":"a"})");
  const net::HttpResponse there = response_of({JoinState::kThere, {}, "worker:2 came first"});
  EXPECT_EQ(there.status, 409);
  EXPECT_EQ(there.body, R"({"state":"there","reason":"worker:2 came first"})");
  const net::HttpResponse ended = response_of({JoinState::kWasThere, {}, "it has ended"});
  EXPECT_EQ(ended.status, 409);
  EXPECT_EQ(ended.body, R"({"state":"ended","reason":"it has ended"})");
  EXPECT_EQ(response_of({JoinState::kUnknownTask, {}, "no"}).status, 404);
  EXPECT_EQ(response_of({JoinState::kJobHasEnded, {}, "no"}).status, 410);
}

}  // namespace
}  // namespace gangrun::wire
