#include <gtest/gtest.h>

#include "net/http_wire_internal.h"

namespace gangrun::net {
namespace {

TEST(HttpWire, AnAnswerCannotBeSplitByAHeadersValue) {
  const HttpResponse response{200, "text/plain", {{"X-Name", "a\r\nX-Evil: 1"}}, "body"};
  EXPECT_EQ(serialise(response, false, true),
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n"
            "Connection: close\r\nX-Name: a  X-Evil: 1\r\n\r\nbody");
  EXPECT_EQ(serialise(HttpResponse{204, "", {}, ""}, false, false),
            "HTTP/1.1 204 No Content\r\n\r\n");
}

TEST(HttpWire, ARequestWithABadHeaderOrMethodIsRefusedWithoutShowingTheValue) {
  HttpRequest request;
  request.headers = {{"Authorization", "Bearer s3cret\n"}};
  const auto bytes = serialise(request, "h");
  ASSERT_FALSE(bytes.ok());
  EXPECT_EQ(bytes.error().message.find("s3cret"), std::string::npos);
  request.headers = {{"Bad Name", "x"}};
  EXPECT_FALSE(serialise(request, "h").ok());
  request.headers = {};
  request.method = "GET /";
  EXPECT_FALSE(serialise(request, "h").ok());
}

}  // namespace
}  // namespace gangrun::net
