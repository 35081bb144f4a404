#include "hadoop/web_login.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "hadoop/test_hdfs_internal.h"
#include "sasl/test_identity.h"

namespace gangrun::hadoop {
namespace {

using testing::HasSubstr;

net::HttpResponse with(const std::string& name, const std::string& value, int status = 200) {
  net::HttpResponse answer = json_answer(R"({"boolean":true})", status);
  answer.headers.add(name, value);
  return answer;
}

TEST(WebLogin, TheServersTokenStandsBehindItsScheme) {
  EXPECT_EQ(negotiate_token(with("WWW-Authenticate", "Negotiate c2VydmVy")), "server");
  EXPECT_EQ(negotiate_token(with("www-authenticate", "  negotiate   c2VydmVy ")), "server");
  EXPECT_EQ(negotiate_token(with("WWW-Authenticate", "Negotiate")), "");
  EXPECT_EQ(negotiate_token(with("WWW-Authenticate", "Negotiate !!")), "");
  EXPECT_EQ(negotiate_token(with("WWW-Authenticate", "Basic c2VydmVy")), std::nullopt);
  EXPECT_EQ(negotiate_token(json_answer("{}")), std::nullopt);
  net::HttpResponse both = with("WWW-Authenticate", "PseudoAuth");
  both.headers.add("WWW-Authenticate", "Negotiate c2VydmVy");
  EXPECT_EQ(negotiate_token(both), "server");
}

TEST(WebLogin, TheCookieIsSentBackAsItCame) {
  const std::string value = R"(hadoop.auth="u=alice&p=alice@R&t=kerberos&e=1;&s=xyz=")";
  EXPECT_EQ(login_cookie(with("Set-Cookie", value + "; Path=/; HttpOnly")), value);
  EXPECT_EQ(login_cookie(with("set-cookie", "hadoop.auth=abc ; Path=/")), "hadoop.auth=abc");
  EXPECT_EQ(login_cookie(with("Set-Cookie", "hadoop.auth=; Path=/")), std::nullopt);
  EXPECT_EQ(login_cookie(with("Set-Cookie", "hadoop.auth=\"\"; Path=/")), std::nullopt);
  EXPECT_EQ(login_cookie(with("Set-Cookie", "hadoop.auth=\"open")), std::nullopt);
  EXPECT_EQ(login_cookie(with("Set-Cookie", "other=1")), std::nullopt);
  EXPECT_EQ(login_cookie(with("Set-Cookie", "hadoop.auth=" + std::string(5000, 'x'))),
            std::nullopt);
}

// A web server that takes a ticket, and a cookie as long as it likes.
class Guarded {
 public:
  explicit Guarded(const std::string& proof = "c2VydmVy") {  // "server"
    hdfs.on_call(
        [this, proof](const net::HttpRequest& request) -> std::optional<net::HttpResponse> {
          if (request.headers.get("Cookie") && knows_the_cookie) return json_answer("{}");
          if (!request.headers.get("Authorization"))
            return with("WWW-Authenticate", "Negotiate", 401);
          ++logins;
          net::HttpResponse answer = with("WWW-Authenticate", "Negotiate " + proof);
          answer.headers.add("Set-Cookie", "hadoop.auth=\"u=alice\"; Path=/");
          return answer;
        });
  }

  base::Result<net::HttpResponse> ask(WebLogin& login) {
    net::FetchRequest request;
    request.url = hdfs.address() + "/webhdfs/v1/?op=GETHOMEDIRECTORY";
    net::FetchOptions options;
    options.deadline = test_deadline();
    return login.fetch(request, options);
  }

  std::atomic<bool> knows_the_cookie = true;
  std::atomic<int> logins = 0;
  FakeHdfs hdfs;  // last: its thread uses the others
};

WebLogin login() {
  return WebLogin([](const std::string&) {
    return base::Result<std::unique_ptr<sasl::SecurityContext>>(
        std::make_unique<sasl::TestContext>());
  });
}

TEST(WebLogin, IsDoneOnceAndThenTheCookieCounts) {
  Guarded guarded;
  WebLogin one = login();
  ASSERT_TRUE(guarded.ask(one).ok());
  EXPECT_EQ(guarded.hdfs.seen().back().headers.get("Authorization"), "Negotiate dGlja2V0");
  ASSERT_TRUE(guarded.ask(one).ok());
  EXPECT_EQ(guarded.hdfs.seen().back().headers.get("Cookie"), "hadoop.auth=\"u=alice\"");
  EXPECT_EQ(guarded.logins, 1);
}

TEST(WebLogin, ACookieThatIsForgottenIsFollowedByAnotherLogin) {
  Guarded guarded;
  WebLogin one = login();
  ASSERT_TRUE(guarded.ask(one).ok());
  guarded.knows_the_cookie = false;
  const auto again = guarded.ask(one);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->status, 200);
  EXPECT_EQ(guarded.logins, 2);
}

TEST(WebLogin, AServerThatProvesToBeAnotherIsNotBelieved) {
  Guarded guarded("Zm9yZ2Vk");
  WebLogin one = login();
  const auto answer = guarded.ask(one);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, base::Code::kUnauthenticated);
  EXPECT_THAT(answer.error().message, HasSubstr("the login at http://127.0.0.1:"));
}

TEST(WebLogin, WithoutATicketNothingIsSent) {
  Guarded guarded;
  WebLogin one([](const std::string&) {
    return base::Result<std::unique_ptr<sasl::SecurityContext>>(
        base::Error{base::Code::kUnauthenticated, "no ticket"});
  });
  EXPECT_EQ(guarded.ask(one).error().message, "no ticket");
  EXPECT_TRUE(guarded.hdfs.seen().empty());
}

}  // namespace
}  // namespace gangrun::hadoop
