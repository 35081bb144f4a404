#include "kubernetes/exec_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubernetes/opening.h"
#include "kubernetes/test_api_server_internal.h"

namespace gangrun::kubernetes {
namespace {

using base::Code;
using testing::HasSubstr;

struct ExecStreamFixture : TestApiServer {
  base::Result<int> run(base::Duration limit = kTestLimit) {
    ExecCallbacks callbacks;
    callbacks.on_output = [this](std::string_view piece) { output += piece; };
    callbacks.on_errors = [this](std::string_view piece) { errors += piece; };
    std::optional<base::Result<int>> status;
    callbacks.on_end = [&](base::Result<int> result) { status.emplace(std::move(result)); };
    const auto exec = client().exec({"ns", "worker-0", "main", {"sh", "-c", "echo a"}},
                                    loop.now() + limit, std::move(callbacks));
    EXPECT_TRUE(wait([&] { return status.has_value(); }));
    return std::move(*status);
  }
  std::string output;
  std::string errors;
};

TEST(ExecStream, ACommandWithItsOutputAndStatus) {
  ExecStreamFixture fixture;
  fixture.on_request = [](TestTalk& talk) {
    EXPECT_THAT(talk.target, HasSubstr("/api/v1/namespaces/ns/pods/worker-0/exec?"));
    EXPECT_THAT(talk.target, HasSubstr("&command=sh&command=-c&command=echo%20a"));
    EXPECT_EQ(talk.field("Sec-WebSocket-Protocol"), "v5.channel.k8s.io, v4.channel.k8s.io");
    talk.accept_channel("v5.channel.k8s.io");
    talk.message("\x01");
    talk.message("\x01out");
    talk.message(
        "\x02"
        "err");
    talk.message("\x01" + std::string(1000, 'x'));
    talk.message(
        "\x03{\"status\":\"Failure\",\"reason\":\"NonZeroExitCode\",\"details\":{\"causes\":"
        "[{\"reason\":\"ExitCode\",\"message\":\"7\"}]}}");
  };
  const auto status = fixture.run();
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(*status, 7);
  EXPECT_EQ(fixture.output, "out" + std::string(1000, 'x'));
  EXPECT_EQ(fixture.errors, "err");
}

TEST(ExecStream, ARightThatIsMissing) {
  ExecStreamFixture fixture;
  fixture.on_request = [](TestTalk& talk) {
    talk.refuse(403, "Forbidden",
                "pods \"worker-0\" is forbidden: User \"eva\" cannot create resource \"pods/exec\" "
                "in API group \"\" in the namespace \"ns\"");
  };
  const auto status = fixture.run();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::kPermissionDenied);
  EXPECT_THAT(status.error().message, HasSubstr("no right to create pods/exec in namespace"));
}

TEST(ExecStream, AConnectionThatEndsBeforeTheCommand) {
  ExecStreamFixture fixture;
  fixture.on_request = [](TestTalk& talk) {
    talk.accept_channel("v4.channel.k8s.io");
    talk.message("\x01out");
    talk.close();
  };
  const auto status = fixture.run();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::kUnavailable);
  EXPECT_THAT(status.error().message, HasSubstr("before the command"));
}

TEST(ExecStream, ACommandThatDoesNotEnd) {
  ExecStreamFixture fixture;
  fixture.on_request = [](TestTalk& talk) { talk.accept_channel("v4.channel.k8s.io"); };
  const auto status = fixture.run(base::milliseconds(100));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::kDeadlineExceeded);
  EXPECT_THAT(status.error().message, HasSubstr("worker-0"));
}

TEST(Opening, WhatARefusedWebSocketSays) {
  const base::Error plain = base::unavailable("connect: refused {");
  EXPECT_EQ(error_of_refused_channel(plain).message, plain.message);
  const base::Error refused = error_of_refused_channel(
      {Code::kInternal, R"(GET x: {"kind":"Status","code":404,"message":"pods not found"})"});
  EXPECT_EQ(refused.code, Code::kNotFound);
  EXPECT_EQ(refused.message, "the API server says \"pods not found\"");
}

}  // namespace
}  // namespace gangrun::kubernetes
