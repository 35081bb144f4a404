#include "kubernetes/proxy.h"

#include <gmock/gmock.h>

namespace gangrun::kubernetes {
namespace {

std::string chosen(const std::string& url, std::map<std::string, std::string> environment) {
  const auto server = net::parse_url(url);
  EXPECT_TRUE(server.ok()) << url;
  const auto proxy = proxy_for(*server, environment);
  return proxy.ok() ? proxy->reveal() : proxy.error().message;
}

TEST(ParseProxy, TakesHttpOnlyAndShowsNoPassword) {
  const std::pair<const char*, const char*> good[] = {
      {"http://proxy:3128", "http://proxy:3128"},
      {"HTTP://proxy", "http://proxy:80"},
      {"http://u:p@w@proxy:1/", "http://u:p@w@proxy:1"},
      {"http://[::1]:3128", "http://[::1]:3128"},
  };
  for (const auto& [text, proxy] : good) {
    const auto parsed = parse_proxy(text);
    ASSERT_TRUE(parsed.ok()) << text << ": " << parsed.error().message;
    EXPECT_EQ(parsed->reveal(), proxy);
  }
  for (const char* text :
       {"", "proxy:3128", "https://u:secret@p", "socks5://u:secret@p:1", "http://",
        "http://u:secret@", "http://u:secret/@p:1", "http://u:sec ret@p:1", "http://p:99999"}) {
    const auto parsed = parse_proxy(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.error().code, base::Code::kInvalidArgument);
    EXPECT_THAT(parsed.error().message, testing::HasSubstr("http://[user:password@]host:port"));
    EXPECT_THAT(parsed.error().message, testing::Not(testing::HasSubstr("sec")));
  }
}

TEST(ProxyFor, ReadsTheVariablesAsGoDoes) {
  const std::map<std::string, std::string> both{{"HTTPS_PROXY", "http://s:1"}, {"http_proxy", "h"}};
  EXPECT_EQ(chosen("https://c", both), "http://s:1");
  EXPECT_EQ(chosen("http://c", both), "http://h:80");
  EXPECT_EQ(chosen("https://c", {{"https_proxy", "s:2"}}), "http://s:2");
  EXPECT_EQ(chosen("https://c", {{"HTTPS_PROXY", ""}, {"https_proxy", "s:2"}}), "http://s:2");
  EXPECT_EQ(chosen("https://c", {{"HTTPS_PROXY", "a:1"}, {"https_proxy", "b:2"}}), "http://a:1");
  EXPECT_EQ(chosen("https://c", {{"HTTP_PROXY", "h:1"}, {"ALL_PROXY", "h:1"}}), "");
  EXPECT_EQ(chosen("https://c", {{"https_proxy", "socks5://u:secret@h:1"}}),
            "https_proxy: a proxy of another kind than http is not used; allowed is "
            "http://[user:password@]host:port");
}

TEST(ProxyFor, NeverAsksForThisMachine) {
  for (const char* url : {"https://localhost", "https://LOCALHOST:6443", "https://127.0.0.1:6443",
                          "https://127.3.4.5", "https://[::1]:6443"}) {
    EXPECT_EQ(chosen(url, {{"HTTPS_PROXY", "p:1"}}), "") << url;
  }
}

TEST(ProxyFor, FollowsNoProxy) {
  struct Case {
    const char* url;
    const char* rules;
    bool is_direct;
  };
  const Case cases[] = {
      {"https://a.example.org", "example.org", true},
      {"https://example.org", "example.org", true},
      {"https://badexample.org", "example.org", false},
      {"https://example.org", ".example.org", false},
      {"https://a.example.org", ".example.org", true},
      {"https://a.example.org", "*.example.org", true},
      {"https://example.org", "*.example.org", false},
      {"https://A.Example.ORG", " x , EXAMPLE.org ,", true},
      {"https://a:6443", "a:6443", true},
      {"https://a:6443", "a:443", false},
      {"https://a", "a:443", true},
      {"https://a", "*", true},
      {"https://a", ",,", false},
      {"https://a", ":443", false},
      {"https://10.1.2.3", "10.0.0.0/8", true},
      {"https://11.1.2.3", "10.0.0.0/8", false},
      {"https://10.1.2.3", "10.1.2.3", true},
      {"https://10.1.2.3:6443", "10.1.2.3:6443", true},
      {"https://10.1.2.3:6443", "10.1.2.3:6444", false},
      {"https://10.1.2.33", "10.1.2.3", false},
      {"https://[fd00::1]", "fd00::/16", true},
      {"https://[fd00::1]", "fd00:0::1", true},
      {"https://[fd00::1]:6443", "[fd00::1]:6443", true},
      {"https://[fd00::1]", "[fd00::1]", true},
      {"https://[fd00::1]", "10.0.0.0/0", false},
      {"https://10.1.2.3", "0.0.0.0/0", true},
      {"https://a", "10.0.0.0/8", false},
      {"https://10.1.2.3", "10.0.0.0/33", false},
      {"https://10.1.2.3", "10.0.0.0/x", false},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(chosen(c.url, {{"HTTPS_PROXY", "p:1"}, {"no_proxy", c.rules}}),
              c.is_direct ? "" : "http://p:1")
        << c.url << " " << c.rules;
  }
}

}  // namespace
}  // namespace gangrun::kubernetes
