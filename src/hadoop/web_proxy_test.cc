#include "hadoop/web_proxy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hadoop/configuration.h"

namespace gangrun::hadoop {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

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
