#include "net/url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gangrun::net {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Url, IsTakenApart) {
  EXPECT_EQ(*parse_url("http://node:8080/a%20b?op=OPEN&x=1"),
            (Url{false, "node", 8080, "/a%20b?op=OPEN&x=1"}));
  EXPECT_EQ(*parse_url("https://node"), (Url{true, "node", 443, "/"}));
  EXPECT_EQ(*parse_url("http://10.0.0.7"), (Url{false, "10.0.0.7", 80, "/"}));
  EXPECT_EQ(*parse_url("http://[::1]:5/x"), (Url{false, "::1", 5, "/x"}));
  EXPECT_EQ(*parse_url("http://[::1]/x"), (Url{false, "::1", 80, "/x"}));
  EXPECT_EQ(*parse_url("http://node?a=b"), (Url{false, "node", 80, "/?a=b"}));
}

TEST(Url, IsWrittenForPeopleWithoutItsQuery) {
  const Url url = *parse_url("http://[::1]:5/x/y?delegation=secret");
  EXPECT_EQ(origin_of(url), "http://[::1]:5");
  EXPECT_EQ(without_query(url), "http://[::1]:5/x/y");
}

TEST(Url, WhatIsNoneIsRefusedAndItsQueryNotShown) {
  for (const std::string text :
       {"", "ftp://h/", "http://", "http:///x", "http://h:0/", "http://h:65536/", "http://h:/",
        "http://u@h/", "http://u:p@h/", "http://[::1/", "http://[node]/", "http://[]/",
        "http://[::1]x:1/", "http://h/a b", "http://h/\r\nX: y", "http://h/#x", "http://\xc3\xa4/",
        "http://::1/"}) {
    const auto url = parse_url(text + "?delegation=secret");
    ASSERT_FALSE(url.ok()) << text;
    EXPECT_EQ(url.error().code, base::Code::kInvalidArgument) << text;
    EXPECT_THAT(url.error().message, Not(HasSubstr("secret"))) << text;
  }
  EXPECT_FALSE(parse_url("http://h/" + std::string(100'000, 'x')).ok());
}

}  // namespace
}  // namespace gangrun::net
