#include "hadoop/rpc_error.h"

#include <gtest/gtest.h>

namespace gangrun::hadoop {
namespace {

using base::Code;
using Kind = RpcError::Kind;

TEST(RpcError, ARemoteMessageIsKeptWithoutItsStackTrace) {
  const RpcError error = remote_error(
      Kind::kRemote, "org.apache.hadoop.yarn.exceptions.ApplicationNotFoundException",
      "Application with id 'application_1_0001' doesn't exist in RM.\nPlease check.\n\tat a.b(D)\n"
      "\tat e.f(G)\nCaused by: h.I: j");
  EXPECT_EQ(error.message,
            "Application with id 'application_1_0001' doesn't exist in RM. Please check.");
  EXPECT_EQ(simple_class_name(error.exception_class), "ApplicationNotFoundException");
}

TEST(RpcError, AnExceptionWrappedIntoAnotherIsTheOneThatCounts) {
  const RpcError error = remote_error(
      Kind::kRemote, "org.apache.hadoop.yarn.exceptions.YarnException",
      "org.apache.hadoop.security.AccessControlException: User al does not have permission: q\n");
  EXPECT_EQ(error.exception_class, "org.apache.hadoop.security.AccessControlException");
  EXPECT_EQ(error.message, "User al does not have permission: q");
  EXPECT_EQ(to_error(error, "the ResourceManager").code, Code::kPermissionDenied);
}

TEST(RpcError, EveryExceptionHasItsCode) {
  const auto code_of = [](std::string_view name) {
    return to_error(remote_error(Kind::kRemote, name, "why"), "the ResourceManager").code;
  };
  EXPECT_EQ(code_of("org.apache.hadoop.ipc.StandbyException"), Code::kUnavailable);
  EXPECT_EQ(code_of("org.apache.hadoop.ipc.RetriableException"), Code::kUnavailable);
  EXPECT_EQ(code_of("y.ApplicationAttemptNotFoundException"), Code::kNotFound);
  EXPECT_EQ(code_of("y.ApplicationMasterNotRegisteredException"), Code::kFailedPrecondition);
  EXPECT_EQ(code_of("y.InvalidResourceRequestException"), Code::kInvalidArgument);
  EXPECT_EQ(code_of("y.InvalidLabelResourceRequestException"), Code::kInvalidArgument);
  EXPECT_EQ(code_of("org.apache.hadoop.security.token.SecretManager$InvalidToken"),
            Code::kUnauthenticated);
  EXPECT_EQ(code_of("java.lang.NullPointerException"), Code::kFailedPrecondition);
  EXPECT_EQ(code_of(""), Code::kFailedPrecondition);
}

TEST(RpcError, TheSentenceNamesTheServerAndTheReason) {
  const std::string server = "the ResourceManager at rm:8032";
  EXPECT_EQ(to_error({.kind = Kind::kUnreachable, .message = "connect: refused"}, server).message,
            "the ResourceManager at rm:8032 cannot be reached: connect: refused");
  EXPECT_EQ(to_error({.kind = Kind::kTimedOut, .message = ""}, server).message,
            "the ResourceManager at rm:8032 does not answer");
  EXPECT_EQ(to_error(remote_error(Kind::kRemote, "a.NullPointerException", ""), server).message,
            "the ResourceManager at rm:8032 refuses: \"NullPointerException\"");
  EXPECT_EQ(to_error(remote_error(Kind::kRemote, "a.RpcNoSuchMethodException", "m"), server).code,
            Code::kFailedPrecondition);
  const RpcError access = remote_error(
      Kind::kAuthentication, "org.apache.hadoop.security.AccessControlException", "SIMPLE …");
  EXPECT_EQ(to_error(access, server).code, Code::kUnauthenticated);
  EXPECT_EQ(to_error({.kind = Kind::kGarbled, .message = "x"}, server).code, Code::kDataLoss);
}

TEST(RpcError, OnlyWhatMayPassIsTriedAgain) {
  EXPECT_TRUE(may_be_tried_again({.kind = Kind::kUnreachable, .message = ""}));
  EXPECT_TRUE(may_be_tried_again({.kind = Kind::kTimedOut, .message = ""}));
  EXPECT_TRUE(may_be_tried_again(remote_error(Kind::kRemote, "a.StandbyException", "")));
  EXPECT_FALSE(may_be_tried_again(remote_error(Kind::kRemote, "a.YarnException", "")));
  EXPECT_FALSE(may_be_tried_again({.kind = Kind::kAuthentication, .message = ""}));
}

}  // namespace
}  // namespace gangrun::hadoop
