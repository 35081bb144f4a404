#include "net/http.h"

#include <gtest/gtest.h>

namespace gangrun::net {
namespace {

TEST(Http, TargetsAreDecoded) {
  const auto target = parse_target("/v1/log%20s/worker:3?a=1&b=x%26y+z&c&a=2&=q");
  ASSERT_TRUE(target.ok());
  EXPECT_EQ(target->path, "/v1/log s/worker:3");
  const std::map<std::string, std::string> query{{"a", "2"}, {"b", "x&y z"}, {"c", ""}, {"", "q"}};
  EXPECT_EQ(target->query, query);
  EXPECT_EQ(target->repeated, std::vector<std::string>{"a"});
  EXPECT_EQ(parse_target("/a+b")->path, "/a+b") << "plus is a space in the query only";
}

TEST(Http, BadTargetsAreRefused) {
  for (const std::string& bad :
       {std::string(""), std::string("v1"), std::string("http://x/"), std::string("/%"),
        std::string("/%4"), std::string("/%4x"), std::string("/%00"), std::string("/?a=%zz"),
        std::string("/") + std::string(kMaxTargetBytes, 'a')}) {
    const auto target = parse_target(bad);
    ASSERT_FALSE(target.ok()) << bad;
    EXPECT_EQ(target.error().code, base::Code::kInvalidArgument);
  }
}

TEST(Http, MakeTargetIsTheInverse) {
  const std::map<std::string, std::string> query{{"k y", "a&b=c+d"}, {"ü", "%"}};
  const std::string target = make_target("/ü/x y", query);
  EXPECT_EQ(target.find(' '), std::string::npos);
  const auto back = parse_target(target);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->path, "/ü/x y");
  EXPECT_EQ(back->query, query);
}

TEST(Http, EveryByteSurvivesPercentCoding) {
  std::string all;
  for (int i = 1; i < 256; ++i) all.push_back(static_cast<char>(i));
  const auto back = percent_decode(percent_encode(all));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(*back, all);
}

TEST(Http, HeaderNamesCompareWithoutCase) {
  const Headers headers{{"X-Gangrun-Task", "worker:3"}, {"x-gangrun-task", "other"}};
  EXPECT_EQ(headers.get("x-GANGRUN-task"), "worker:3");
  EXPECT_FALSE(headers.get("X-Gangrun").has_value());
}

TEST(Http, BearerToken) {
  HttpRequest request;
  EXPECT_EQ(request.bearer_token(), "");
  request.headers = {{"authorization", "bearer  abc "}};
  EXPECT_EQ(request.bearer_token(), "abc");
  request.headers = {{"Authorization", "Basic abc"}};
  EXPECT_EQ(request.bearer_token(), "");
}

TEST(Http, CodesAndStatusesBelongTogether) {
  for (const base::Code code :
       {base::Code::kInvalidArgument, base::Code::kNotFound, base::Code::kAlreadyExists,
        base::Code::kPermissionDenied, base::Code::kUnauthenticated, base::Code::kUnavailable,
        base::Code::kDeadlineExceeded, base::Code::kResourceExhausted,
        base::Code::kFailedPrecondition, base::Code::kCancelled, base::Code::kInternal}) {
    EXPECT_EQ(code_of_status(status_of(code)), code) << to_string(code);
    EXPECT_NE(status_text(status_of(code)), "Status");
  }
  EXPECT_EQ(code_of_status(418), base::Code::kInvalidArgument);
  EXPECT_EQ(code_of_status(599), base::Code::kInternal);
  const base::Error error = error_of(error_response(base::not_found("no such task")));
  EXPECT_EQ(error.code, base::Code::kNotFound);
  EXPECT_EQ(error.message, "no such task");
  EXPECT_EQ(error_of({503, "", {}, ""}).message, "HTTP 503 Service Unavailable");
}

TEST(Http, AnErrorSaysTheMessageOfItsBody) {
  const auto text_of = [](std::string body) {
    HttpResponse response;
    response.status = 404;
    response.body = std::move(body);
    return error_of(response).message;
  };
  EXPECT_EQ(text_of(R"({"error": {"code": "not_found", "message": "no such task"}})"),
            "no such task");
  EXPECT_EQ(text_of("no such task\n"), "no such task");
  EXPECT_EQ(text_of(R"({"error": "odd"})"), R"({"error": "odd"})");
  EXPECT_EQ(text_of("[1]"), "[1]");
  EXPECT_EQ(text_of(""), "HTTP 404 Not Found");
}

}  // namespace
}  // namespace gangrun::net
