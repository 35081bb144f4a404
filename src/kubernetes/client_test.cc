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

}  // namespace
}  // namespace gangrun::kubernetes
