#include "kubernetes/refusal.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace gangrun::kubernetes {
namespace {

using base::Code;

// In quotes, which are not its own.
std::string its_words(std::string message) {
  std::ranges::replace(message, '"', '\'');
  return "the API server says \"" + message + "\"";
}

Refusal refusal(int status, const std::string& reason, const std::string& message,
                base::Json details = nullptr) {
  const base::Json object = {{"kind", "Status"}, {"status", "Failure"}, {"message", message},
                             {"reason", reason}, {"details", details},  {"code", status}};
  return read_refusal({status, "application/json", {}, object.dump()});
}

TEST(Refusal, AStatusObjectIsRead) {
  const Refusal read = refusal(409, "AlreadyExists", "pods \"a\" already exists", {{"name", "a"}});
  EXPECT_EQ(read.status, 409);
  EXPECT_EQ(read.reason, "AlreadyExists");
  EXPECT_EQ(read.details["name"], "a");
  EXPECT_EQ(error_of(read).code, Code::kAlreadyExists);
  EXPECT_EQ(error_of(read).message, its_words("pods 'a' already exists"));
}

TEST(Refusal, AnAnswerOfAProxyHasNoReason) {
  const Refusal read = read_refusal({502, "text/html", {}, "<html>\nBad Gateway</html>"});
  EXPECT_EQ(read.reason, "");
  EXPECT_EQ(error_of(read).code, Code::kUnavailable);
  EXPECT_EQ(error_of(read).message, its_words("<html> Bad Gateway</html>"));
  EXPECT_EQ(error_of(read_refusal({503, "", {}, "{}"})).code, Code::kUnavailable);
  EXPECT_FALSE(error_of(read_refusal({404, "", {}, ""})).message.empty());
}

TEST(Refusal, EachReasonHasItsCode) {
  struct Row {
    int status;
    const char* reason;
    Code code;
  };
  for (const Row& row :
       std::initializer_list<Row>{{400, "BadRequest", Code::kInvalidArgument},
                                  {401, "Unauthorized", Code::kUnauthenticated},
                                  {403, "Forbidden", Code::kPermissionDenied},
                                  {404, "NotFound", Code::kNotFound},
                                  {405, "MethodNotAllowed", Code::kInvalidArgument},
                                  {409, "Conflict", Code::kFailedPrecondition},
                                  {410, "Expired", Code::kFailedPrecondition},
                                  {413, "RequestEntityTooLarge", Code::kInvalidArgument},
                                  {422, "Invalid", Code::kInvalidArgument},
                                  {429, "TooManyRequests", Code::kUnavailable},
                                  {500, "InternalError", Code::kUnavailable},
                                  {503, "ServiceUnavailable", Code::kUnavailable},
                                  {504, "Timeout", Code::kUnavailable}}) {
    EXPECT_EQ(error_of(refusal(row.status, row.reason, "why")).code, row.code) << row.reason;
  }
}

TEST(Refusal, TheMissingRightIsNamed) {
  const std::string message =
      "pods is forbidden: User \"eva\" cannot create resource \"pods\" in API group \"\" in the "
      "namespace \"train\"";
  EXPECT_EQ(error_of(refusal(403, "Forbidden", message)).message,
            "user \"eva\" has no right to create pods in namespace \"train\" (" +
                its_words(message) + ")");
  EXPECT_EQ(error_of(refusal(403, "Forbidden",
                             "nodes is forbidden: User \"eva\" cannot list resource \"leases\" in "
                             "API group \"coordination.k8s.io\" at the cluster scope"))
                .message.find("user \"eva\" has no right to list leases.coordination.k8s.io in the "
                              "whole cluster ("),
            0U);
}

TEST(Refusal, OtherReasonsToForbidAreNoMissingRight) {
  const std::string quota =
      "pods \"a\" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: "
      "pods=2";
  EXPECT_EQ(error_of(refusal(403, "Forbidden", quota)).code, Code::kResourceExhausted);
  EXPECT_EQ(error_of(refusal(403, "Forbidden", quota)).message, its_words(quota));
  EXPECT_EQ(error_of(refusal(403, "Forbidden", "is being terminated",
                             {{"causes", {{{"reason", "NamespaceTerminating"}}}}}))
                .code,
            Code::kFailedPrecondition);
  const std::string policy = "pods \"a\" is forbidden: violates PodSecurity \"restricted:latest\"";
  EXPECT_EQ(error_of(refusal(403, "Forbidden", policy)).code, Code::kPermissionDenied);
  EXPECT_EQ(error_of(refusal(403, "Forbidden", policy)).message, its_words(policy));
}

TEST(Refusal, AConflictOfAQuotaIsNoneOfTheObject) {
  EXPECT_TRUE(is_quota_conflict(
      refusal(409, "Conflict", "cannot be fulfilled", {{"kind", "resourcequotas"}})));
  EXPECT_FALSE(is_quota_conflict(refusal(409, "Conflict", "x", {{"kind", "pods"}})));
  EXPECT_FALSE(is_quota_conflict(refusal(409, "AlreadyExists", "x", {{"kind", "resourcequotas"}})));
}

}  // namespace
}  // namespace gangrun::kubernetes
