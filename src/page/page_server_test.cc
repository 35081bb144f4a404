#include "page/page_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "base/format.h"
#include "base/unique_fd.h"
#include "net/fetch.h"
#include "net/http.h"
#include "page/assets.h"

namespace gangrun::page {
namespace {

using testing::HasSubstr;

constexpr std::chrono::seconds kTestLimit{60};

class PageServerTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto listening = server.listen();
    ASSERT_TRUE(listening.ok()) << listening.error().message;
    port = *listening;
    server.set_proxies({"127.0.0.1"});
  }

  net::HttpResponse ask(const std::string& path, const std::string& method = "GET") {
    std::optional<base::Result<net::HttpResponse>> answer;
    std::thread thread([&] {
      net::FetchRequest request;
      request.method = method;
      request.url = base::format("http://127.0.0.1:{}{}", port, path);
      if (!cookie.empty()) request.headers.add("Cookie", cookie);
      net::FetchOptions options;
      options.deadline = std::chrono::steady_clock::now() + kTestLimit;
      options.max_response_bytes = 1 << 20U;
      answer.emplace(net::fetch(request, options));
      loop.stop();
    });
    loop.run();
    thread.join();
    EXPECT_TRUE(answer->ok()) << answer->error().message;
    return answer->ok() ? **answer : net::HttpResponse{};
  }

  net::EventLoop loop;
  int made = 0;
  std::string cookie;
  std::uint16_t port = 0;
  PageServer server{loop, [this] { return base::format("{{\"n\":{}}}", ++made); },
                    "http://rm:8088/proxy/application_1_0001/"};
};

TEST_F(PageServerTest, ServesThePageToTheProxy) {
  const auto page = ask("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
  EXPECT_EQ(page.body, kIndexHtml);
  EXPECT_THAT(std::string(*page.headers.get("Content-Security-Policy")),
              HasSubstr("default-src 'none'"));
  EXPECT_EQ(page.headers.get("X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(ask("/page.js").content_type, "text/javascript; charset=utf-8");
  EXPECT_EQ(ask("/page.css?proxyapproved=true").body, kPageCss);
  EXPECT_EQ(ask("/status.json").body, "{\"n\":1}");
  EXPECT_EQ(ask("/status.json").body, "{\"n\":1}") << "many who look cost one look";
  EXPECT_EQ(ask("/..%2f").status, 404);
}

TEST_F(PageServerTest, CanOnlyBeRead) {
  for (const char* method : {"PUT", "POST", "DELETE"}) {
    EXPECT_EQ(ask("/status.json", method).status, 405) << method;
  }
  EXPECT_EQ(made, 0);
}

TEST_F(PageServerTest, SendsOthersToTheProxy) {
  server.set_proxies({"127.0.0.9", "::1"});
  for (const char* path : {"/", "/status.json", "/other"}) {
    const auto sent = ask(path);
    EXPECT_EQ(sent.status, 302) << path;
    EXPECT_EQ(sent.headers.get("Location"), "http://rm:8088/proxy/application_1_0001/");
    EXPECT_THAT(sent.body, Not(HasSubstr("{")));
  }
  EXPECT_EQ(ask("/", "PUT").status, 403);
  EXPECT_EQ(made, 0);
}

// A connection of somebody who is no proxy, which he does not end.
base::UniqueFd stranger(std::uint16_t port) {
  const auto address = [](const char* host, std::uint16_t number) {
    sockaddr_in made{};
    made.sin_family = AF_INET;
    made.sin_port = htons(number);
    ::inet_pton(AF_INET, host, &made.sin_addr);
    return made;
  };
  const sockaddr_in own = address("127.0.0.77", 0);
  const sockaddr_in there = address("127.0.0.1", port);
  base::UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own), 0);
  EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&there), sizeof there), 0);
  constexpr std::string_view kRequest = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
  EXPECT_EQ(::send(fd.get(), kRequest.data(), kRequest.size(), MSG_NOSIGNAL), kRequest.size());
  return fd;
}

TEST_F(PageServerTest, OthersWhoStayDoNotKeepTheProxyOut) {
  std::vector<base::UniqueFd> others;
  for (int i = 0; i < 80; ++i) others.push_back(stranger(port));
  EXPECT_EQ(ask("/").status, 200);
}

TEST_F(PageServerTest, WhoMayNotLookIsTurnedAway) {
  server.set_viewers([](const std::string& user) { return user == "ann"; });
  EXPECT_EQ(ask("/status.json").status, 403);
  cookie = "a=1; proxy-user=bob";
  EXPECT_EQ(ask("/").status, 403);
  cookie = "a=1; proxy-user=ann; b=2";
  EXPECT_EQ(ask("/status.json").status, 200);
  // Only the proxy is believed.
  server.set_proxies({"127.0.0.9"});
  EXPECT_EQ(ask("/status.json").status, 302);
}

TEST(ProxiedUser, StandsInTheCookieOfTheProxy) {
  net::HttpRequest request;
  EXPECT_EQ(proxied_user(request), "");
  request.headers.add("Cookie", "x-proxy-user=eve; proxy-user=ann");
  EXPECT_EQ(proxied_user(request), "ann");
}

// Paths are relative: behind the proxy the page is not at the root.
TEST_F(PageServerTest, RefersToItsOwnFilesByTheirNamesOnly) {
  const std::string page(kIndexHtml);
  EXPECT_THAT(page, HasSubstr("src=\"page.js\""));
  EXPECT_THAT(page, HasSubstr("href=\"page.css\""));
  EXPECT_THAT(std::string(kPageJs), HasSubstr("fetch(\"status.json\""));
  EXPECT_THAT(std::string(kPageJs), Not(HasSubstr("innerHTML")));
}

}  // namespace
}  // namespace gangrun::page
