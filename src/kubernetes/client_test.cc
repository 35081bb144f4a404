#include "kubernetes/client.h"

#include <gtest/gtest.h>

#include "kubernetes/test_api_server_internal.h"

namespace gangrun::kubernetes {
namespace {

TEST(Client, AnAccessThatCannotBeUsed) {
  TestApiServer server;
  for (const char* url : {"", "ftp://x", "https://"}) {
    Access access;
    access.remote.url = url;
    const auto made = Client::make(server.loop, *server.logger, access, {});
    ASSERT_FALSE(made.ok()) << url;
    EXPECT_EQ(made.error().code, base::Code::kInvalidArgument);
  }
}

TEST(Client, KnowsItsAccess) {
  TestApiServer server;
  server.access.name_space = "train";
  EXPECT_EQ(server.client().access().name_space, "train");
}

TEST(Client, AskingInALoopThatIsStopped) {
  TestApiServer server;
  server.on_request = [&](const TestTalk&) { server.loop.stop(); };
  const auto answer = ask(server.loop, server.client(), {.path = "/p"}, server.deadline());
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, base::Code::kCancelled);
}

TEST(Client, ListsPageByPage) {
  TestApiServer server;
  server.on_request = [&](TestTalk& talk) {
    EXPECT_EQ(talk.query["limit"], "500");
    EXPECT_EQ(talk.query["labelSelector"], "job=a");
    const bool is_first = server.requests == 1;
    EXPECT_EQ(talk.query["continue"], is_first ? "" : "more");
    talk.answer(base::Json{{"metadata", {{"continue", is_first ? "more" : ""}}},
                           {"items", {{{"number", server.requests}}, "none"}}});
  };
  const auto objects =
      list(server.loop, server.client(), "/pods", {{"labelSelector", "job=a"}}, server.deadline());
  ASSERT_TRUE(objects.ok()) << objects.error().message;
  ASSERT_EQ(objects->size(), 2U);
  EXPECT_EQ((*objects)[1]["number"], 2);
}

TEST(Client, AListWithoutAnEndIsNone) {
  TestApiServer server;
  server.on_request = [](TestTalk& talk) {
    talk.answer(base::Json{{"metadata", {{"continue", "more"}}}, {"items", {{{"a", 1}}}}});
  };
  const auto objects = list(server.loop, server.client(), "/pods", {}, server.deadline());
  ASSERT_FALSE(objects.ok());
  EXPECT_EQ(server.requests, kMaxPages);
}

TEST(Client, WhatIsNoListIsNone) {
  TestApiServer server;
  for (const char* body : {"[]", "{}", R"({"items": {}})", "null"}) {
    server.on_request = [body](TestTalk& talk) { talk.answer(200, body); };
    EXPECT_FALSE(list(server.loop, server.client(), "/pods", {}, server.deadline()).ok()) << body;
  }
}

}  // namespace
}  // namespace gangrun::kubernetes
