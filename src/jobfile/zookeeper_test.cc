#include "jobfile/zookeeper.h"

#include <gmock/gmock.h>

namespace gangrun::jobfile {
namespace {

std::string text_of(const job::ZooKeeper& zookeeper) {
  const auto found = check_zookeeper(zookeeper);
  return found ? found->path + ": " + found->text : std::string();
}

std::string text_of_hosts(const std::vector<std::string>& hosts) { return text_of({hosts, ""}); }

TEST(ZooKeeper, TakesHostsWithAndWithoutPorts) {
  EXPECT_EQ(text_of({}), "");
  EXPECT_EQ(text_of({{"zk1", "zk2:2181", "10.0.0.1:2182", "[fd00::5]", "[fd00::5]:2181"}, "/a/b"}),
            "");
}

TEST(ZooKeeper, RefusesWhatIsNoHost) {
  for (const char* host :
       {"", "a b", "zk:0", "zk:x", "zk:70000", "fd00::5", "[]", "[]:1", "zk/a"}) {
    EXPECT_THAT(text_of_hosts({host}), testing::StartsWith("zookeeper.hosts: '")) << host;
  }
  EXPECT_EQ(text_of_hosts({"a", "a"}), "zookeeper.hosts: 'a' is named twice");
  EXPECT_EQ(text_of_hosts(std::vector<std::string>(33, "a")),
            "zookeeper.hosts: 33 hosts are more than the limit of 32");
}

TEST(ZooKeeper, RefusesWhatIsNoPath) {
  for (const char* root : {"registry", "/a/", "/a//b", "/a/..", "/a b", "/./a"}) {
    EXPECT_THAT(text_of({{}, root}), testing::StartsWith("zookeeper.root: '")) << root;
  }
  EXPECT_EQ(text_of({{}, "/"}), "");
}

TEST(ZooKeeper, FilesOfTlsNeedTlsAndEachOther) {
  EXPECT_EQ(text_of({.hosts = {"a"}, .root = "", .ca = "/ca"}),
            "zookeeper.ca: has no use without `tls: true`");
  job::ZooKeeper secured{.hosts = {"a"}, .root = "", .tls = true, .ca = "/ca", .certificate = "/c"};
  EXPECT_EQ(text_of(secured), "zookeeper.key: is missing beside the certificate");
  secured.key = "/k";
  EXPECT_EQ(text_of(secured), "");
  secured.certificate.clear();
  EXPECT_EQ(text_of(secured), "zookeeper.certificate: is missing beside the key");
}

TEST(ZooKeeper, ALoginHasWhatItNeedsAndNothingElse) {
  job::ZooKeeper digest{.hosts = {"a"}, .root = "", .login = job::ZooKeeperLogin::kDigest};
  EXPECT_EQ(text_of(digest), "zookeeper.user: is required with `login: digest`");
  digest.user = "ann";
  EXPECT_EQ(text_of(digest), "zookeeper.password_file: is required with `login: digest`");
  digest.password_file = "/p";
  EXPECT_EQ(text_of(digest), "");
  digest.login = job::ZooKeeperLogin::kKerberos;
  EXPECT_EQ(text_of(digest), "zookeeper.user: has no use without `login: digest`");
  job::ZooKeeper none{.hosts = {"a"}, .root = "", .principal = "zookeeper/a"};
  EXPECT_EQ(text_of(none), "zookeeper.principal: has no use without `login: kerberos`");
}

TEST(ZooKeeper, KerberosNeedsTheNamesOfTheServers) {
  job::ZooKeeper zookeeper{
      .hosts = {"zk1:2181", "10.0.0.1:2181"}, .root = "", .login = job::ZooKeeperLogin::kKerberos};
  EXPECT_THAT(text_of(zookeeper), testing::StartsWith("zookeeper.hosts: '10.0.0.1:2181' is an "));
  zookeeper.principal = "zookeeper/_HOST@R";
  EXPECT_THAT(text_of(zookeeper), testing::StartsWith("zookeeper.hosts: "));
  zookeeper.principal = "zookeeper/zk1@R";
  EXPECT_EQ(text_of(zookeeper), "");
  for (const char* wrong : {"zookeeper", "/a", "a/", "a/b/c", "a/@R", "a/b@", "a/b c"}) {
    zookeeper.principal = wrong;
    EXPECT_THAT(text_of(zookeeper), testing::StartsWith("zookeeper.principal: '")) << wrong;
  }
  zookeeper.principal.clear();
  zookeeper.hosts = {"[fd00::5]:2181"};
  EXPECT_THAT(text_of(zookeeper), testing::StartsWith("zookeeper.hosts: '[fd00::5]"));
}

TEST(ZooKeeper, IsReadByAllOrByTheJob) {
  EXPECT_EQ(readers_from("all").value(), true);
  EXPECT_EQ(readers_from("job").value(), false);
  EXPECT_EQ(readers_from("al").error().message,
            "'al' is not who may read; did you mean 'all'? allowed: all, job");
}

}  // namespace
}  // namespace gangrun::jobfile
