#include "hadoop/manager_pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/format.h"
#include "base/test_deadline.h"
#include "hadoop/test_server.h"

namespace gangrun::hadoop {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The web server of a ResourceManager that answers everything with this.
TestServer::Script web_answering(const std::string& status, const std::string& body) {
  return [status, body](TestPeer& peer) {
    std::string request;
    while (!request.ends_with("\r\n\r\n")) {
      const std::string byte = peer.take(1);
      if (byte.empty()) return;
      request += byte;
    }
    EXPECT_TRUE(request.starts_with("GET /ws/v1/cluster/info HTTP/1.1\r\n")) << request;
    peer.give(base::format(
        "HTTP/1.1 {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}", status,
        body.size(), body));
  };
}

Configuration configuration_of(const TestServer& server) {
  Configuration configuration;
  configuration.set("yarn.resourcemanager.webapp.address",
                    base::format("127.0.0.1:{}", server.port()));
  return configuration;
}

TEST(Release, ItsNumbers) {
  const auto release = parse_release(" 3.3.6 ");
  ASSERT_TRUE(release);
  EXPECT_EQ(release->text, "3.3.6");
  EXPECT_TRUE(release->is_at_least(3, 3));
  EXPECT_TRUE(release->is_at_least(2, 10));
  EXPECT_FALSE(release->is_at_least(3, 4));
  EXPECT_FALSE(release->is_at_least(4, 0));
  EXPECT_EQ(parse_release("3.5-SNAPSHOT")->minor, 5);
  EXPECT_EQ(parse_release("3.1.1.7.1.7.0-551")->minor, 1);
  for (const char* wrong : {"", "3", "three.four", "3.x", "-1.2", "3.99999999999"}) {
    EXPECT_FALSE(parse_release(wrong)) << wrong;
  }
}

TEST(Release, AsTheResourceManagerTellsIt) {
  const TestServer server(web_answering("200 OK", R"({"clusterInfo":{"hadoopVersion":"2.10.2"}})"));
  const auto release = find_release(configuration_of(server), nullptr, base::soon());
  ASSERT_TRUE(release);
  EXPECT_EQ(release->text, "2.10.2");
}

TEST(Release, IsUnknownWhereNobodyTellsIt) {
  for (const char* body : {"", "[]", "{}", R"({"clusterInfo":1})", R"({"clusterInfo":{}})"}) {
    const TestServer server(web_answering("200 OK", body));
    EXPECT_FALSE(find_release(configuration_of(server), nullptr, base::soon())) << body;
  }
  const TestServer secured(web_answering("401 Unauthorized", "{}"));
  EXPECT_FALSE(find_release(configuration_of(secured), nullptr, base::soon()));
  Configuration wrong;
  wrong.set("yarn.resourcemanager.webapp.address", "no address");
  EXPECT_FALSE(find_release(wrong, nullptr, base::soon()));
}

base::Result<WebProxy> of(const std::map<std::string, std::string>& values) {
  Configuration configuration;
  for (const auto& [name, value] : values) configuration.set(name, value);
  return web_proxy(configuration);
}

TEST(WebProxy, IsInTheResourceManagersWhereNoOtherIsNamed) {
  const auto one = of({{"yarn.resourcemanager.hostname", "rm"}});
  ASSERT_TRUE(one.ok());
  EXPECT_THAT(one->hosts, ElementsAre("rm"));
  EXPECT_EQ(one->url, "http://rm:8088");
  const auto pair = of({{"yarn.resourcemanager.ha.enabled", "true"},
                        {"yarn.resourcemanager.ha.rm-ids", "a,b"},
                        {"yarn.resourcemanager.webapp.address.a", "one:1"},
                        {"yarn.resourcemanager.hostname.b", "two"}});
  ASSERT_TRUE(pair.ok());
  EXPECT_THAT(pair->hosts, ElementsAre("one", "two"));
  EXPECT_EQ(pair->url, "http://one:1");
  EXPECT_EQ(of({{"yarn.resourcemanager.hostname", "rm"}, {"yarn.http.policy", "HTTPS_ONLY"}})->url,
            "https://rm:8090");
}

TEST(WebProxy, MayBeAServerOfItsOwn) {
  const auto own = of({{"yarn.resourcemanager.hostname", "rm"}, {"yarn.web-proxy.address", "p:9"}});
  ASSERT_TRUE(own.ok());
  EXPECT_THAT(own->hosts, ElementsAre("p"));
  EXPECT_EQ(own->url, "http://p:9");
  const auto wrong = of({{"yarn.web-proxy.address", "p:x"}});
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(wrong.error().message, HasSubstr("yarn.web-proxy.address"));
}

TEST(WebProxy, ThatListensAtAllAddressesIsKnownByItsName) {
  EXPECT_EQ(of({{"yarn.resourcemanager.hostname", "rm"},
                {"yarn.resourcemanager.webapp.address", "0.0.0.0:88"}})
                ->url,
            "http://rm:88");
}

TEST(WebProxy, WithoutAnyNameIsOnThisMachine) {
  EXPECT_EQ(of({})->url, "http://127.0.0.1:8088");
  EXPECT_THAT(of({})->hosts, ElementsAre("127.0.0.1"));
}

}  // namespace
}  // namespace gangrun::hadoop
