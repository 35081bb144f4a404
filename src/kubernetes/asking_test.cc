#include "kubernetes/asking.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubernetes/attempt.h"
#include "kubernetes/test_api_server_internal.h"

namespace gangrun::kubernetes {
namespace {

using base::Code;
using testing::HasSubstr;

struct AskingFixture : TestApiServer {
  base::Result<base::Json> get(const std::string& path = "/api/v1/pods") {
    return ask(loop, client(), {.path = path}, deadline());
  }
};

TEST(Asking, ARequestWithAllThatBelongsToIt) {
  AskingFixture fixture;
  fixture.access.remote.url += "/k8s/c-1";
  fixture.access.login = base::Secret("token");
  fixture.on_request = [](TestTalk& talk) {
    EXPECT_EQ(talk.method, "PATCH");
    EXPECT_EQ(talk.target, "/k8s/c-1/api/x?fieldManager=gang%20run&a=&a=b");
    EXPECT_EQ(talk.field("Authorization"), "Bearer token");
    EXPECT_EQ(talk.field("Content-Type"), "application/merge-patch+json");
    EXPECT_EQ(talk.field("Accept"), "application/json");
    EXPECT_EQ(talk.body, R"({"a":[1,null]})");
    talk.answer(base::Json{{"kind", "Pod"}});
  };
  const auto answer = ask(fixture.loop, fixture.client(),
                          {.method = "PATCH",
                           .path = "/api/x",
                           .query = {{"fieldManager", "gang run"}, {"a", ""}, {"a", "b"}},
                           .body = {{"a", {1, nullptr}}},
                           .content_type = "application/merge-patch+json"},
                          fixture.deadline());
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ((*answer)["kind"], "Pod");
}

TEST(Asking, OnlyTheMetadataIsWantedButAWholeObjectIsTakenToo) {
  AskingFixture fixture;
  fixture.on_request = [](TestTalk& talk) {
    EXPECT_EQ(talk.field("Accept"),
              "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json");
    talk.answer(base::Json{{"kind", "Pod"}});
  };
  const auto answer = ask(fixture.loop, fixture.client(),
                          {.path = "/p", .wants_metadata_only = true}, fixture.deadline());
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ((*answer)["kind"], "Pod");
}

TEST(Asking, ATableIsAskedFor) {
  AskingFixture fixture;
  fixture.on_request = [](TestTalk& talk) {
    EXPECT_EQ(talk.field("Accept"),
              "application/json;as=Table;g=meta.k8s.io;v=v1,application/json");
    talk.answer(base::Json{{"kind", "Table"}});
  };
  const auto answer =
      ask(fixture.loop, fixture.client(), {.path = "/p", .wants_table = true}, fixture.deadline());
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ((*answer)["kind"], "Table");
}

TEST(Asking, ARefusalIsToldWhole) {
  AskingFixture fixture;
  fixture.on_request = [](TestTalk& talk) { talk.refuse(409, "AlreadyExists", "pods exist"); };
  std::optional<ApiAnswer> answer;
  const auto asking =
      fixture.client().request({.method = "POST", .path = "/p", .body = {{"kind", "Pod"}}},
                               fixture.deadline(), [&](ApiAnswer is) { answer = std::move(is); });
  ASSERT_TRUE(fixture.wait([&] { return answer.has_value(); }));
  EXPECT_EQ(answer->object.error().code, Code::kAlreadyExists);
  EXPECT_EQ(answer->refusal->status, 409);
  EXPECT_EQ(answer->refusal->reason, "AlreadyExists");
  EXPECT_EQ(fixture.requests, 1);
}

TEST(Asking, AServerThatIsBusyIsAskedAgain) {
  AskingFixture fixture;
  fixture.on_request = [&](TestTalk& talk) {
    if (fixture.requests == 1)
      return talk.refuse(429, "TooManyRequests", "slow", "Retry-After: 0\r\n");
    if (fixture.requests == 2) return talk.answer(502, "<html>");
    if (fixture.requests == 3) return talk.close();
    talk.answer(base::Json{{"kind", "Pod"}});
  };
  const auto answer = fixture.get();
  EXPECT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(fixture.requests, 4);
}

TEST(Asking, AServerThatIsBusyForLongerThanTheAskerHasPatience) {
  AskingFixture fixture;
  fixture.on_request = [](TestTalk& talk) {
    talk.refuse(429, "TooManyRequests", "slow", "Retry-After: 0\r\n");
  };
  const auto answer = ask(fixture.loop, fixture.client(),
                          {.path = "/p", .patience = base::milliseconds(100)}, fixture.deadline());
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().message, "the API server says \"slow\"");
  EXPECT_GT(fixture.requests, 1);
}

TEST(Asking, WhatNeverGetsBetterEndsWithItsReason) {
  AskingFixture fixture;
  fixture.on_request = [](TestTalk& talk) { talk.refuse(503, "ServiceUnavailable", "starting"); };
  const auto answer = ask(fixture.loop, fixture.client(), {.path = "/p"},
                          fixture.loop.now() + base::milliseconds(300));
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, Code::kUnavailable);
  EXPECT_EQ(answer.error().message, "the API server says \"starting\"");
}

TEST(Asking, AServerThatSaysNothingIsWaitedForUntilTheDeadline) {
  AskingFixture fixture;
  fixture.on_request = [](const TestTalk&) {};
  const auto answer = ask(fixture.loop, fixture.client(), {.path = "/p"},
                          fixture.loop.now() + base::milliseconds(100));
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, Code::kDeadlineExceeded);
  EXPECT_THAT(answer.error().message, HasSubstr("/p"));
}

TEST(Asking, AnAnswerOfSomethingElse) {
  AskingFixture fixture;
  fixture.on_request = [](TestTalk& talk) { talk.answer(200, "<html>welcome</html>"); };
  EXPECT_THAT(fixture.get().error().message, HasSubstr("none of an API server"));
  EXPECT_EQ(fixture.requests, 1);
}

// Sixteen of them come at once, and each could take all memory.
TEST(Asking, AnAnswerThatIsLargerThanAskedForIsNotRead) {
  AskingFixture fixture;
  const base::Json object = {{"kind", "Pod"}};
  fixture.on_request = [&](TestTalk& talk) { talk.answer(object); };
  const std::size_t size = object.dump().size();
  for (const std::size_t most : {size, size - 1}) {
    const auto answer = ask(fixture.loop, fixture.client(),
                            {.path = "/p", .max_answer_bytes = most}, fixture.deadline());
    EXPECT_EQ(answer.ok(), most == size);
  }
  EXPECT_EQ(fixture.requests, 2);
}

TEST(Asking, SixteenAtOnceAndAllInTheEnd) {
  AskingFixture fixture;
  fixture.on_request = [](const TestTalk&) {};
  int answered = 0;
  std::vector<ActivityHandle> all;
  for (int i = 0; i < 40; ++i) {
    all.push_back(
        fixture.client().request({.path = "/p"}, fixture.deadline(), [&](const ApiAnswer& a) {
          EXPECT_TRUE(a.object.ok());
          ++answered;
        }));
  }
  ASSERT_TRUE(fixture.wait([&] { return fixture.requests == kMaxRequestsAtOnce; }));
  bool is_later = false;
  const net::Timer later = fixture.loop.after(base::milliseconds(50), [&] { is_later = true; });
  ASSERT_TRUE(fixture.wait([&] { return is_later; }));
  EXPECT_EQ(fixture.requests, kMaxRequestsAtOnce);
  all[20].reset();  // leaves the queue
  all[0].reset();   // leaves its turn to another
  ASSERT_TRUE(fixture.wait([&] { return fixture.requests == kMaxRequestsAtOnce + 1; }));
  fixture.on_request = [](TestTalk& talk) { talk.answer(base::Json::object()); };
  for (std::size_t i = 0; i < fixture.talks.size(); ++i) {
    TestTalk& talk = *fixture.talks[i];
    if (talk.is_open() && !talk.head.empty()) talk.answer(base::Json::object());
  }
  ASSERT_TRUE(fixture.wait([&] { return answered == 38; }));
}

TEST(Asking, ARequestThatWaitsForItsTurnHasItsDeadlineToo) {
  AskingFixture fixture;
  fixture.on_request = [](const TestTalk&) {};
  std::vector<ActivityHandle> all;
  for (int i = 0; i < kMaxRequestsAtOnce; ++i) {
    all.push_back(
        fixture.client().request({.path = "/p"}, fixture.deadline(), [](const ApiAnswer&) {}));
  }
  const auto answer = ask(fixture.loop, fixture.client(), {.path = "/q"},
                          fixture.loop.now() + base::milliseconds(50));
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, Code::kDeadlineExceeded);
  EXPECT_THAT(answer.error().message, HasSubstr("/q"));
}

TEST(Asking, AStaleLoginIsRenewedOnce) {
  AskingFixture fixture;
  Plugin plugin;
  plugin.command = {"login"};
  plugin.api_version = "client.authentication.k8s.io/v1";
  fixture.access.login = plugin;
  std::atomic<int> runs = 0;
  fixture.run_plugin = [&](const Plugin&, const std::string&, base::Instant, const auto&) {
    return base::Result<std::string>(base::format(
        R"({{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":
        {{"token":"t{}"}}}})",
        ++runs));
  };
  fixture.on_request = [](TestTalk& talk) {
    if (talk.field("Authorization") != "Bearer t2") {
      return talk.refuse(401, "Unauthorized", "Unauthorized");
    }
    talk.answer(base::Json::object());
  };
  EXPECT_TRUE(fixture.get().ok());
  EXPECT_EQ(runs, 2);
  fixture.on_request = [](TestTalk& talk) { talk.refuse(401, "Unauthorized", "Unauthorized"); };
  const auto answer = fixture.get();
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, Code::kUnauthenticated);
  EXPECT_THAT(answer.error().message, HasSubstr("the test"));
  EXPECT_EQ(runs, 3);
}

}  // namespace
}  // namespace gangrun::kubernetes
